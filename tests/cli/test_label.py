"""`fewlabels label`, from the terminal to the page and back."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest
from support.command import run


class TestLabel:
    """`fewlabels label`, from the terminal to the page and back."""

    @pytest.fixture
    def table(self, tmp_path):
        rows = "".join(
            f"{k},{'good' if k % 2 else 'bad'} thing number {k},{'yes' if k == 3 else ''}\n" for k in range(30)
        )
        (tmp_path / "things.csv").write_text("id,review,label\n" + rows)
        return tmp_path

    @contextmanager
    def page(self, *arguments, cwd):
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

    def test_it_says_what_it_understood_keeps_answers_and_goes_on(self, table):
        arguments = ["label", "things.csv", "--text", "review", "--classes", "yes,no"]
        with self.page(*arguments, cwd=table) as (process, url, said):
            about = " ".join(said)
            for part in ("30 texts from things.csv", "Neighbours:", "Components:", "1 in the data", "Engine:", "free"):
                assert part in about
            assert "things.csv.fewlabels.sqlite" in said[-2]
            body = {"who": "ann", "item": 5, "label": "no", "key": "a-key-of-its-own"}
            at, _, token = url.partition("/?token=")
            assert httpx.post(f"{at}/api/answers", json=body).status_code == 401  # other users of this machine
            assert httpx.post(f"{at}/api/answers", json=body, params={"token": token}).status_code == 200
        assert process.returncode == 0
        assert "Stopped. 2 labels are in" in said[-1]
        with self.page(*arguments, cwd=table) as (_, url, said):
            assert "1 so far" in " ".join(said)
            assert httpx.get(url.replace("/?", "/api/items/5?")).json()["label"] == "no"
            again = run(*arguments, cwd=table)
            assert (again.returncode, "is open in another fewlabels" in again.stderr) == (2, True)
        (table / "things.csv").write_text((table / "things.csv").read_text().replace("number 7", "number seven"))
        other = run(*arguments, cwd=table)
        assert (other.returncode, "holds answers about other data" in other.stderr) == (2, True)

    def test_beyond_this_machine_it_prints_a_token_and_asks_for_it(self, table):
        arguments = ["label", "things.csv", "--text", "review", "--host", "0.0.0.0", "--token", "let-me-in-please"]
        with self.page(*arguments, cwd=table) as (_, url, _said):
            assert url.endswith("/?token=let-me-in-please")
            port = url.split(":")[2].split("/")[0]
            at = f"http://127.0.0.1:{port}"
            assert httpx.get(f"{at}/api/standing").status_code == 401
            headers = {"authorization": "Bearer let-me-in-please"}
            assert httpx.get(f"{at}/api/standing", headers=headers).status_code == 200
            with httpx.Client(base_url=at) as browser:
                assert browser.get("/?token=let-me-in-please").status_code == 303
                assert browser.get("/api/standing").status_code == 200
                done = run("sign-out", "things.csv.fewlabels.sqlite", cwd=table)
                assert "Every browser is signed out." in done.stdout
                assert browser.get("/api/standing").status_code == 401
                assert browser.get("/?token=let-me-in-please").status_code == 303
                assert browser.get("/api/standing").status_code == 200
        assert not list(table.glob("*.sign-out"))
        assert "No page seems to be running" in run("sign-out", "things.csv.fewlabels.sqlite", cwd=table).stdout

    def test_host_and_token_may_be_variables_and_a_service_manager_ends_it_well(self, table, monkeypatch):
        monkeypatch.setenv("FEWLABELS_HOST", "0.0.0.0")
        monkeypatch.setenv("FEWLABELS_TOKEN", "from-the-environment")
        with self.page("label", "things.csv", "--text", "review", "--classes", "yes,no", cwd=table) as (
            process,
            url,
            said,
        ):
            assert url.endswith("/?token=from-the-environment")
            at = f"http://127.0.0.1:{url.split(':')[2].split('/')[0]}/api/answers"
            body = {"who": "ann", "item": 5, "label": "no", "key": "a-key-of-its-own"}
            assert httpx.post(at, json=body).status_code == 401
            headers = {"authorization": "Bearer from-the-environment"}
            assert httpx.post(at, json=body, headers=headers).status_code == 200
            process.terminate()
            process.wait(30)
        assert process.returncode == 0
        assert "Stopped. 2 labels are in" in said[-1]

    def test_people_get_links_of_their_own(self, table):
        (table / "people.txt").write_text("Ann\n\nBob\n")
        with self.page("label", "things.csv", "--text", "review", "--people", "people.txt", cwd=table) as (
            _,
            _url,
            said,
        ):
            links = [line.removeprefix("Link of ").split(": ") for line in said if line.startswith("Link of ")]
            assert [name for name, _ in links] == ["Ann", "Bob"]
            assert httpx.get(links[0][1]).status_code == 303
        (table / "people.txt").write_text("Ann\nAnn\n")
        done = run("label", "things.csv", "--text", "review", "--people", "people.txt", cwd=table)
        assert (done.returncode, "names 'Ann' twice" in done.stderr) == (2, True)

    def test_nothing_to_label_gets_a_sentence(self, tmp_path):
        done = run("label", cwd=tmp_path)
        assert (done.returncode, "there is nothing to label" in done.stderr) == (2, True)
        done = run("label", "missing.csv", cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
