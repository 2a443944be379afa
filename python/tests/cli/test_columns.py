"""Tests tables: a terminal of 80 columns shows one line per row; other outputs get the full
values.
"""

from __future__ import annotations

import io
import json
import re
import sys
from typing import Any

import pytest
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._cli import command as _cli
from hyperflock._cli.columns import Fit, fitted, middle
from objectives import objective
from rich.cells import cell_len

UNNAMED = "no-name-3bc88ab5-9534-41ec-89ac-3b98c0eabea2"
DEVICE = {
    "device": "d_zDYMZ0Rp61cTWh3",
    "class": "desktop",
    "engine": "chromium 156",
    "backend": "numpy",
}


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _settings(server: FakeConsole, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", server.url)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)
    space: dict[str, Any] = {"learning_rate": [0.001, 0.01], "width": [64, 128]}
    study = client.grid(objective, space, name=UNNAMED)
    for number in range(3):
        server.finish(study.id, number, value=0.123456789, device=DEVICE)


def _shown(monkeypatch: pytest.MonkeyPatch, width: int, *arguments: str) -> list[str]:
    screen = _Screen()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", screen)
        patched.setenv("COLUMNS", str(width))
        patched.setenv("TERM", "xterm")
        assert _cli.run(list(arguments)) == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue()).splitlines()
    assert all(cell_len(line.rstrip()) <= width for line in lines)
    return [line.rstrip() for line in lines]


def test_a_trial_takes_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = _shown(monkeypatch, 80, "trials", "1")
    assert lines[0].split() == ["number", "params", "value", "run", "s", "device"]
    assert lines[1].split() == [
        *("0*", "learning_rate=0.001", "width=64", "0.123457", "0.9"),
        *("desktop", "chromium", "156"),
    ]
    assert len(lines) == 4
    wide = _shown(monkeypatch, 120, "trials", "1")
    assert wide[0].split()[-3:] == ["attempts", "device", "note"]


def test_a_trial_that_failed_says_why_in_its_line(
    server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = {"cause": "user_error", "code": "objective_raised", "message": "no " * 99}
    server.finish(1, 3, "failed", device=DEVICE, error={**error, "traceback": ""})
    lines = _shown(monkeypatch, 80, "trials", "1")
    assert len(lines) == 5
    assert "  [objective_raised] no no" in lines[4]
    assert lines[4].endswith("…")


def test_a_study_takes_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = _shown(monkeypatch, 80, "studies")
    heads = ["id", "name", "state", "done", "failed", "best", "created"]
    assert (len(lines), lines[0].split()) == (2, heads)
    name = lines[1].split()[1]
    assert name.startswith("no-name-")
    assert name.endswith("eabea2")
    assert "…" in name
    narrow = _shown(monkeypatch, 50, "studies")
    assert (len(narrow), narrow[0].split()) == (2, ["id", "name", "state", "done", "best"])
    assert UNNAMED in _shown(monkeypatch, 140, "studies")[1]


def test_files_of_trials_take_one_line_each(
    server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = server.keep(1, 0, "a name of a file that is rather long.npz", b"content")
    lines = _shown(monkeypatch, 80, "artifacts", "1")
    assert (len(lines), lines[0].split()) == (2, ["trial", "name", "bytes", "artifact"])
    assert lines[1].endswith(identity)
    assert ".npz " in lines[1]


def test_watched_trials_name_no_device_in_a_terminal(
    server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.finish(1, 3, value=0.5, device=DEVICE)
    shown = "\n".join(_shown(monkeypatch, 120, "watch", "1"))
    assert "desktop chromium 156" in shown
    assert "d_zDYMZ0Rp61cTWh3" not in shown


def test_values_are_whole_where_no_terminal_shows_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert _cli.run(["studies"]) == 0
    assert UNNAMED in capsys.readouterr().out
    assert _cli.run(["trials", "1"]) == 0
    out = capsys.readouterr().out
    assert "d_zDYMZ0Rp61cTWh3 desktop chromium 156 numpy" in out
    assert "attempts" in out


def test_nothing_is_cut_or_left_out_where_there_is_room() -> None:
    names, rows = ["name", "note"], [["a" * 10, ""], ["b", ""]]
    fit = Fit({"name": 3}, ["note"])
    assert fitted(names, rows, 16, fit) == (names, rows)
    assert fitted(names, rows, 15, fit) == (["name"], [["a" * 10], ["b"]])
    assert fitted(names, rows, 5, fit) == (["name"], [["aa…aa"], ["b"]])
    assert fitted(names, [], 5, fit) == (["name"], [])


def test_wide_characters_take_two_cells() -> None:
    text = "数" * 10
    assert [cell_len(middle(text, width)) for width in (20, 19, 9, 8)] == [20, 19, 9, 7]
    assert middle(text, 9) == "数数…数数"


LONG = "a text that is much longer than a line of a terminal, " * 4 + "and this is its end"
VALUE = 0.12345678901234567


@pytest.fixture
def long_study(server: FakeConsole, client: Client) -> str:
    """Return a study in which every text is long and every list has many entries."""
    space: dict[str, Any] = {"layers": [f"{LONG} {n}" for n in range(30)]}
    study = client.grid(objective, space, name=LONG)
    device = {"device": f"d_{LONG}", "class": LONG, "engine": LONG, "backend": LONG}
    server.finish(
        study.id,
        0,
        value=VALUE,
        device=device,
        points=[[step, VALUE + step] for step in range(40)],
        attrs=json.dumps({"user": {LONG: LONG}}),
    )
    error = {"cause": "user_error", "code": "objective_raised", "message": LONG, "traceback": LONG}
    server.finish(study.id, 1, "failed", device=device, error=error)
    server.keep(study.id, 0, LONG, b"content")
    return str(study.id)


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("studies", [LONG, repr(VALUE)]),
        ("show ID", [f"'{LONG}'", f"{LONG} 29", repr(VALUE)]),
        (
            "show ID 0",
            [f"layers={LONG} 0", repr(VALUE), f"attribute {LONG}", "step 0 "],
        ),
        ("trials ID", [f"layers={LONG} 0", f"d_{LONG}", f"[objective_raised] {LONG}", repr(VALUE)]),
        ("artifacts ID", [LONG]),
        ("logs ID", [f"layers={LONG} 1"]),
        ("watch ID", [f"layers={LONG} 0", f"[objective_raised] {LONG}", f"value {VALUE!r}"]),
        ("trials ID --csv", [f"{LONG} 0", f"d_{LONG}", LONG, repr(VALUE)]),
        ("trials ID --json", [f"{LONG} 0", f"d_{LONG}", LONG, repr(VALUE)]),
    ],
)
def test_nothing_is_cut_in_a_pipe(
    command: str,
    wanted: list[str],
    long_study: str,
    server: FakeConsole,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    server.cancel(int(long_study))
    assert _cli.run(command.replace("ID", long_study).split()) in {0, _cli.EXIT_NO_RESULT}
    out = capsys.readouterr().out
    for text in wanted:
        assert text in out, (text, out)
    assert "…" not in out
    assert "..." not in out


def test_a_terminal_still_gets_short_texts(
    long_study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ("studies", f"trials {long_study}"):
        assert any("…" in line for line in _shown(monkeypatch, 80, *command.split()))
