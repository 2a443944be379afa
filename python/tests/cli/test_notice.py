"""Tests the notifications of ``hyperflock watch --notify``: which program shows them, and when."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._cli import command as _cli
from hyperflock._cli import notice
from objectives import objective
from patience import LIMIT_S


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Simulate a machine with a desktop; return the only folder that is on ``PATH``."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return tmp_path


def program(folder: Path, name: str, exit_code: int = 0) -> Path:
    """Create a program that writes its arguments into the file ``told``, one per line."""
    path = folder / name
    path.write_text(
        f'#!/bin/sh\nfor one in "$@"; do echo "$one" >> \'{folder}/told\'; done\nexit {exit_code}\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class Terminal:
    """Stands in for standard error that is a terminal."""

    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


def test_linux_uses_notify_send_and_shows_markup_as_text(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    program(desk, "notify-send")
    notice.notify("study 3 a\x1b[2J", "<b>x</b> & y").join(LIMIT_S)
    assert capsys.readouterr().err == "notified by notify-send\n"
    assert (desk / "told").read_text().splitlines() == [
        "--app-name=hyperflock",
        "--",
        "study 3 a[2J",
        "&lt;b&gt;x&lt;/b&gt; &amp; y",
    ]


def test_macos_passes_texts_as_arguments_of_the_script(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    osascript = program(desk, "osascript")
    text = 'done" & (do shell script "id") & "'
    command = notice.desktop_command("study 3", text)
    assert command is not None
    assert (command[0], command[-2:]) == (str(osascript), ["study 3", text])
    assert not any(text in part for part in command[:-1])


NO_DESKTOP = "this machine has no notifications of a desktop"


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("no program", NO_DESKTOP),
        ("no display", NO_DESKTOP),
        ("the program fails", "notify-send failed with 1"),
    ],
)
def test_a_bell_rings_where_no_desktop_shows_it(
    case: str, why: str, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    if case != "no program":
        program(desk, "notify-send", exit_code=1)
    if case == "no display":
        monkeypatch.delenv("DISPLAY")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    notice.notify("study 3", "finished").join(LIMIT_S)
    bell, told = terminal.written[:1], terminal.written[1:]
    assert (bell, told.strip()) == ("\a", f"notified by the terminal's bell: {why}")


def test_without_desktop_and_terminal_it_says_that_nobody_was_notified(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    notice.notify("study 3", "finished").join(LIMIT_S)
    assert capsys.readouterr() == (
        "",
        f"nobody was notified: {NO_DESKTOP}, and standard error is no terminal for a bell\n",
    )


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Replace `notify`, and return the list of the arguments of its calls."""
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(notice, "notify", lambda *one: found.append(one))
    return found


def test_watch_notifies_at_the_end(
    server: FakeConsole, client: Client, told: list[tuple[str, str]]
) -> None:
    where = ("--url", server.url, "--token", server.token)
    study = client.grid(objective, {"x": [1, 2]}, name="digits")
    for number in range(2):
        server.finish(study.id, number, value=0.5)
    assert _cli.run(["watch", "digits", *where]) == 0
    assert told == []
    assert _cli.run(["watch", "digits", "--notify", *where]) == 0
    assert told == [("study 1 digits", "finished: 2 of 2 trials, best 0.5")]
    empty = client.grid(objective, {"x": [1, 2]}, name="none")
    server.cancel(empty.id)
    assert _cli.run(["watch", "none", "--notify", *where]) == _cli.EXIT_NO_RESULT
    assert told[1:] == [("study 2 none", "cancelled: 0 of 2 trials, none complete")]


def test_submit_notifies_while_it_watches(
    server: FakeConsole, client: Client, told: list[tuple[str, str]]
) -> None:
    where = ("--url", server.url, "--token", server.token)
    search = ("submit", "objectives", "--space", '{"x": [1]}', "--submit-key", "k")
    assert _cli.run([*search, *where]) == 0
    server.finish(1, 0, value=0.5)
    assert _cli.run([*search, "--watch", "--notify", *where]) == 0
    assert told == [("study 1 objective", "finished: 1 of 1 trials, best 0.5")]
    assert _cli.run([*search, "--notify", *where]) == _cli.EXIT_USAGE
