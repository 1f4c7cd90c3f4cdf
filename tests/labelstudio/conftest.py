"""Backends for Label Studio to talk to."""

import pytest
from support.backend import open_in


@pytest.fixture
def opened(tmp_path):
    """Opens a backend on a store; again, after a restart, on the same."""
    sessions = []

    def open_(*arguments, **options):
        session, client = open_in(tmp_path, *arguments, **options)
        sessions.append(session)
        return session, client

    yield open_
    for session in sessions:
        session.close()


@pytest.fixture(scope="module")
def unmoved(tmp_path_factory):
    """A backend for requests that change nothing."""
    session, client = open_in(tmp_path_factory.mktemp("unmoved"))
    yield session, client
    session.close()


@pytest.fixture
def backend(opened):
    return opened()
