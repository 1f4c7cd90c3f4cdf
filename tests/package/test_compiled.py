import os

import pytest
from package.compiled import carry

ENDINGS = ("nbi", "1.nbc", "2.nbc")


@pytest.fixture
def laid_out(tmp_path):
    """A package with compiled kernels, and a copy of which one file differs."""
    original, copy = tmp_path / "src", tmp_path / "wheel"
    for folder in (original, copy):
        folder.mkdir()
        for name in ("same", "changed"):
            (folder / f"{name}.py").write_text("x = 1\n")
            os.utime(folder / f"{name}.py", (1, 1))
    (copy / "changed.py").write_text("x = 2\n")
    (original / "__pycache__").mkdir()
    for name in ("same", "changed"):
        for ending in ENDINGS:
            (original / "__pycache__" / f"{name}.kernel-7.py311.{ending}").write_text(name)
    return original, copy


def test_kernels_are_carried_over_for_files_that_are_the_same(laid_out):
    original, copy = laid_out
    assert carry(original, copy) == 1
    assert {kept.name for kept in (copy / "__pycache__").iterdir()} == {f"same.kernel-7.py311.{e}" for e in ENDINGS}
    assert (copy / "same.py").stat().st_mtime_ns == (original / "same.py").stat().st_mtime_ns


def test_what_was_compiled_before_the_last_change_to_any_file_is_left_behind(laid_out):
    original, copy = laid_out
    os.utime(original / "__pycache__/same.kernel-7.py311.2.nbc", (5, 5))
    os.utime(original / "changed.py", (9, 9))  # perhaps a part of that kernel
    assert carry(original, copy) == 0
