"""What SECURITY.md, the Dockerfile and `make audit` say of themselves."""

import json
import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from package.audit import verdict
from support.items import words
from support.pages import served

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test_that_exists():
    table = SECURITY.split("## What is promised")[1].split("\n\n")[1]
    rows = [line.strip("|").rsplit("|", 1) for line in table.splitlines()[2:]]
    assert len(rows) > 8
    for promise, tests in rows:
        named = re.findall(r"`(tests/[^`]+)`", tests)
        assert named, f"no test holds this promise: {promise}"
        for path in named:
            assert "\ndef test_" in (ROOT / path).read_text() or "    def test_" in (ROOT / path).read_text(), path


def test_every_target_and_test_that_is_mentioned_is_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    assert set(re.findall(r"`make ([a-z-]+)`", SECURITY)) <= targets
    for path in re.findall(r"`(tests/[^`]+\.py)`", SECURITY):
        assert (ROOT / path).is_file(), path


def test_the_health_check_of_the_image_needs_no_token_and_notices_that_the_page_is_gone(tmp_path):
    [line] = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("HEALTHCHECK")]
    _, *arguments = json.loads(line[line.index("[") :])

    for name in ("http", "os", "sys"):  # of the data, which lie where the check runs
        (tmp_path / f"{name}.py").write_text("open('run', 'w').close()")

    def check(port):
        environment = os.environ | {"FEWLABELS_PORT": str(port)}
        return subprocess.run(
            [sys.executable, *arguments], env=environment, cwd=tmp_path, capture_output=True
        ).returncode

    with served(words(), tmp_path / "s.sqlite", token="open-sesame") as (_, client):
        port = client.base_url.port
        assert check(port) == 0
    assert check(port) != 0
    assert not (tmp_path / "run").exists()


def test_dask_is_started_with_tls_or_for_this_machine_alone():
    """Whoever reaches a scheduler or a worker runs code there. LocalCluster keeps to this machine, but for a dashboard
    at ":0"."""
    here = Path(__file__).name
    files = [
        file for folder in ("src", "tests", "docs", "benchmarks", "examples") for file in (ROOT / folder).rglob("*")
    ]
    files = [ROOT / "README.md", *(file for file in files if file.suffix in (".py", ".md") and file.name != here)]
    texts = {file.relative_to(ROOT): file.read_text(encoding="utf-8") for file in files}
    commands = [
        (file, line) for file, text in texts.items() for line in re.findall(r"^ *dask (?:sch|wo).*", text, flags=re.M)
    ]
    assert commands
    assert [(file, line) for file, line in commands if "tls" not in line] == []
    dashboards = [
        (file, place) for file, text in texts.items() for place in re.findall(r"dashboard_address=(\S+?)[,)]", text)
    ]
    assert dashboards
    assert [(file, at) for file, at in dashboards if at != "None" and not at.startswith('"127.0.0.1:')] == []
    started = [file for file, text in texts.items() if "LocalCluster(" in text or "Scheduler(" in text]
    assert [file for file in started if file.parts[0] == "src"] == []


MENDED = {  # the first release without a known hole, of what others can reach with a request or a file
    "dask": "2026.1",  # CVE-2026-23528
    "jinja2": "3.1.6",  # CVE-2025-27516
    "pillow": "12.3",  # CVE-2026-25990, -40192, -59200 and others
    "pyarrow": "23.0.1",  # CVE-2026-25087
    "scikit-learn": "1.5",  # CVE-2024-5206
    "starlette": "1.3.1",  # CVE-2025-62727, CVE-2026-48710, PYSEC-2026-248, -249
    "torch": "2.11",  # CVE-2025-32434, CVE-2026-24747, PYSEC-2026-139
}


def test_no_release_with_a_known_hole_is_let_in():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    bounds = dict(re.findall(r"^([\w-]+)(?:\[\w+\])?>=([\d.]+)$", "\n".join(asked), flags=re.M))
    too_low = {
        name: bounds.get(name) for name, first in MENDED.items() if numbers(bounds.get(name, "0")) < numbers(first)
    }
    assert too_low == {}


def numbers(version):
    return [int(part) for part in version.split(".")]


CLEAN = {"name": "a", "version": "1", "vulns": []}
HOLE = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}]}
UNKNOWN = {"name": "c", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("packages", "status", "sentence"),
    [
        ([CLEAN], 0, "1 of 1 packages were looked up, 0 known vulnerabilities found."),
        ([CLEAN, HOLE], 1, "b 2: PYSEC-1, mended in 3."),
        ([CLEAN, UNKNOWN], 0, "Not looked up: c."),
        ([UNKNOWN], 0, "Nothing was audited: no database"),
    ],
)
def test_an_audit_says_what_it_could_not_look_up(packages, status, sentence):
    said, found = verdict(packages)
    assert found == status
    assert sentence in said
