"""Tests that ``hyperflock doctor`` prints a line and a remedy for each thing that may be wrong."""

from __future__ import annotations

import json
import os
import ssl
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hyperflock._base.version import __version__
from hyperflock._cli import command as _cli
from hyperflock._cli import doctor as _doctor
from hyperflock._cli.doctor import Check, checks
from hyperflock._execution import browser as _browser
from hyperflock._local import parts as _parts
from hyperflock._transport import http as _http
from hyperflock._transport.settings import Settings
from patience import LIMIT_S
from real_server import Server

Answer = tuple[int, dict[str, str], bytes]


class Console:
    """A console and a join page on one server. A test sets their answers."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.answers: dict[str, Answer] = {}
        console = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, headers, body = console.answers.get(self.path, (404, {}, b""))
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        isolated = {
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
        }
        # This is the same release with another patch number.
        server = f"{__version__.rpartition('.')[0]}.7"
        me = {"name": "ada", "role": "researcher", "server": server, "join_origin": self.url}
        now = {"Date": formatdate(time.time(), usegmt=True)}
        self.answers = {
            "/healthz": (200, now, b"{}"),
            "/readyz": (200, {}, b"{}"),
            "/api/me": (200, {}, json.dumps(me).encode()),
            "/join": (200, isolated, b""),
            "/local-run.json": (200, {}, b"{}"),
        }

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def console() -> Iterator[Console]:
    made = Console()
    yield made
    made.close()


def _by_name(settings: Settings, *, browser: bool = False) -> dict[str, Check]:
    return {check.name: check for check in checks(settings, browser=browser)}


def test_everything_in_order_but_plain_http(console: Console) -> None:
    found = _by_name(Settings(console.url, "t"))
    assert {name: check.state for name, check in found.items()} == {
        **dict.fromkeys(("python", "packages", "tls", "server", "clock", "token"), "ok"),
        **dict.fromkeys(("version", "browser runs", "runtimes"), "ok"),
        "join page": "warning",
        "browser": "skipped",
    }
    assert "no phone computes there" in found["join page"].found
    assert found["token"].found == "ada, researcher"
    assert all(check.remedy for check in found.values() if check.state in {"warning", "failed"})


def test_remedy_of_a_token_fits_whose_server_it_is(
    console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    console.answers["/api/me"] = (401, {}, b"")
    monkeypatch.setenv("HYPERFLOCK_HOME", str(tmp_path))
    assert "the operator makes tokens" in _by_name(Settings(console.url, "t"))["token"].remedy
    (tmp_path / "ready.json").write_text(json.dumps({"console": console.url}))
    (tmp_path / "credentials.json").write_text('{"researcher_token": "own"}')
    given = _by_name(Settings(console.url, "t"))["token"].remedy
    assert given.endswith(f"'{tmp_path}/credentials.json' has its token: unset HYPERFLOCK_TOKEN")
    own = _by_name(Settings(console.url, "own"))["token"].remedy
    assert f"token recover --state {tmp_path}/state'" in own
    elsewhere = Settings(console.url.replace("127.0.0.1", "localhost"), "own")
    assert "the operator" in _by_name(elsewhere)["token"].remedy


def test_installation_without_a_server_is_an_error_only_where_none_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_parts, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(_parts, "_PACKED", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("hyperflock._transport.settings.DEFAULT_URL", "http://127.0.0.1:9")
    assert _cli.run(["doctor", "--no-browser"]) == 1
    out, err = capsys.readouterr()
    assert "this installation has no server of its own" in out
    assert err.startswith("error [server_not_found]: this installation has no server")
    assert _cli.run(["doctor", "--no-browser", "--url", "http://127.0.0.1:9"]) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("path", "answer", "name", "state", "words"),
    [
        ("/healthz", (404, {}, b""), "server", "failed", "answered 404"),
        ("/readyz", (503, {}, b""), "server", "warning", "takes nothing in"),
        ("/healthz", (200, {}, b""), "clock", "skipped", "does not tell its time"),
        ("/healthz", (200, {"Date": "nonsense"}, b""), "clock", "skipped", "does not tell"),
        ("/healthz", (200, {"Date": formatdate(time.time() - 3600, usegmt=True)}, b""),
         "clock", "warning", "ahead of the server's"),
        ("/healthz", (200, {"Date": formatdate(time.time() + 3600, usegmt=True)}, b""),
         "clock", "warning", "behind the server's"),
        ("/api/me", (401, {}, b'{"error": {"code": "unauthorized", "message": "who?"}}'),
         "token", "failed", "who?"),
        ("/api/me", (200, {}, b'{"server": "9.0.0", "join_origin": "http://127.0.0.1:1"}'),
         "version", "warning", "9.0.0"),
        ("/api/me", (200, {}, b'{"server": "9.0.0", "join_origin": "http://127.0.0.1:1"}'),
         "join page", "failed", "does not answer"),
        ("/api/me", (200, {}, b'{"server": "9.0.0", "join_origin": "http://127.0.0.1:1"}'),
         "browser runs", "warning", "does not answer"),
        ("/api/me", (200, {}, b"{}"), "browser runs", "skipped", "without a token"),
        ("/local-run.json", (404, {}, b""), "browser runs", "warning", "has no page for trials"),
        ("/join", (404, {}, b""), "join page", "failed", "answered 404"),
        ("/join", (200, {}, b""), "join page", "failed", "is not isolated"),
    ],
)  # fmt: skip
def test_each_fault_has_its_line(
    console: Console, path: str, answer: Answer, name: str, state: str, words: str
) -> None:
    console.answers[path] = answer
    check = _by_name(Settings(console.url, "t"))[name]
    assert check.state == state, check
    assert words in check.found
    assert bool(check.remedy) == (state != "skipped")


def test_address_and_token_that_are_missing_or_wrong(console: Console) -> None:
    wrong = _by_name(Settings("ftp://x", "t"))
    assert list(wrong) == ["python", "packages", "address"]
    assert wrong["address"].state == "failed"
    away = _by_name(Settings("http://127.0.0.1:1", "t"))
    assert (away["server"].state, "hyperflock up" in away["server"].remedy) == ("failed", True)
    assert "token" not in away
    without = _by_name(Settings(console.url, ""))
    assert (without["token"].state, without["version"].state) == ("failed", "skipped")


def test_plain_http_to_another_machine_is_a_warning() -> None:
    check = _doctor._tls(_http.Origin.parse("http://flock.example.org"))
    assert (check.state, "in the clear" in check.found) == ("warning", True)
    for url in ("http://localhost:1", "http://[::1]:1", "http://127.9.9.9"):
        assert _doctor._tls(_http.Origin.parse(url)).state == "ok"


@pytest.fixture
def certificate(tmp_path: Path) -> Callable[[int], tuple[Path, ssl.SSLContext]]:
    """Return a function that makes a certificate for a number of days, with its own authority."""

    def make(days: int) -> tuple[Path, ssl.SSLContext]:
        import shutil
        import subprocess

        openssl = shutil.which("openssl")
        if openssl is None:
            pytest.skip("openssl makes the certificate, and is not here")
        pem, key = tmp_path / "cert.pem", tmp_path / "key.pem"
        subprocess.run(
            [
                *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
                *("-nodes", "-days", str(days), "-keyout", str(key), "-out", str(pem)),
                *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            ],
            check=True,
            capture_output=True,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        return pem, context

    return make


@pytest.fixture
def forget_authorities() -> Iterator[None]:
    _http._context.cache_clear()
    yield
    _http._context.cache_clear()


@pytest.mark.usefixtures("forget_authorities")
@pytest.mark.parametrize(("days", "state"), [(300, "ok"), (3, "warning")])
def test_certificate_and_its_time(
    certificate: Callable[[int], tuple[Path, ssl.SSLContext]],
    monkeypatch: pytest.MonkeyPatch,
    days: int,
    state: str,
) -> None:
    pem, context = certificate(days)
    console = Console(context)
    try:
        unknown = _by_name(Settings(console.url, "t"))
        assert (unknown["tls"].state, "HYPERFLOCK_CA" in unknown["tls"].remedy) == ("failed", True)
        assert unknown["server"].state == "failed"
        _http._context.cache_clear()
        monkeypatch.setenv("HYPERFLOCK_CA", str(pem))
        found = _by_name(Settings(console.url, "t"))
        assert (found["tls"].state, found["server"].state) == (state, "ok")
        assert f"good for {days - 1} days" in found["tls"].found or f"{days} days" in str(found)
        assert found["join page"].state == "ok"
    finally:
        console.close()


@pytest.mark.usefixtures("forget_authorities")
def test_wrong_authorities_are_told(
    console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "no.pem").write_text("no certificate")
    for name in ("no.pem", "none.pem"):
        monkeypatch.setenv("HYPERFLOCK_CA", str(tmp_path / name))
        check = _doctor._tls(_http.Origin.parse(f"https://127.0.0.1:{console.port}"))
        assert check.state == "failed"
        assert "is no PEM file of certificates" in check.found


FAKE_BROWSER = """#!{python}
import json, os, urllib.request
url = json.loads(os.read(3, 9999).rstrip(b"\\0"))["params"]["url"]
page = urllib.request.urlopen(url)
assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
assert b"requestAdapter" in page.read()
urllib.request.urlopen(url + "told", data=b"not JSON")
if {told!r}:
    urllib.request.urlopen(url + "told", data={told!r}.encode())
