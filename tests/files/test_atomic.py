"""Files that are written whole: as private as others that this process makes."""

import os

import pytest

from fewlabels.files import atomic


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
@pytest.mark.parametrize("status", ["/proc/self/status", "/nowhere"])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, monkeypatch, mask, mode, status):
    known = atomic.Path
    monkeypatch.setattr(atomic, "Path", lambda path: known(status) if path == "/proc/self/status" else known(path))
    before = os.umask(mask)
    try:
        assert atomic.usual_mode(0o666) == mode
        assert os.umask(mask) == mask  # left as it was
    finally:
        os.umask(before)
