"""Use an installed fewlabels as people do: `python smoke.py` with the Python of a venv that has nothing else.

No test runner and no package beyond fewlabels itself, so that one it forgot to ask for is missed here.
"""

import os
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from urllib.request import Request, urlopen

FEWLABELS = Path(sys.prefix) / "bin" / "fewlabels"


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def check_import() -> None:
    place = run(sys.executable, "-c", "import fewlabels; print(fewlabels.__file__)").strip()
    assert Path(place).is_relative_to(sys.prefix), f"not the installed package: {place}"


def check_version() -> None:
    assert run(FEWLABELS, "--version") == f"fewlabels {version('fewlabels')}\n"


def check_suggest() -> None:
    Path("edges.csv").write_text("source,target\nann,bob\nbob,cid\ncid,dan\n")
    Path("labels.csv").write_text("node,label\nann,cat\ndan,dog\n")
    run(FEWLABELS, "suggest", "--edges", "edges.csv", "--labels", "labels.csv", "--out", "predictions.csv")
    rows = [line.split(",")[:3] for line in Path("predictions.csv").read_text().splitlines()]
    taught = {"ann": "cat", "dan": "dog"}
    predicted = {"ann": "cat", "bob": "cat", "cid": "dog", "dan": "dog"}
    assert rows[1:] == [[node, taught.get(node, ""), predicted[node]] for node in predicted], rows


def check_demo() -> None:
    assert "5/5" in run(FEWLABELS, "demo", "--auto", "5", "--out", "demo.png")
    assert Path("demo.png").read_bytes().startswith(b"\x89PNG")


def check_page() -> None:
    """The page and all it loads are there; told to end, the server ends well."""
    command = [FEWLABELS, "demo", "--no-browser", "--port", "0", "--store", "demo.sqlite"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        url = next(line.split()[1] for line in server.stdout if line.startswith("Page: "))
        at, _, token = url.partition("/?token=")
        for path, part in (("/", "<title>"), ("/static/main.js", "import"), ("/api/standing", "expected_error")):
            with urlopen(Request(at + path, headers={"Authorization": f"Bearer {token}"}), timeout=30) as answer:
                assert part in answer.read().decode(), path
        server.send_signal(signal.SIGTERM)
        assert "Stopped." in server.stdout.read()
    assert server.returncode == 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in (check_import, check_version, check_suggest, check_demo, check_page):
            check()
            print(check.__name__.removeprefix("check_"), "works")
