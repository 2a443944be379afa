"""Tests a local server: it is started, found by the other commands, shared and stopped, and its
failures are reported.

The tests of ``up`` and related commands run the real server (marked ``server``); others need none.
"""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hyperflock import Client, HyperflockError
from hyperflock._cli import command as _cli
from hyperflock._cli import qr as _qr
from hyperflock._local import addresses as _addresses
from hyperflock._local import parts as _parts
from hyperflock._local import server as _up
from hyperflock._local.share import _in_network
from hyperflock._transport.settings import settings
from objectives import objective
from patience import LIMIT_S, until

ANY_PORTS = ("--compute", "127.0.0.1:0", "--console", "127.0.0.1:0")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a data folder with everything that `up` needs, and stop its server after the test."""
    folder = tmp_path / "home"
    monkeypatch.setenv("HYPERFLOCK_HOME", str(folder))
    monkeypatch.setenv("HYPERFLOCK_SERVER", os.environ.get("HYPERFLOCK_TEST_SERVER_BIN", ""))
    for name in ("APP", "RUNTIME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"HYPERFLOCK_{name}", str(tmp_path / name))
    yield folder
    _up.LocalServer(folder).stop()


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = _cli.run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.server
def test_server_is_up_used_by_scripts_and_down(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = _run(capsys, "up", "--detach", "--json", *ANY_PORTS)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["join_url"].startswith(f"{told['compute']}/join#")
    assert (told["folder"], told["token"]) == (str(home), None)
    assert home.stat().st_mode & 0o077 == 0
    token = json.loads((home / "credentials.json").read_text())["researcher_token"]
    assert token not in (home / "server.log").read_text()
    # Address and token come from the folder. For another server's address this token is not used.
    assert (settings(None, None).url, settings(None, None).token) == (told["console"], token)
    assert settings("http://127.0.0.1:1", None).token == ""
    with Client() as client:
        study = client.grid(objective, {"x": [1]})
        assert client.server()["server"]
    code, out, err = _run(capsys, "up", "--detach", *ANY_PORTS)
    assert (code, out, err[:28]) == (1, "", "error [server_already_up]: a")
    code, out, _ = _run(capsys, "status", "--json")
    told_status = json.loads(out)
    assert (code, told_status["pid"], told_status["here"]) == (0, told["pid"], True)
    assert told_status["studies"] == {"running": 1, "finished": 0, "cancelled": 0}
    assert told_status["devices"] == {"connected": 0, "computing": 0}
    code, out, _ = _run(capsys, "status")
    assert f"process {told['pid']} of this machine" in out
    assert _run(capsys, "down", "--json")[:2] == (0, '{\n  "stopped": true\n}\n')
    assert not _up._is_server(told["pid"])
    assert _run(capsys, "down")[:2] == (0, "no server is up here\n")
    code, out, err = _run(capsys, "studies")
    assert (code, out) == (_cli.EXIT_UNREACHABLE, "")
    assert err.startswith("error [server_unreachable]: no server runs on this machine: start one")
    # A server that is started again has its earlier data.
    assert _run(capsys, "up", "--detach", *ANY_PORTS)[0] == 0
    with Client() as client:
        assert [s.id for s in client.studies()] == [study.id]


@pytest.mark.server
def test_rotated_token_takes_the_place_of_the_old_one(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _run(capsys, "up", "--detach", *ANY_PORTS)[0] == 0
    file = home / "credentials.json"
    first = json.loads(file.read_text())
    code, out, err = _run(capsys, "tokens", "--rotate", "--grace-hours", "0")
    second = json.loads(file.read_text())
    assert (code, out) == (0, second["researcher_token"] + "\n")
    assert err == f"'{file}' has it now: the other commands here go on by it\n"
    assert second == {**first, "researcher_token": out.strip()} != first
    assert file.stat().st_mode & 0o777 == 0o600
    assert _run(capsys, "studies", "--json")[:2] == (0, "[]\n")
    # HYPERFLOCK_TOKEN is now the administrator's token, which is in the file too.
    monkeypatch.setenv("HYPERFLOCK_TOKEN", second["admin_token"])
    code, out, err = _run(capsys, "tokens", "--rotate", "--grace-hours", "1.5", "--json")
    third = json.loads(file.read_text())
    assert json.loads(out) == {"token": third["admin_token"], "file": str(file)}
    assert third == {**second, "admin_token": third["admin_token"]} != second
    assert "set the new one there; the old one opens for 1.5 h more" in err
    assert not [path for path in home.iterdir() if path.name.startswith(".")]
    # The server reads the file at its next start.
    assert _run(capsys, "down")[0] == 0
    monkeypatch.delenv("HYPERFLOCK_TOKEN")
    assert _run(capsys, "up", "--detach", *ANY_PORTS)[0] == 0
    assert _run(capsys, "studies", "--json")[:2] == (0, "[]\n")


@pytest.mark.server
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_server_and_command_in_order(home: Path, number: signal.Signals) -> None:
    was = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the command inherits ignored signals
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperflock", "up", "--show-token", *ANY_PORTS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    signal.signal(signal.SIGHUP, was)
    try:
        assert process.stdout is not None
        shown = ""
        while "data  " not in shown:
            line = process.stdout.readline()
            assert line, process.stderr and process.stderr.read()
            shown += line
        running = _up.LocalServer(home).running()
        assert running is not None
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (0, "")
    assert "the server has ended" in out
    assert not _up._is_server(running.pid)
    assert not (home / "ready.json").exists()
    told = json.loads((home / "credentials.json").read_text())
    link = f"{running.compute}/join#{told['enrolment_code']}"
    assert f"join link  {link}\n" in shown
    assert told["researcher_token"] in shown


@pytest.mark.server
def test_down_ends_the_server_of_another_terminal(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(self: _up.LocalServer, limit_s: float) -> int | None:
        assert _up.LocalServer(home).stop() is True
        return wait(self, limit_s)

    wait = _up.LocalServer.wait
    monkeypatch.setattr(_up.LocalServer, "wait", ended)
    code, out, err = _run(capsys, "up", *ANY_PORTS)
    assert (code, err) == (0, "")
    assert out.endswith("the server was ended; studies and results are kept\n")


@pytest.mark.server
def test_public_url_is_what_is_shared(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "https://flock.example.org"
    code, out, _ = _run(
        capsys, "up", "--detach", "--json", "--public-url", url, *ANY_PORTS, "--show-token"
    )
    told = json.loads(out)
    assert code == 0
    assert told["join_url"].startswith(f"{url}/join#")
    assert told["token"].startswith("hfr_")
    first, second = told["addresses"]
    assert (first["origin"], first["phones"], second["phones"]) == (url, True, False)
    assert second["origin"].startswith("http://127.0.0.1:")
    assert told["compute"] == url


@pytest.mark.server
def test_server_that_cannot_start_tells_why(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        code, out, err = _run(capsys, "up", "--compute", at, "--console", "127.0.0.1:0")
    assert (code, out) == (1, "")
    assert err.startswith("error [server_failed]: the server did not start: ")
    assert at in err or "use" in err
    assert _up.LocalServer(home).running() is None


@pytest.mark.server
def test_server_that_ends_by_itself_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(self: _up.LocalServer, limit_s: float) -> int | None:
        if (running := self.running()) is not None:
            os.kill(running.pid, signal.SIGKILL)
        return wait(self, limit_s)

    wait = _up.LocalServer.wait
    monkeypatch.setattr(_up.LocalServer, "wait", killed)
    code, _, err = _run(capsys, "up", *ANY_PORTS)
    assert code == 1
    assert err.startswith("error [server_failed]: the server ended by itself with status -9")


def test_missing_parts_are_told_with_what_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_parts, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(_parts, "_PACKED", tmp_path / "packed")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HyperflockError, match=r"wheel .* '\./run build'") as none:
        _parts.find_parts(None, None, None)
    with pytest.raises(HyperflockError, match="is no file") as wrong:
        _parts.find_parts(str(tmp_path / "nothing"), None, None)
    binary = tmp_path / "deep" / "er" / "bin" / "hyperflock-server"
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    with pytest.raises(HyperflockError, match="web folder is not here") as pages:
        _parts.find_parts(str(binary), None, None)
    assert {e.value.code for e in (none, wrong, pages)} == {"server_not_found"}
    # First the server is on PATH, in the layout of a container image. Then there is also a build in
    # the checkout, which is used instead.
    for name in ("web", "runtime"):
        (tmp_path / "deep" / "er" / "share" / "hyperflock" / name).mkdir(parents=True)
    monkeypatch.setenv("PATH", str(binary.parent))
    parts = _parts.find_parts(None, None, None)
    assert parts.server == binary
    assert parts.app == tmp_path / "deep" / "er" / "share" / "hyperflock" / "web"
    built = tmp_path / "build" / "release" / "bin" / "hyperflock-server"
    built.parent.mkdir(parents=True)
    built.write_text("")
    for name in ("web", "runtime"):
        (tmp_path / "build" / name).mkdir()
    assert _parts.find_parts(None, None, None) == _parts.Parts(
        built, tmp_path / "build" / "web", tmp_path / "build" / "runtime"
    )


def test_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    local = _up.LocalServer(tmp_path / "file" / "inside")
    with pytest.raises(HyperflockError) as caught:
        local.start(_parts.Parts(tmp_path, tmp_path, tmp_path), [])
    assert caught.value.code == "cannot_write"


def test_process_of_another_program_is_left_alone(tmp_path: Path) -> None:
    """The process id in an old file may belong to another program by now."""
    ready = {"pid": os.getpid(), "compute_port": 1, "compute": "http://a", "console": "http://b"}
    (tmp_path / "ready.json").write_text(json.dumps(ready))
    local = _up.LocalServer(tmp_path)
    assert local.running() is None
    assert local.stop() is False
    for text in ("{", "[]", '{"pid": "x"}', "{}"):
        (tmp_path / "ready.json").write_text(text)
        assert local.running() is None


def test_addresses_say_who_reaches_them_and_whether_phones_compute() -> None:
    mine = ["127.0.0.1", "192.168.1.20", "2001:db8::5", "203.0.113.9"]

    def told(scheme: str, port: int, bound: str, url: str | None = None) -> list[tuple[Any, ...]]:
        found = _addresses.reaches(scheme, port, bound=bound, public_url=url, addresses=mine)
        return [(r.origin, r.who, r.phones) for r in found]

    assert told("http", 8780, "127.0.0.1") == [
        ("http://127.0.0.1:8780", "this machine only", False)
    ]
    # 203.0.113.9 is an address for documentation, and such addresses count as private.
    assert told("http", 80, "0.0.0.0") == [
        ("http://192.168.1.20:80", "devices in the same network", False),
        ("http://203.0.113.9:80", "devices in the same network", False),
        ("http://127.0.0.1:80", "this machine only", False),
    ]
    assert ("https://[2001:db8::5]:443", "devices in the same network", True) in told(
        "https", 443, "::"
    )
    assert told("https", 443, "8.8.8.8") == [("https://8.8.8.8:443", "everyone", True)]
    assert told("http", 1, "127.0.0.1", "https://a.example/")[0] == (
        "https://a.example",
        "whoever reaches that name",
        True,
    )
    assert told("http", 1, "127.0.0.1", "http://a.example")[0][2] is False


def test_local_addresses_are_addresses() -> None:
    found = _addresses.local_addresses()
    assert "127.0.0.1" in found
    for address in found:
        assert not ipaddress.ip_address(address).is_link_local


def test_address_of_the_outgoing_route_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first address is that of the outgoing route, and links for phones name it. The address of
    a container's network comes last.
    """
    named = [(0, 0, 0, "", (ip, 0)) for ip in ("172.17.0.1", "10.0.0.7", "192.168.1.20")]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_: named)

    class Route:
        def __init__(self, family: int, kind: int) -> None:
            if family != socket.AF_INET:
                raise OSError

        def __enter__(self) -> Route:
            return self

        def __exit__(self, *_: object) -> None: ...

        def connect(self, target: object) -> None: ...

        def getsockname(self) -> tuple[str, int]:
            return ("192.168.1.20", 9)

    monkeypatch.setattr("socket.socket", Route)
    found = _addresses.local_addresses()
    assert found == ["192.168.1.20", "10.0.0.7", "127.0.0.1", "172.17.0.1"]
    assert _in_network(found)[0] == "192.168.1.20"


