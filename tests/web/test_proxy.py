"""The page behind a real proxy, configured as docs/labelling.md says: TLS, a name and a prefix of its own."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from support.items import words
from support.keys import fresh_key
from support.pages import page_of

from fewlabels.session import Session
from fewlabels.web.guard import Rules

DOCS = (Path(__file__).parents[2] / "docs" / "labelling.md").read_text(encoding="utf-8")
TOKEN = "a-token-of-its-own"
NGINX = """
daemon off; error_log stderr; pid {folder}/pid; worker_processes 1;
events {{ worker_connections 64; }}
http {{
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi; access_log {folder}/access.log;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
        {location}
        location /hidden/ {{ proxy_pass http://127.0.0.1:{page}/; proxy_set_header X-Forwarded-Proto $scheme; }}
    }}
}}
"""
CADDY = """{{
    admin off
    auto_https off
}}
https://localhost:{port} {{
    tls {folder}/cert.pem {folder}/key.pem
    {location}
    handle_path /hidden/* {{
        reverse_proxy 127.0.0.1:{page} {{
            header_up Host {{upstream_hostport}}
        }}
    }}
}}
"""


def documented(kind, page):
    """The block of the docs, with the port of our page."""
    block = next(text for name, text in re.findall(r"```(\w+)\n(.*?)```", DOCS, flags=re.S) if kind in text)
    return block.replace("127.0.0.1:8765", f"127.0.0.1:{page}")


def listens(port):
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def proxy(kind, folder, page):
    """A proxy of this kind before the page; its address."""
    if shutil.which(kind) is None or shutil.which("openssl") is None:
        pytest.skip(f"{kind} is not installed: apt-get install {kind} openssl")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    make = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    files = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run(["openssl", *make.split(), *files], check=True, capture_output=True)
    template, block = (NGINX, "location /labels/") if kind == "nginx" else (CADDY, "handle_path")
    config = folder / f"{kind}.conf"
    config.write_text(template.format(folder=folder, port=port, page=page, location=documented(block, page)))
    command = {
        "nginx": ["nginx", "-p", folder, "-c", config, "-e", "stderr"],
        "caddy": ["caddy", "run", "--adapter", "caddyfile", "--config", config],
    }[kind]
    surroundings = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    with (folder / "said").open("w") as said:
        running = subprocess.Popen(command, stdout=said, stderr=said, env=surroundings)
    try:
        until = time.monotonic() + 30
        while not listens(port):
            assert running.poll() is None, (folder / "said").read_text()
            assert time.monotonic() < until, "the proxy does not start"
            time.sleep(0.02)
        yield f"https://localhost:{port}"
    finally:
        running.terminate()
        running.wait(20)


@pytest.fixture(params=["nginx", "caddy"])
def proxied(request, tmp_path):
    """A session, and the address of a proxy before its page."""
    trusted = ["localhost"] if "hidden" in request.node.name else []
    rules = Rules(TOKEN, "fewlabels-1", trusted=frozenset(trusted))
    with (
        closing(Session(words(), tmp_path / "s.sqlite")) as session,
        page_of(session, rules=rules, several=False, person="me") as page,
        proxy(request.param, tmp_path, page) as address,
    ):
        yield session, address


def client(address, folder):
    return httpx.Client(base_url=address, verify=ssl.create_default_context(cafile=folder / "cert.pem"), timeout=30)


def test_the_documented_configuration_works(proxied, tmp_path):
    session, address = proxied
    with client(address, tmp_path) as browser:
        assert browser.get("/labels").headers["location"].endswith("/labels/")
        assert browser.get("/labels/api/standing").status_code == 401
        entry = browser.get("/labels/", params={"token": TOKEN})
        assert entry.status_code == 303
        assert "secure" in entry.headers["set-cookie"].lower()
        assert str(browser.get("/labels/").url) == f"{address}/labels/"
        assert browser.get("/labels/static/main.js").status_code == 200
        answer = {"who": "me", "item": 3, "label": "cat", "key": fresh_key(), "next": False}
        ours, theirs = {"origin": address}, {"origin": "https://evil.example"}
        assert browser.post("/labels/api/answers", json=answer, headers=theirs).status_code == 403
        assert browser.post("/labels/api/answers", json=answer, headers=ours).status_code == 200
        assert browser.get("/labels/api/export.csv").status_code == 200
        large = browser.post("/labels/api/answers", content=b" " * 2**21, headers=ours)
        assert large.status_code == 413
    assert session.snapshot().label(3) == "cat"
    log = tmp_path / "access.log"
    assert not log.exists() or TOKEN not in log.read_text()


def test_a_hidden_name_is_trusted_when_it_is_given(proxied, tmp_path):
    _, address = proxied
    with client(address, tmp_path) as browser:
        headers = {"origin": address, "authorization": f"Bearer {TOKEN}"}
        assert browser.post("/hidden/api/question", json={"who": "me"}, headers=headers).status_code == 200
        headers["origin"] = "https://evil.example"
        assert browser.post("/hidden/api/question", json={"who": "me"}, headers=headers).status_code == 403


def test_a_person_labels_behind_a_proxy(proxied, visit):
    session, address = proxied
    page = visit(httpx.Client(base_url=address), f"/labels/?token={TOKEN}", ignore_https_errors=True)
    page.wait_for_selector("body[data-item]")
    asked = page.get_attribute("body", "data-item")
    page.keyboard.press("1")
    page.wait_for_selector(f"body[data-item]:not([data-item='{asked}'])")
    assert session.snapshot().label(int(asked)) == "cat"
    assert page.url == f"{address}/labels/"
