"""`fewlabels label`, from the terminal to the page and back."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest
from support.command import run

LABEL = ("label", "things.csv", "--text", "review", "--classes", "yes,no")
ANSWER = {"who": "ann", "item": 5, "label": "no", "key": "a-key-of-its-own"}


@pytest.fixture
def table(tmp_path):
    rows = "".join(f"{k},{'good' if k % 2 else 'bad'} thing number {k},{'yes' if k == 3 else ''}\n" for k in range(30))
    (tmp_path / "things.csv").write_text("id,review,label\n" + rows)
    return tmp_path


@contextmanager
def page(*arguments, cwd):
    """The command running: its process, and the address it printed."""
    command = [sys.executable, "-u", "-m", "fewlabels", *arguments, "--no-browser", "--port", "0"]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = []
            for line in process.stdout:
                said.append(line.strip())
                if line.startswith("Page: "):
                    yield process, line.split()[1], said
                    break
            else:
                pytest.fail(process.stderr.read())
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
            said.extend(line.strip() for line in process.stdout)


def links(said):
    return dict(line.removeprefix("Link of ").split(": ") for line in said if line.startswith("Link of "))


def test_it_says_what_it_understood_keeps_answers_and_goes_on_with_people_who_have_links_of_their_own(table):
    (table / "people.txt").write_text("Ann\n\nBob\n")
    answer = ANSWER | {"who": "Ann"}
    with page(*LABEL, "--people", "people.txt", cwd=table) as (process, url, said):
        about, first = " ".join(said), links(said)
        for part in ("30 texts from things.csv", "Neighbours:", "Components:", "1 in the data", "Engine:", "free"):
            assert part in about
        assert "things.csv.fewlabels.sqlite" in about
        assert first.keys() == {"Ann", "Bob"}
        at, _, token = first["Ann"].partition("/?token=")
        assert httpx.post(f"{at}/api/answers", json=answer).status_code == 401  # other users of this machine
        assert httpx.post(f"{at}/api/answers", json=answer, params={"token": token}).status_code == 200
    assert process.returncode == 0
    assert "Stopped. 2 labels are in" in said[-1]
    with page(*LABEL, "--people", "people.txt", "--token", "let-me-in-please", cwd=table) as (_, url, said):
        assert "1 so far" in " ".join(said)
        assert url.endswith("/?token=let-me-in-please")
        assert httpx.get(url.replace("/?", "/api/items/5?")).json()["label"] == "no"
        at = url.partition("/?")[0]
        mine = f"{at}/?token={token}"
        assert links(said)["Ann"] == mine  # the same as before, and still good
        assert httpx.get(mine).status_code == 303
        again = run(*LABEL, cwd=table)
        assert (again.returncode, "is open in another fewlabels" in again.stderr) == (2, True)
        assert "Links of people's own are new" in run("sign-out", "things.csv.fewlabels.sqlite", cwd=table).stdout
        assert httpx.get(mine).status_code == 401
        assert httpx.get(url).status_code == 303
    assert links(said)["Ann"] != mine
    (table / "things.csv").write_text((table / "things.csv").read_text().replace("number 7", "number seven"))
    other = run(*LABEL, cwd=table)
    assert (other.returncode, "holds answers about other data" in other.stderr) == (2, True)


def test_beyond_this_machine_it_asks_for_the_token_and_a_service_manager_ends_it_well(table, monkeypatch):
    """Host and token may be variables; `fewlabels sign-out` signs browsers out."""
    monkeypatch.setenv("FEWLABELS_HOST", "0.0.0.0")
    monkeypatch.setenv("FEWLABELS_TOKEN", "let-me-in-please")
    sign_out = ("sign-out", "things.csv.fewlabels.sqlite")
    with page(*LABEL, cwd=table) as (process, url, said):
        assert url.endswith("/?token=let-me-in-please")
        at = f"http://127.0.0.1:{url.split(':')[2].split('/')[0]}"
        assert httpx.post(f"{at}/api/answers", json=ANSWER).status_code == 401
        headers = {"authorization": "Bearer let-me-in-please"}
        assert httpx.post(f"{at}/api/answers", json=ANSWER, headers=headers).status_code == 200
        with httpx.Client(base_url=at) as browser:
            assert browser.get("/api/standing").status_code == 401
            assert browser.get("/?token=let-me-in-please").status_code == 303
            assert browser.get("/api/standing").status_code == 200
            assert "Every browser is signed out." in run(*sign_out, cwd=table).stdout
            assert browser.get("/api/standing").status_code == 401
            assert browser.get("/?token=let-me-in-please").status_code == 303
            assert browser.get("/api/standing").status_code == 200
        process.terminate()
        process.wait(30)
    assert process.returncode == 0
    assert "Stopped. 2 labels are in" in said[-1]
    assert not list(table.glob("*.sign-out"))
    assert "No page seems to be running" in run(*sign_out, cwd=table).stdout


def test_what_cannot_be_labelled_or_by_whom_gets_a_sentence(table):
    done = run("label", cwd=table)
    assert (done.returncode, "there is nothing to label" in done.stderr) == (2, True)
    done = run("label", "missing.csv", cwd=table)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    (table / "people.txt").write_text("Ann\nAnn\n")
    done = run(*LABEL, "--people", "people.txt", cwd=table)
    assert (done.returncode, "names 'Ann' twice" in done.stderr) == (2, True)
