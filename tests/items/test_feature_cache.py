"""The cache: what is stored is not computed again, what has changed is, and nothing it does can stop the work."""

import os
from pathlib import Path

import numpy as np
import pytest

from fewlabels.items import feature_cache
from fewlabels.items.feature_cache import Cache, cache_folder, cached_features, file_keys, real_paths, text_keys

OLD = 1_700_000_000


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWLABELS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{k}.bin" for k in range(5)]
    for k, path in enumerate(paths):
        path.write_bytes(bytes([k]))
        os.utime(path, (OLD, OLD))
    return paths


class Compute:
    def __init__(self, fail_after=None):
        self.seen, self.fail_after = [], fail_after

    def __call__(self, paths):
        if self.fail_after is not None and len(self.seen) >= self.fail_after:
            raise KeyboardInterrupt
        self.seen += [path.name for path in paths]
        return np.array([[path.read_bytes()[0] + 0.1, 1.0] for path in paths])


def features(files, compute, kind="bytes 1", **options):
    return cached_features(files, file_keys(files), kind, compute, **options)


def test_only_what_changed_is_computed_again(files):
    first, again = Compute(), Compute()
    X = features(files, first)
    assert first.seen == ["0.bin", "1.bin", "2.bin", "3.bin", "4.bin"]
    assert X.dtype == float
    assert (X[:, 0] == np.float32(np.arange(5) + 0.1)).all()
    files[1].write_bytes(b"\x09")  # the same size
    os.utime(files[1], (OLD + 5, OLD + 5))
    assert features(files[::-1], again)[:, 0].tolist() == [*X[[4, 3, 2], 0], np.float32(9.1), X[0, 0]]
    assert again.seen == ["1.bin"]
    features(files, other := Compute(), kind="bytes 2")
    assert len(other.seen) == 5


def test_work_that_was_stopped_goes_on_where_it_was(files):
    told = []
    with pytest.raises(KeyboardInterrupt):
        features(files, Compute(fail_after=2), chunk=2)
    rest = Compute()
    features(files, rest, chunk=2, tell=told.append)
    assert rest.seen == ["2.bin", "3.bin", "4.bin"]
    assert [line.split()[1:4] for line in told] == [["2", "of", "3,"], ["3", "of", "3,"]]


def test_a_file_written_a_moment_ago_is_not_trusted(files):
    files[0].touch()
    assert [bool(key) for key in file_keys([*files[:2], files[0].with_name("absent")])] == [False, True, False]
    features(files, Compute())
    features(files, again := Compute())
    assert again.seen == ["0.bin"]


def test_texts_are_known_by_what_they_say():
    assert text_keys(["a", "b", "a"])[0] == text_keys(["a"])[0] != text_keys(["b"])[0]
    assert text_keys(["\ud800"])


@pytest.mark.parametrize("harm", ["no database", "a folder", "cut short"])
def test_a_cache_that_cannot_be_used_stops_nothing(files, folder, harm):
    features(files, Compute())
    path = folder / feature_cache.NAME
    if harm == "cut short":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        path.unlink()
        path.mkdir() if harm == "a folder" else path.write_text("no database, but long enough to be read as one" * 9)
    for _ in range(3):
        X = features(files, last := Compute())
        assert X.shape == (5, 2)
    assert len(last.seen) == (5 if harm == "a folder" else 0)  # what was damaged has been replaced


def test_what_was_not_used_for_longest_goes_first(monkeypatch):
    monkeypatch.setattr(feature_cache, "MOST", 200_000)
    cache, day = Cache("k"), [1_000 * feature_cache.DAY]
    monkeypatch.setattr(feature_cache.time, "time", lambda: day[0])
    cache.keep({"needed": bytes(9_000)})
    for k in range(60):
        day[0] += feature_cache.DAY
        assert cache.find(["needed"])
        cache.keep({str(k): bytes(9_000)})
    assert (cache_folder() / feature_cache.NAME).stat().st_size < 300_000
    assert set(cache.find([str(k) for k in range(60)])) >= {"59", "58"}
    assert not cache.find(["0"])


def test_only_the_user_reads_it(files, folder):
    features(files, Compute())
    assert (folder / feature_cache.NAME).stat().st_mode & 0o077 == 0


def test_links_to_files_and_folders_lead_where_the_system_says(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x").write_text("1")
    (tmp_path / "to").symlink_to(tmp_path / "a" / "b")
    (tmp_path / "to" / "y").symlink_to("x")
    paths = [tmp_path / "a" / "b" / "x", tmp_path / "to" / "x", tmp_path / "to" / "y", tmp_path / "a" / ".." / "none"]
    paths += [Path("/none"), Path("none")]
    assert real_paths(paths) == [str(path.resolve()) for path in paths]
