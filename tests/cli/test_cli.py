"""The command line, run as a user runs it."""

import sqlite3
import subprocess
import sys

import pytest
from support.command import run

from fewlabels.session.store import Event, Store


def test_recover_says_what_it_saved(tmp_path):
    store = Store(tmp_path / "a.sqlite", {"fingerprint": "f", "title": "t", "n_items": "9"})
    store.append([Event("answer", "ann", f"key-{k}", item=k, label="cat") for k in range(5)])
    store.close()
    with sqlite3.connect(tmp_path / "a.sqlite") as db:
        db.execute("DROP TRIGGER events_stay")
        db.execute("UPDATE events SET item = 8 WHERE id = 4")
    db.close()
    done = run("recover", "a.sqlite", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Saved 4 events in a.recovered.sqlite." in done.stdout
    assert "Lost: 1, number 4." in done.stdout
    assert run("recover", "a.sqlite", cwd=tmp_path).returncode == 2  # the new file is there already


@pytest.mark.parametrize("command", [[], ["suggest"], ["demo"], ["reproduce"], ["compare"]])
def test_help_teaches_with_an_example(tmp_path, command):
    done = run(*command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "fewlabels " + (command[0] if command else "demo") in done.stdout.split("Usage")[1]


def test_demo_asks_with_progress_prints_a_table_and_saves_a_picture(tmp_path):
    done = run("demo", "--auto", "5", "--out", "picture.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5/5" in done.stdout
    assert "expected error" in done.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_as_a_program_it_tells_its_version_and_ends_a_mistake_with_a_sentence_and_2(tmp_path):
    """In processes of their own; all other tests run commands in this one."""
    program, told = [sys.executable, "-m", "fewlabels"], {"cwd": tmp_path, "capture_output": True, "text": True}
    assert subprocess.run([*program, "--version"], **told).stdout.startswith("fewlabels 0.")
    wrong = subprocess.run([*program, "suggest", "--edges", "none.csv"], **told)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("fewlabels: there is no file none.csv")
    assert wrong.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["recover"], ["sign-out"]])
def test_a_path_that_is_too_long_gets_a_sentence(tmp_path, command):
    done = run(*command, "a" * 300, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert len(done.stderr) < 250


def test_warm_up_says_when_everything_is_ready(tmp_path):
    assert "Ready, in " in run("warm-up", cwd=tmp_path).stdout