import time
time.sleep(60)
"""


def _fake_browser(folder: Path, told: object) -> str:
    path = folder / "browser"
    text = json.dumps(told) if told is not None else ""
    path.write_text(FAKE_BROWSER.format(python=sys.executable, told=text))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("told", "states"),
    [
        ({"isolated": True, "webassembly": True, "webgpu": "nvidia hopper", "software": False},
         {"browser": "ok", "webgpu": "ok"}),
        ({"isolated": True, "webassembly": True, "webgpu": "google swiftshader", "software": True},
         {"browser": "ok", "webgpu": "warning"}),
        ({"isolated": False, "webassembly": True, "webgpu": None},
         {"browser": "warning", "webgpu": "warning"}),
        (None, {"browser": "warning"}),
    ],
)  # fmt: skip
def test_browser_tells_what_it_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: object, states: dict[str, str]
) -> None:
    monkeypatch.setenv("HYPERFLOCK_BROWSER", _fake_browser(tmp_path, told))
    if told is None:
        waits = _browser.ask_browser
        monkeypatch.setattr(_browser, "ask_browser", lambda path: waits(path, 0.5))
    found = {check.name: check for check in _doctor._browsers()}
    assert {name: check.state for name, check in found.items()} == states
    assert all(check.remedy for check in found.values() if check.state == "warning")


def test_browser_that_ends_at_once_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "browser"
    path.write_text("#!/bin/sh\nexit 3\n")
    path.chmod(0o755)
    begun = time.monotonic()
    assert _browser.ask_browser(str(path), LIMIT_S) is None
    assert time.monotonic() - begun < LIMIT_S / 2


def test_why_a_browser_gives_no_adapter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = {"isolated": True, "webassembly": True, "webgpu": None, "error": "the GPU\x1b is gone"}
    monkeypatch.setenv("HYPERFLOCK_BROWSER", _fake_browser(tmp_path, told))
    found = {check.name: check.found for check in _doctor._browsers()}
    assert found["webgpu"] == "the browser gives no adapter: the GPU is gone"


def test_browser_that_is_not_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HYPERFLOCK_BROWSER", str(tmp_path / "none"))
    (check,) = _doctor._browsers()
    assert (check.state, "install Chromium" in check.remedy) == ("warning", True)
    monkeypatch.delenv("HYPERFLOCK_BROWSER")
    (tmp_path / "google-chrome").write_text("#!/bin/sh\n")
    (tmp_path / "google-chrome").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _browser.find_browser() == str(tmp_path / "google-chrome")


@pytest.mark.browser
def test_real_browser_opens_the_page() -> None:
    path = _browser.find_browser()
    assert path is not None
    told = _browser.ask_browser(path)
    assert told is not None
    assert (told["isolated"], told["webassembly"]) == (True, True)
    assert "webgpu" in told


@pytest.mark.server
def test_command_against_a_real_server(
    real: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    code = _cli.run(["doctor", "--no-browser", "--json"])
    told = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    # The test's server has no pages, so the join page is the only failure.
    assert [name for name, check in told.items() if check["state"] == "failed"] == ["join page"]
    assert code == 1
    assert told["clock"]["found"] == "the same as the server's"
    assert told["token"]["found"] == "researcher, researcher"
    assert _cli.run(["doctor", "--no-browser"]) == 1
    out = capsys.readouterr().out
    assert "failed   join page" in out
    assert "-> ./run build makes the pages" in out
    assert os.environ["HYPERFLOCK_TOKEN"] not in out