def test_qr_code_is_square_dark_on_light_and_has_its_quiet_zone() -> None:
    lines = _qr.terminal_qr("https://flock.example.org/join#abcdef").split("\n")
    rows: list[list[int]] = []
    for line in lines:
        assert line.startswith("\x1b[30;107m")
        assert line.endswith("\x1b[0m")
        drawn = line.removeprefix("\x1b[30;107m").removesuffix("\x1b[0m")
        rows.append([c in "▀█" for c in drawn])
        rows.append([c in "▄█" for c in drawn])
    size = len(rows[0])
    assert all(len(row) == size for row in rows)
    assert len(rows) - size in {0, 1}
    assert not any(any(row) for row in (*rows[:4], *rows[size - 4 :]))
    assert not any(row[column] for row in rows for column in (*range(4), *range(size - 4, size)))
    finder = [
        *(0b1111111, 0b1000001, 0b1011101, 0b1011101, 0b1011101, 0b1000001, 0b1111111),
    ]
    seen = [int("".join(str(int(m)) for m in row[4:11]), 2) for row in rows[4:11]]
    assert seen == finder


def test_time_passes_between_a_process_and_its_end() -> None:
    """A process that has ended, but whose parent has not waited for it, is not a running server."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    stat = Path(f"/proc/{process.pid}/stat")
    until("its end", lambda: "Z" in stat.read_text().rpartition(")")[2].split()[0])
    assert not _up._is_server(process.pid)
    process.wait()
