"""Pictures made to cost time or memory: the one that fails is left out, the others are shown."""

import io
import resource
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image
from support.pages import served

from fewlabels.items import decoding
from fewlabels.items import pictures as pictures_module
from fewlabels.items.pictures import look_at
from fewlabels.items.read import read_items


def slow_jpeg(path, scans, side=2000, mode="L"):
    """One scan over and over, which a decoder goes through each time: 96 bytes for all its pixels."""
    out = io.BytesIO()
    Image.new(mode, (side, side)).save(out, "JPEG", progressive=True)
    content = out.getvalue()
    last = content[content.rindex(b"\xff\xc4") : -2]  # its table, and the scan
    path.write_bytes(content[:-2] + last * scans + b"\xff\xd9")
    return path


def png(path, width, height, bits, colours):
    """Stripes, written without holding them in memory."""
    channels = {2: 3, 6: 4}[colours]
    squeeze, row = zlib.compressobj(1), b"\0" + b"\x10" * (width * channels * bits // 8)
    data = b"".join(squeeze.compress(row * min(height - at, 1000)) for at in range(0, height, 1000)) + squeeze.flush()
    head = struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", data), (b"IEND", b"")]
    chunks = [struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in parts]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    return path


def seen(*paths):
    return look_at(paths, features=False, tell=lambda _: None)


def looking(folder, last=""):
    """A process of its own that looks at the pictures of a folder, then does the last."""
    program = f"""
import os, sys
sys.path[:0], os.environ["FEWLABELS_CACHE"] = {sys.path!r}, {str(folder / "cache")!r}
from pathlib import Path
from fewlabels.items.pictures import look_at
look_at(sorted(Path({str(folder)!r}).glob("*.*")), features=True, tell=lambda said: print(said, flush=True))
{last}"""
    return [sys.executable, "-c", program]


def test_a_picture_that_takes_too_long_is_left_out_and_the_others_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "SECONDS", 0.2, raising=False)
    slow = slow_jpeg(tmp_path / "slow.jpg", 1000)
    Image.new("RGB", (8, 8)).save(tmp_path / "b.jpg")
    plain = (tmp_path / "b.jpg").read_bytes()
    segments = b"\xff\xe1" + struct.pack(">H", 60_008) + b"Exif\0\0" + b"x" * 60_000
    segments = segments * 17 + (b"\xff\xe1" + struct.pack(">H", 9) + b"Exif\0\0x") * 30_000
    (tmp_path / "exif.jpg").write_bytes(plain[:2] + segments + plain[2:])
    answers = seen(slow, tmp_path / "exif.jpg", tmp_path / "b.jpg")
    assert answers[:2] == ["takes more than 0.2 s to decode: save it anew"] * 2
    assert answers[2].format == "JPEG"


def test_a_tiny_picture_is_shown_while_four_slow_ones_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures_module, "SLOW", 0.1, raising=False)
    for name in "abcd":
        slow_jpeg(tmp_path / f"{name}.jpg", 150, mode="CMYK")  # which browsers do not show
    Image.new("CMYK", (8, 8)).save(tmp_path / "tiny.jpg")
    items = read_items(tmp_path)
    shown, real = threading.Event(), pictures_module.decoded

    def held_up(image, longest):
        if image.width > 8:
            shown.wait(10)
        return real(image, longest)

    monkeypatch.setattr(pictures_module, "decoded", held_up)
    with served(items, tmp_path / "s.sqlite") as (_, client), ThreadPoolExecutor(4) as pool:
        drawn = [pool.submit(client.get, f"/api/items/{k}/image", timeout=30) for k in range(4)]
        time.sleep(0.3)
        assert client.get("/api/items/4/image", timeout=30).status_code == 200
        held = not any(one.done() for one in drawn)
        shown.set()
        assert {one.result().status_code for one in drawn} == {200}
    assert held


def test_a_file_of_many_bytes_is_neither_read_nor_served(tmp_path):
    Image.new("RGB", (40, 30)).save(tmp_path / "a.png")
    with (tmp_path / "a.png").open("r+b") as file:
        file.truncate(300_000_000)
    assert seen(tmp_path / "a.png") == ["has 300,000,000 bytes, over the limit of 200,000,000: shrink it"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux's /proc")
def test_pictures_of_few_bytes_take_some_four_hundred_megabytes_and_no_more(tmp_path):
    """In a process of its own, which counts its memory from the start: 16 bits a colour, one pixel wide, WebP."""
    png(tmp_path / "deep.png", 7_000, 7_000, 16, 6)
    png(tmp_path / "tall.png", 1, 40_000_000, 8, 2)
    Image.new("RGB", (5_000, 5_000)).save(tmp_path / "w.webp", lossless=True, quality=0, method=0)
    last = "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    done = subprocess.run(looking(tmp_path, last), capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) < 700_000  # kB, with some 150,000 of Python and what it has loaded


def test_ctrl_c_is_heard_while_pictures_are_decoded(tmp_path):
    """Within a second where nobody else computes: so it is computing that is counted, with what it takes to start."""
    slow_jpeg(tmp_path / "a.jpg", 8000)
    slow_jpeg(tmp_path / "b.jpg", 8000)
    Image.new("RGB", (8, 8)).save(tmp_path / "c.jpg")
    before = computed()
    with subprocess.Popen(looking(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()  # Reading 3 images
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
    assert process.returncode == -signal.SIGINT
    assert computed() - before < 4


def computed():
    """The seconds that processes which have ended computed for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
