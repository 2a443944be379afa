"""Tests the owner link to a server that does not answer: it does not hang, and gives up in time."""

from __future__ import annotations

import socket
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hyperflock._transport import owner_link, websocket
from hyperflock._transport.http import Http, Origin
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


def test_end_of_a_study_is_not_awaited_without_a_connection() -> None:
    sent = []
    link = SimpleNamespace(is_up=True)

    def lose_connection(wait_s: float) -> None:
        assert link.is_up
        link.is_up = False

    link.next = lose_connection
    loop = SimpleNamespace(_link=link, _reply=lambda *, finish: sent.append(finish))
    begun = time.monotonic()
    run.Run._finish(cast(Any, loop))
    assert sent == [True]
    assert time.monotonic() - begun < run._FINISH_S / 2
