"""Tests the checks that the command ``demo`` makes before it starts a server."""

from pathlib import Path

import pytest
from hyperflock._cli import command as _cli
from hyperflock._cli import demo as _demo
from hyperflock._local.engines import Engine
from hyperflock._local.parts import Parts
from hyperflock._local.server import LocalServer


def test_a_script_that_is_not_there_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[str] = []
    parts = Parts(tmp_path, tmp_path, tmp_path)
    monkeypatch.setattr(_demo, "find_parts", lambda *_: parts)
    monkeypatch.setattr(_demo, "find_engine", lambda *_: Engine("node", "node", "Node"))
    monkeypatch.setattr(LocalServer, "start", lambda *_: started.append("server"))
    monkeypatch.chdir(tmp_path)
    assert _cli.run(["demo", "nothing.py"]) == 1
    assert not started
    assert capsys.readouterr().err == "error [demo_missing]: 'nothing.py' is no file\n"
