"""What a pretrained network sends: nothing. Attempts are counted by a proxy that is nowhere but on this machine."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from PIL import Image
from support.networks import mean_colour

import fewlabels

LISTENED = float(os.environ.get("FEWLABELS_LISTENED", "0"))  # seconds: onnxruntime first tries after nine
EMBED = """
import sys, time
from fewlabels import embed
embed([sys.argv[1]], sys.argv[2])
time.sleep(float(sys.argv[3]))
"""


def test_a_network_keeps_no_record_of_its_use_and_tells_nobody(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "p.png")
    model = mean_colour(tmp_path / "m.onnx")
    (home := tmp_path / "home").mkdir()
    attempts = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def count():
            while True:
                try:
                    one, _ = proxy.accept()
                except OSError:  # closed
                    return
                attempts.append(one.recv(200))
                one.close()

        threading.Thread(target=count, daemon=True).start()
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        ours = {"HOME": str(home), "FEWLABELS_CACHE": str(tmp_path / "cache"), "https_proxy": address,
                "http_proxy": address, "PYTHONPATH": str(Path(fewlabels.__file__).parents[1])}  # fmt: skip
        left = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and k != "ORT_DISABLE_TELEMETRY"}
        arguments = [str(tmp_path / "p.png"), str(model), str(LISTENED)]
        subprocess.run([sys.executable, "-c", EMBED, *arguments], env=left | ours, check=True)
    assert attempts == []
    assert list(home.rglob("*")) == []
