"""Compiled kernels lie where nobody else can put any: Numba unpickles what it finds there."""

import os
import runpy
from pathlib import Path

import pytest

from fewlabels import kernels


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder that is chosen where neither the package nor the home can be written."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.access", lambda place, mode: False)

    def chosen():
        monkeypatch.delenv("NUMBA_CACHE_DIR")
        runpy.run_path(kernels.__file__)
        return Path(os.environ["NUMBA_CACHE_DIR"])

    return chosen


def is_private(folder, tmp_path):
    """Whether this is a folder, not a link, below the temporary one, and open to its owner alone."""
    return tmp_path in folder.parents and folder.lstat().st_mode == 0o040700 and folder.stat().st_uid == os.geteuid()


def test_in_the_temporary_folder_the_cache_has_a_folder_of_its_own_that_the_next_start_finds_again(cache, tmp_path):
    folder = cache()
    assert is_private(folder, tmp_path)
    assert cache() == folder


@pytest.mark.parametrize("what", ["a link", "a file", "a folder for all"])
def test_what_another_user_may_have_laid_there_is_not_taken(cache, tmp_path, what):
    laid = cache()
    laid.rmdir()
    if what == "a link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        laid.symlink_to(tmp_path / "theirs")
    elif what == "a file":
        laid.touch(0o700)
    else:
        laid.mkdir()
        laid.chmod(0o777)
    folder = cache()
    assert folder != laid
    assert is_private(folder, tmp_path)


def test_a_folder_of_another_owner_is_not_taken(cache, monkeypatch):
    us = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: us + 1)  # so that ours are another's
    assert cache() != cache()


def test_a_home_that_everybody_may_write_is_nobodys_own(cache, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o1777)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("os.access", lambda place, mode: place == home)
    assert is_private(cache(), tmp_path)
