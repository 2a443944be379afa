"""Tests `up` with volunteers and a link for phones: what it prints, watches and ends.

The tests with a mark run the real server, and programs that replace cloudflared and ngrok.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_tunnels import fake_edge, fake_tunnels
from hyperflock import Client
from hyperflock._cli import command as _cli
from hyperflock._cli.serving import Addresses
from hyperflock._local.server import LocalServer, Running
from hyperflock._local.share import Opened
from hyperflock._transport.background_loop import run
from hyperflock._transport.http import probe
from objectives import objective
from patience import LIMIT_S, until
from served import trials_done, use_build

ANY_PORTS = ("--compute", "127.0.0.1:0", "--console", "127.0.0.1:0")
FIRST = "https://words-number-1.trycloudflare.com"
SECOND = "https://words-number-2.trycloudflare.com"


class Up:
    """A process of `up`, with the lines that it has printed so far."""

    def __init__(self, *arguments: str) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hyperflock", "up", *ANY_PORTS, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )

    def read_until(self, words: str) -> str:
        """Read lines until one contains these words, and return that line."""
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            self.lines.append(line)
            if words in line:
                return line
            assert line, ("".join(self.lines), self.process.stderr and self.process.stderr.read())

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
        """Send a signal and return the exit code, all that was printed, and the errors."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, "".join(self.lines) + out, err

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a data folder, and provide a server with empty pages."""
    folder = tmp_path / "home"
    monkeypatch.setenv("HYPERFLOCK_HOME", str(folder))
    monkeypatch.setenv("HYPERFLOCK_SERVER", os.environ.get("HYPERFLOCK_TEST_SERVER_BIN", ""))
    for name in ("APP", "RUNTIME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"HYPERFLOCK_{name}", str(tmp_path / name))
    yield folder
    LocalServer(folder).stop()


def _processes_of(program: Path) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and str(program).encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


@pytest.mark.server
def test_tunnel_is_shown_followed_and_ended(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fake_tunnels(tmp_path, monkeypatch, "cloudflared")
    edges = contextlib.ExitStack()
    edge = edges.enter_context(fake_edge(place, tmp_path / "edge", monkeypatch, refuses=2))
    up = Up("--share")
    try:
        assert f"waiting until the server answers at {FIRST}" in up.read_until("\n")
        link = up.read_until("join link").split()[-1]
        assert link.startswith(f"{FIRST}/join#")
        # The link is shown only after an answer has come through the tunnel.
        assert edge.asked == [FIRST.removeprefix("https://")] * 3
        up.read_until(f"{FIRST}: whoever reaches that name")
        told = json.loads((home / "ready.json").read_text())
        assert told["compute"] == FIRST
        words = json.loads((place / "words").read_text())
        assert words[-1] == f"http://127.0.0.1:{told['compute_port']}"
        # The tunnel's program is killed; the next one has another address.
        (pid,) = _processes_of(place / "cloudflared")
        os.kill(pid, signal.SIGKILL)
        up.read_until("it is open again at a new address")
        assert f"{SECOND}/join#" in up.read_until("join link")
        up.read_until(f"{SECOND}: whoever reaches that name")
        again = json.loads((home / "ready.json").read_text())
        assert (again["compute"], again["compute_port"]) == (SECOND, told["compute_port"])
        # The new program is killed too, soon after its start.
        (pid,) = _processes_of(place / "cloudflared")
        os.kill(pid, signal.SIGKILL)
        said = up.read_until("warning [tunnel_failed]")
        assert "phones do not reach the server any more" in said
        assert LocalServer(home).running() is not None
        code, out, err = up.end()
    finally:
        up.kill()
        edges.close()
    assert (code, err) == (0, "")
    assert edge.asked[3:] == [SECOND.removeprefix("https://")]
    assert out.count("█") > 100  # QR codes
    assert LocalServer(home).running() is None
    assert _processes_of(place / "cloudflared") == []


@pytest.mark.server
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_tunnel_ends_with_its_server(
    number: signal.Signals, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fake_tunnels(tmp_path, monkeypatch, "ngrok")
    edges = contextlib.ExitStack()
    edges.enter_context(fake_edge(place, tmp_path / "edge", monkeypatch))
    up = Up("--share", "--json")
    try:
        up.read_until("fingerprint")
        up.read_until("}")
        told = json.loads("".join(up.lines))
        assert told["join_url"].startswith("https://one-and-the-same.ngrok-free.app/join#")
        assert (told["trust_page"], told["fingerprint"]) == (None, None)
        assert len(_processes_of(place / "ngrok")) == 1
        code, _, err = up.end(number)
    finally:
        up.kill()
        edges.close()
    assert (code, err) == (0, "")
    assert _processes_of(place / "ngrok") == []


def _is_there(pid: int) -> bool:
    """Return whether a process runs. A zombie counts as ended."""
    try:
        state = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.server
def test_server_and_tunnel_end_with_a_command_that_is_killed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fake_tunnels(tmp_path, monkeypatch, "cloudflared")
    up = Up("--share")
    try:
        up.read_until("waiting until the server answers")  # both run by then
        running = LocalServer(home).running()
        assert running is not None
        (tunnel,) = _processes_of(place / "cloudflared")
    finally:
        up.kill()
    until("the server's end", lambda: not _is_there(running.pid))
    until("the tunnel's end", lambda: not _is_there(tunnel))
    assert '"stdin_closed"' in (home / "server.log").read_text()


@pytest.mark.browser
def test_killed_demo_leaves_no_process(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_build(monkeypatch)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = tmp_path / "endless.py"
    script.write_text("import os, time\nprint(f'script {os.getpid()}')\ntime.sleep(1e6)\n")
    demo = subprocess.Popen(
        [sys.executable, "-m", "hyperflock", "demo", "--engine", "node", str(script)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    try:
        words: list[str] = []
        while not words or words[0] != "script":
            line = demo.stdout.readline()
            assert line
            words = line.split()
        (ready,) = tmp_path.glob("hyperflock-demo-*/home/ready.json")
        server = json.loads(ready.read_text())["pid"]
        volunteers = _children_of(demo.pid) - {server, int(words[1])}
        assert len(volunteers) == 2
    finally:
        demo.kill()
        demo.wait()
        demo.stdout.close()
    for pid in (server, int(words[1]), *volunteers):
        until(f"the end of {pid}", lambda: not _is_there(pid))  # noqa: B023


def _children_of(pid: int) -> set[int]:
    threads = (Path("/proc") / str(pid) / "task").glob("*/children")
    return {int(child) for thread in threads for child in thread.read_text().split()}


@pytest.mark.browser
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_demo_says_what_is_left(
    number: signal.Signals, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_build(monkeypatch)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = tmp_path / "endless.py"
    script.write_text("import time\nprint('script begun')\ntime.sleep(1e6)\n")
    demo = subprocess.Popen(
        [sys.executable, "-m", "hyperflock", "demo", "--engine", "node", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert demo.stdout is not None
    try:
        while "script begun" not in (line := demo.stdout.readline()):
            assert line
        os.killpg(demo.pid, number)  # as a terminal sends Ctrl-C to all of its processes
        _, err = demo.communicate(timeout=LIMIT_S)
    finally:
        demo.kill()
        demo.wait()
    note = "interrupted: the demo's server and volunteers have ended, and its data is removed"
    assert (demo.returncode, err) == (128 + number, f"\n{note}\n")
    assert list(tmp_path.glob("hyperflock-demo-*")) == []


@pytest.mark.server
def test_tunnel_through_which_nothing_answers_shows_no_link(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = fake_tunnels(tmp_path, monkeypatch, "cloudflared")
    monkeypatch.setattr("hyperflock._cli.serving.ANSWERS_S", 0.0)
    monkeypatch.setattr("hyperflock._cli.serving._SAY_S", 0.0)
    with fake_edge(place, tmp_path / "edge", monkeypatch, refuses=1_000_000):
        code = _cli.run(["up", "--share", *ANY_PORTS])
    out, err = capsys.readouterr()
    assert code == 1
    assert out == f"waiting until the server answers at {FIRST} (some seconds)\n"
    assert err.startswith(
        f"error [tunnel_failed]: the server does not answer at {FIRST} after 0 s: "
    )
    assert "502 no such host" in err
    assert LocalServer(home).running() is None
    assert _processes_of(place / "cloudflared") == []


@pytest.mark.server
def test_refused_tunnel_starts_no_server(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake_tunnels(tmp_path, monkeypatch, "ngrok")
    monkeypatch.setenv("FAKE_TUNNEL", "refused")
    code = _cli.run(["up", "--share", *ANY_PORTS])
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith("error [tunnel_failed]: ngrok makes no tunnel: it ended with status 1: ")
    assert LocalServer(home).running() is None


@pytest.mark.server
def test_port_that_is_taken_ends_the_tunnel_too(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = fake_tunnels(tmp_path, monkeypatch, "cloudflared")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        code = _cli.run(["up", "--share", "--compute", at, "--console", "127.0.0.1:0"])
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith("error [server_failed]: the server did not start: ")
    assert _processes_of(place / "cloudflared") == []


@pytest.mark.server
def test_network_is_shared_by_a_certificate_of_this_machine(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second address of loopback stands for the network. A sitecustomize module sets it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import hyperflock._local.share as s\ns._in_network = lambda found: ['127.0.0.2']\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    up = Up("--share")
    try:
        link = up.read_until("join link").split()[-1]
        page = up.read_until("http://").strip()
        up.read_until("fingerprint")
        fingerprint = up.read_until(":").strip()
        up.read_until("127.0.0.2")
        with urllib.request.urlopen(page) as answer:
            assert fingerprint[:11] in answer.read().decode()
        trusting = ssl.create_default_context(cafile=str(home / "authority" / "ca.pem"))
        origin = link.partition("/join#")[0]
        assert origin.startswith("https://127.0.0.2:")
        with urllib.request.urlopen(f"{origin}/healthz", context=trusting) as answer:
            assert answer.status == 200
        # Scripts and commands of this machine trust the authority, for this server alone.
        with Client() as client:
            assert client.url.startswith("https://127.0.0.1:")
            assert client.studies() == []
        assert run(probe(f"{origin}/healthz")).status == 200
        code, out, err = up.end()
    finally:
        up.kill()
    assert (code, err) == (0, "")
    assert "No phone computes" not in out
    assert (home / "authority" / "ca-key.pem").stat().st_mode & 0o777 == 0o600


@pytest.mark.server
def test_machine_without_any_way_says_what_is_missing(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("hyperflock._local.share.has_cryptography", lambda: False)
    assert _cli.run(["up", "--share", "--detach", *ANY_PORTS]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "neither cloudflared nor ngrok is on PATH" in out
    assert "pip install 'hyperflock[share]'" in out
    code = _cli.run(["up", "--share", "--share-by", "lan", "--folder", str(tmp_path / "other")])
    assert (code, capsys.readouterr().err[:22]) == (1, "error [cannot_share]: ")


@pytest.mark.server
def test_detached_server_keeps_its_tunnel_until_down(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    place = fake_tunnels(tmp_path, monkeypatch, "cloudflared")
    with fake_edge(place, tmp_path / "edge", monkeypatch):
        assert _cli.run(["up", "--share", "--detach", "--json", *ANY_PORTS]) == 0
    told: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert told["join_url"].startswith(f"{FIRST}/join#")
    assert len(_processes_of(place / "cloudflared")) == 1
    assert _cli.run(["down"]) == 0
    until("the tunnel's end", lambda: _processes_of(place / "cloudflared") == [])
    # The command in the foreground prints what goes wrong in the background process.
    monkeypatch.setenv("FAKE_TUNNEL", "refused")
    assert _cli.run(["up", "--share", "--detach", *ANY_PORTS]) == 1
    err = capfd.readouterr().err
    assert err.endswith("(its log: " + str(home / "tunnel.log") + ")\n")
    assert "error [tunnel_failed]: cloudflared makes no tunnel" in err


@pytest.mark.browser
def test_volunteers_compute_until_the_server_ends(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    use_build(monkeypatch)
    options = ["--volunteers", "2", "--engine", "node", "--detach"]
    assert _cli.run(["up", *options, *ANY_PORTS]) == 0
    with Client() as client:
        study = client.grid(objective, {"x": [1.0, 2.0, 3.0]})
        study.wait(timeout_s=LIMIT_S)
        assert [trial.value for trial in study.trials] == [1.0, 2.0, 3.0]
    log = home / "up.log"
    # A volunteer counts a trial when it hears that its result is stored.
    until("the volunteers' counts", lambda: trials_done(log.read_text()) == 3)
    assert _cli.run(["down"]) == 0
    until("the volunteers' end", lambda: log.read_text().count("has ended") == 2)
    assert trials_done(log.read_text()) == 3


def test_no_volunteer_engine_is_told_before_a_server_starts(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    binary = tmp_path / "hyperflock-server"
    binary.write_text("#!/bin/sh\nexit 3\n")
    monkeypatch.setenv("HYPERFLOCK_SERVER", str(binary))
    monkeypatch.setenv("HYPERFLOCK_NODE", str(tmp_path / "none"))
    assert _cli.run(["up", "--volunteers", "1", "--engine", "node"]) == 1
    assert capsys.readouterr().err.startswith("error [no_volunteer_engine]: nothing on this")


def test_addresses_of_up_become_options_of_the_server() -> None:
    addresses = Addresses(
        "localhost:80", "127.0.0.1:90", "https://a.example", "c.pem", "k.pem", True
    )
    running = Running(1, 80, "https://a.example", "http://127.0.0.1:90")
    assert addresses.options(None) == [
        *("--compute", "localhost:80", "--console", "127.0.0.1:90"),
        *("--public-url", "https://a.example", "--tls-cert", "c.pem", "--tls-key", "k.pem"),
        "--insecure",
    ]
    assert addresses.from_here(running, None) == ("https://a.example", None)
    plain = Addresses("127.0.0.1:80", "127.0.0.1:90")
    tunnel = Opened("https://t.example", ["--public-url", "https://t.example"])
    assert plain.options(tunnel)[:4] == ["--compute", "127.0.0.1:80", "--console", "127.0.0.1:90"]
    assert plain.from_here(running, tunnel) == ("http://127.0.0.1:80", None)
    network = Opened("https://192.168.1.2:80", [], "0.0.0.0", authority=Path("ca.pem"))
    assert plain.options(network)[1] == "0.0.0.0:80"
    assert plain.from_here(running, network) == ("https://127.0.0.1:80", Path("ca.pem"))
    assert plain.reached(running, network)[0].phones
