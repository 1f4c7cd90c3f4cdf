"""Networks in ONNX files that would take all time or memory: a sentence instead."""

import signal
import subprocess
import sys
import time

import pytest
from PIL import Image
from support.networks import endless, mean_colour, stretched

EMBED = """
import os, sys
sys.path[:0], os.environ["FEWLABELS_CACHE"] = {path!r}, {cache!r}
from fewlabels import embed
from fewlabels.items.embedding import onnx_file
onnx_file.SECONDS, onnx_file.MEMORY = {seconds}, 2**26
print("ready", flush=True)
embed([{photo!r}], {model!r})
"""


def embedding(folder, model, seconds=1):
    """A process of its own that embeds a photo: memory is limited for a process as a whole."""
    Image.new("RGB", (8, 8)).save(folder / "p.png")
    program = EMBED.format(
        path=sys.path, cache=str(folder / "cache"), photo=str(folder / "p.png"), model=str(model), seconds=seconds
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", program], text=True, **pipes)


def said(folder, model):
    """The last line of what came out of it."""
    with embedding(folder, model) as process:
        try:
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    return errors.strip().splitlines()[-1] if errors else "nothing"


def test_a_loop_without_end_is_given_up(tmp_path):
    assert "m.onnx ran for more than 1 s on 1 items: give a smaller network." in said(
        tmp_path, endless(tmp_path / "m.onnx")
    )


def test_ctrl_c_is_heard_while_a_network_runs(tmp_path):
    with embedding(tmp_path, endless(tmp_path / "m.onnx"), seconds=1000) as process:
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT


def test_what_a_network_makes_within_takes_limited_memory(tmp_path):
    model = stretched(tmp_path / "m.onnx", [1, 3, 4_000, 4_000], [1, 2, 3])
    assert "m.onnx cannot be run on these items" in (found := said(tmp_path, model))
    assert "Available memory" in found
    assert len(found) < 600


@pytest.mark.parametrize("shape", [("n", 3, 30_000, 30_000), ("n", 4_000, 8, 3), ("n", 3, 0, 8)])
def test_a_network_for_photos_of_strange_size_is_refused(tmp_path, shape):
    found = said(tmp_path, mean_colour(tmp_path / "m.onnx", shape))
    assert "m.onnx takes photos of " in found
    assert found.endswith("pixels: 1 to 2048 a side can be given.")


def test_more_numbers_than_an_item_can_have_are_refused(tmp_path):
    found = said(tmp_path, stretched(tmp_path / "m.onnx", [1, 6_000_000], [1]))
    assert found.endswith("makes 6,000,000 numbers of an item, over the limit of 2,000,000: give a smaller network.")
