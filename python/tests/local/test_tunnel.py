"""Tests tunnels with programs that print the same as cloudflared and ngrok."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from fake_tunnels import fake_tunnels
from hyperflock import HyperflockError
from hyperflock._local.share import NO_WAY, LanWay, TunnelWay, find_way
from hyperflock._local.tunnel import Program, Tunnel, find_tunnel
from patience import LIMIT_S, until

FIRST = "https://words-number-1.trycloudflare.com"
SECOND = "https://words-number-2.trycloudflare.com"
NGROK = "https://one-and-the-same.ngrok-free.app"


def _kill(tunnel: Tunnel) -> None:
    assert tunnel._process is not None
    os.kill(tunnel._process.pid, signal.SIGKILL)
    until("the end of the tunnel", lambda: tunnel.problem() is not None)


def _made(name: str, folder: Path) -> Tunnel:
    program = find_tunnel(name)
    assert program is not None
    return Tunnel(program, 8780, folder, start_s=LIMIT_S)


@pytest.mark.parametrize(
    ("name", "origin", "words"),
    [
        ("cloudflared", FIRST, ["--no-autoupdate", "--url", "http://127.0.0.1:8780"]),
        ("ngrok", NGROK, ["--log", "stdout", "--log-format", "json"]),
    ],
)
def test_public_address_is_read_and_the_program_ends_with_the_tunnel(
    name: str, origin: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fake_tunnels(tmp_path, monkeypatch)
    tunnel = _made(name, tmp_path)
    assert tunnel.start() == origin
    assert tunnel.problem() is None
    told = json.loads((place / "words").read_text())
    assert told[-len(words) :] == words
    assert "http://127.0.0.1:8780" in told
    if name == "cloudflared":
        # The user's own settings would send the tunnel to another server.
        config = Path(told[told.index("--config") + 1])
        assert config.parent == tmp_path
        assert config.read_text().startswith("#")
    process = tunnel._process
    assert process is not None
    tunnel.stop()
    assert process.returncode == -signal.SIGTERM
    assert origin in (tmp_path / "tunnel.log").read_text()
    tunnel.stop()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("cloudflared", "no such host"),
        ("ngrok", "Usage of ngrok requires a verified account and authtoken."),
    ],
)
def test_refused_tunnel_is_an_error_with_the_programs_words(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tunnels(tmp_path, monkeypatch)
    monkeypatch.setenv("FAKE_TUNNEL", "refused")
    tunnel = _made(name, tmp_path)
    with pytest.raises(HyperflockError, match=why) as caught:
        tunnel.start()
    assert caught.value.code == "tunnel_failed"
    assert "\n" not in caught.value.message
    assert tunnel._process is None


def test_tunnel_without_an_address_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tunnels(tmp_path, monkeypatch)
    monkeypatch.setenv("FAKE_TUNNEL", "silent")
    program = find_tunnel("cloudflared")
    assert program is not None
    tunnel = Tunnel(program, 8780, tmp_path, start_s=0)
    with pytest.raises(HyperflockError, match="it got no address in 0 s"):
        tunnel.start()
    assert tunnel._process is None


def test_program_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ngrok").write_bytes(b"\x7fELF and nothing more")
    (tmp_path / "ngrok").chmod(0o755)
    tunnel = Tunnel(Program("ngrok", str(tmp_path / "ngrok")), 8780, tmp_path)
    with pytest.raises(HyperflockError, match="ngrok makes no tunnel") as caught:
        tunnel.start()
    assert caught.value.code == "tunnel_failed"


def test_closed_tunnel_is_opened_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tunnels(tmp_path, monkeypatch, "cloudflared")
    clock = [0.0]
    way = TunnelWay(lambda _, folder: _made("cloudflared", folder), lambda: clock[0])
    assert way.open(8780, tmp_path).options == ["--public-url", FIRST]
    assert way.check() is None
    assert way._tunnel is not None
    _kill(way._tunnel)
    change = way.check()
    assert change is not None
    assert change.opened is not None
    assert (change.opened.origin, change.is_lost) == (SECOND, False)
    assert change.text == (
        "the tunnel of cloudflared is closed (it ended with status -9: it gave no reason); "
        "it is open again at a new address"
    )
    assert way.check() is None
    # The tunnel was open for a long time, so it is restarted once more.
    clock[0] = 601.0
    _kill(way._tunnel)
    change = way.check()
    assert change is not None
    assert change.opened is not None
    clock[0] = 700.0
    _kill(way._tunnel)
    change = way.check()
    assert change is not None
    assert (change.opened, change.is_lost) == (None, True)
    assert change.text.endswith("; phones do not reach the server any more")
    assert way.check() is None
    way.close()


def test_tunnel_that_cannot_be_opened_again_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tunnels(tmp_path, monkeypatch, "ngrok")
    way = TunnelWay(lambda _, folder: _made("ngrok", folder))
    assert way.open(8780, tmp_path).origin == NGROK
    assert way._tunnel is not None
    _kill(way._tunnel)
    change = way.check()
    assert change is not None
    # The server does not have to start again if the address is the same.
    assert (change.opened, change.is_lost) == (None, False)
    assert change.text.endswith("it is open again at the same address")
    way.close()
    way = TunnelWay(lambda _, folder: _made("ngrok", folder))
    way.open(8780, tmp_path)
    assert way._tunnel is not None
    monkeypatch.setenv("FAKE_TUNNEL", "refused")
    _kill(way._tunnel)
    change = way.check()
    assert change is not None
    assert change.is_lost
    assert "Usage of ngrok requires a verified account" in change.text


def test_way_is_a_tunnel_or_else_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperflock._local.share.has_cryptography", lambda: True)
    place = fake_tunnels(tmp_path, monkeypatch)
    way = find_way(None)
    assert isinstance(way, TunnelWay)
    assert way._make(1, tmp_path).name == "cloudflared"
    assert isinstance(find_way("lan"), LanWay)
    (place / "cloudflared").unlink()
    way = find_way(None)
    assert isinstance(way, TunnelWay)
    assert way._make(1, tmp_path).name == "ngrok"
    (place / "ngrok").unlink()
    assert isinstance(find_way(None), LanWay)
    monkeypatch.setattr("hyperflock._local.share.has_cryptography", lambda: False)
    assert find_way(None) is None
    assert "cloudflared" in NO_WAY
    assert "hyperflock[share]" in NO_WAY
    for name, why in (("ngrok", "ngrok is not on PATH"), ("lan", r"hyperflock\[share\]")):
        with pytest.raises(HyperflockError, match=why) as caught:
            find_way(name)
        assert caught.value.code == "cannot_share"
