"""Tests the owner link to a server that does not answer: it does not hang, and gives up in time."""

from __future__ import annotations

import socket
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hyperflock._transport import owner_link, websocket
from hyperflock._transport.http import Http, Origin
from hyperflock._transport.messages import ErrorMessage, OwnerCall
from hyperflock._transport.owner_link import OwnerLink
from hyperflock.optuna.owner import run
from patience import LIMIT_S


def test_closing_without_a_connection_does_not_wait_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner_link, "_CLOSE_S", LIMIT_S)
    monkeypatch.setattr(websocket, "OPEN_S", LIMIT_S)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LIMIT_S)
        origin = Origin(f"http://127.0.0.1:{server.getsockname()[1]}")
        link = OwnerLink(Http(origin, "token"), study=1, label="test")
        with server.accept()[0]:  # accepts the connection and never answers
            assert not link.is_up
            begun = time.monotonic()
            link.close()
            assert time.monotonic() - begun < LIMIT_S / 2


def test_end_of_a_study_is_sent_again_on_the_next_connection() -> None:
    sent: list[int] = []
    items: list[Any] = [None, OwnerCall(1, 2, 0, 0, []), ErrorMessage("study_stopped", "It ended.")]
    loop = SimpleNamespace(_generation=1, _taken=5)
    loop._link = SimpleNamespace(next=lambda wait_s: items.pop(0))
    loop._reply = lambda *, finish: sent.append(loop._generation)
    run.Run._finish(cast(Any, loop))
    assert sent == [1, 2]
    assert loop._taken == 0
    assert not items


def test_end_of_a_study_is_not_awaited_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bool] = []
    monkeypatch.setattr(run, "_FINISH_S", 0.01)
    link = SimpleNamespace(next=lambda wait_s: time.sleep(wait_s))
    loop = SimpleNamespace(_link=link, _reply=lambda *, finish: sent.append(finish))
    run.Run._finish(cast(Any, loop))
    assert sent == [True]
