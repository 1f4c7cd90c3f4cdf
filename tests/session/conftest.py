"""Sessions to open."""

import pytest
from support.items import words

from fewlabels.session import Session


@pytest.fixture
def opened(tmp_path):
    """Open sessions on one store, one after another; all are closed in the end."""
    sessions = []

    def open_session(items=None, **options):
        for earlier in sessions:
            earlier.close()
        sessions[:] = [Session(items or words(), tmp_path / "store.sqlite", **options)]
        return sessions[0]

    yield open_session
    for last in sessions:
        last.close()
