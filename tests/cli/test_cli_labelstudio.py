"""fewlabels label-studio, and fewlabels label on its tasks, as a user runs them."""

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys

import httpx
import pytest
from support import label_studio as studio
from typer.testing import CliRunner

from fewlabels.cli import app
from fewlabels.errors import FewlabelsError

N = 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    studio.write(tmp_path / "tasks.json", [studio.task(k) for k in range(N)])
    (tmp_path / "config.xml").write_text(studio.CONFIG)
    return tmp_path


def run(*arguments):
    """What the command prints, or the sentence it ends with."""
    done = CliRunner().invoke(app, arguments)
    if isinstance(done.exception, FewlabelsError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_backend_learns_from_events_and_its_answers_are_exported(folder):
    command = [
        sys.executable,
        "-u",
        "-m",
        "fewlabels",
        "label-studio",
        "backend",
        "tasks.json",
        "--config",
        "config.xml",
    ]
    beyond = ["--host", "0.0.0.0", "--token", "let-me-in-please", "--port", "0", "--neighbors", "3"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*command, *beyond], **pipes, env=os.environ | {"NUMBA_NUM_THREADS": "1"})
    with process, contextlib.ExitStack() as last:
        last.callback(process.kill)  # also where an assertion fails: leaving the block waits for its end
        said = []
        for line in process.stdout:
            said.append(line.strip())
            if line.startswith("Backend: "):
                break
        else:
            pytest.fail(process.stderr.read())
        assert "Items: 12 texts from tasks.json" in said
        assert "Basic authentication: user fewlabels, password let-me-in-please" in said
        header = base64.b64encode(b"fewlabels:let-me-in-please").decode()
        assert f"Header for its webhook: Authorization: Basic {header}" in said
        at = f"http://127.0.0.1:{said[-1].split()[1].rsplit(':', 1)[1]}"
        assert httpx.get(f"{at}/health").status_code == 401
        with httpx.Client(base_url=at, auth=("fewlabels", "let-me-in-please"), timeout=30) as client:
            for k, label in ((0, "sea"), (1, "sky")):
                event = studio.event("ANNOTATION_CREATED", annotation=studio.annotation(k, 100 + k, label))
                assert client.post("/webhook", json=event).status_code == 201
            tasks = [studio.task(k) for k in range(N)]
            results = client.post("/predict", json={"tasks": tasks, "label_config": studio.CONFIG}).json()["results"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert "Stopped. The same command continues from there." in process.stdout.read()
    assert "12 tasks, 2 of them annotated: out.json" in run(
        "label-studio", "export", "tasks.json", "--config", "config.xml", "--neighbors", "3", "--out", "out.json"
    )
    exported = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [task["annotations"][0]["result"][0]["value"]["choices"] for task in exported[:2]] == [["sea"], ["sky"]]
    assert [task["predictions"][0]["result"] for task in exported[2:]] == [one["result"] for one in results[2:]]


def test_a_table_is_exported_with_a_config_that_fits(folder):
    rows = "".join(f"{k},{studio.body(k).replace(',', '')},{'sea' if k == 0 else ''}\n" for k in range(N))
    (folder / "notes.csv").write_text(f"id,note,label\n{rows}")
    given = ["notes.csv", "--text", "note", "--classes", "sea,sky"]
    assert "there are no answers in" in run("label-studio", "export", *given)
    from fewlabels.items.read import read_items
    from fewlabels.session import Session

    items = read_items(folder / "notes.csv", text="note", classes=["sea", "sky"])
    Session(items, folder / "notes.csv.fewlabels.sqlite").close()
    said = run("label-studio", "export", *given)
    assert "12 tasks, 1 of them annotated: label-studio.json" in said
    assert '<Choice value="sky"/>' in said


def test_tasks_without_a_config_are_exported_with_a_word_about_names(folder):
    from fewlabels.labelstudio import read_task_items, read_tasks
    from fewlabels.session import Session

    items = read_task_items(read_tasks(folder / "tasks.json"), text="body")
    Session(items, folder / "store.sqlite").close()
    given = ["tasks.json", "--text", "body", "--classes", "sea,sky", "--store", "store.sqlite"]
    assert "give --config to name them as your project does" in run("label-studio", "export", *given)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["label-studio", "backend", "notes.csv"], "notes.csv does not end in .json"),
        (["label-studio", "backend", "none.json"], "there is no file none.json"),
        (["label-studio", "backend", "tasks.json", "--config", "none.xml"], "cannot read none.xml"),
        (["label-studio", "backend", "tasks.json"], "say what to show with --text KEY or --image KEY, or give"),
        (["label-studio", "backend", "tasks.json", "--strategy", "best"], "best"),
        (["label", "tasks.json", "--edges", "e.csv"], "--edges does not go with Label Studio's tasks"),
        (["label", "notes.csv", "--choices", "topic"], "--config and --choices go with Label Studio's tasks"),
        (["label-studio", "export"], "there is nothing to label"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(folder, arguments, sentence):
    assert sentence in run(*arguments, *(["--port", "0"] if "export" not in arguments else []))


def test_the_page_takes_tasks_with_their_annotations(folder, monkeypatch):
    listed = [studio.task(k) for k in range(N)]
    listed[0]["annotations"] = [studio.annotation(1, 100, "sea", who=5)]
    studio.write(folder / "tasks.json", listed)
    seen = []

    def serve(session, place, **options):
        shot = session.snapshot()
        seen.append((session.items.title, session.classes, shot.standing.people, shot.label(0)))
        place.socket.close()
        session.close()

    monkeypatch.setattr("fewlabels.web.serve.serve", serve)
    for _ in range(2):
        said = run("label", "tasks.json", "--text", "body", "--classes", "sky", "--port", "0", "--no-browser")
        assert "1 so far, kept in" in said
    assert seen == [("tasks.json", ["sky", "sea"], {"user 5": 1}, "sea")] * 2
