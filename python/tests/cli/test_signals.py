"""Tests signals that end the command: at any moment, it prints no traceback and says what
continues.

Each test runs the command as a process of its own. A ``sitecustomize`` module in that process sends
the signal when the process itself comes to a certain point, so that no test depends on time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fake_console import FakeConsole
from hyperflock import Client
from objectives import objective
from patience import LIMIT_S

# Sends the signal AT_NUMBER at the audit event AT_EVENT whose first argument begins with AT_WHAT.
# If AT_CALL is N and not 0, sends it at the N-th call of a Python function since the command began.
_SITE = """
import os, signal, sys

number = int(os.environ["AT_NUMBER"])
event, what, count = os.environ["AT_EVENT"], os.environ["AT_WHAT"], int(os.environ["AT_CALL"])
left = [1]

def send():
    if left:
        left.clear()
        os.kill(os.getpid(), number)

def audited(name, arguments):
    if name == event and str(arguments[0] if arguments else "").startswith(what):
        send()

def counted(frame, kind, argument):
    global count
    if kind == "call":
        if not begun and frame.f_code.co_name == "_run":
            begun.append(1)
        count -= bool(begun)
        if count == 0:
            sys.setprofile(None)
            send()

begun = []
if event:
    sys.addaudithook(audited)
if count:
    sys.setprofile(counted)
"""


class Interrupted:
    """Runs the command, and sends it a signal when it reaches a certain point."""

    def __init__(self, folder: Path, server: FakeConsole) -> None:
        self._folder = folder
        self._server = server
        (folder / "sitecustomize.py").write_text(_SITE)

    def run(
        self,
        *arguments: str,
        number: signal.Signals = signal.SIGINT,
        event: str = "",
        what: str = "",
        call: int = 0,
    ) -> tuple[int, str, str]:
        """Return the exit code, the output and the errors."""
        paths = [str(self._folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-c", "from hyperflock._cli import main; main()", *arguments],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "HYPERFLOCK_URL": self._server.url,
                "HYPERFLOCK_TOKEN": self._server.token,
                "AT_NUMBER": str(int(number)),
                "AT_EVENT": event,
                "AT_WHAT": what,
                "AT_CALL": str(call),
            },
        )
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def interrupted(tmp_path: Path, server: FakeConsole) -> Interrupted:
    folder = tmp_path / "site"
    folder.mkdir()
    return Interrupted(folder, server)


@pytest.fixture
def study_id(client: Client, server: FakeConsole) -> str:
    """Return a study with one finished and one running trial."""
    study = client.grid(objective, {"x": [1, 2]}, name="digits")
    server.finish(study.id, 0, value=0.5)
    return str(study.id)


@pytest.mark.parametrize("module", ["hyperflock._cli.command", "typer", "numpy", "asyncio"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_import_is_interrupted_quietly(
    module: str, number: signal.Signals, interrupted: Interrupted
) -> None:
    found = interrupted.run("studies", number=number, event="import", what=module)
    assert found == (128 + number, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("event", ["socket.connect", "socket.getaddrinfo"])
def test_watch_says_that_the_study_goes_on(
    event: str, number: signal.Signals, interrupted: Interrupted, study_id: str, client: Client
) -> None:
    code, _, err = interrupted.run("watch", study_id, number=number, event=event)
    assert code == 128 + number, err
    assert err.split("\n")[-2] == (
        f"detached: study {study_id} goes on at the server; watch it again by: "
        f"hyperflock watch {study_id}"
    )
    assert "Traceback" not in err
    assert client.study(int(study_id)).state == "running"


def test_signal_at_any_call_prints_no_traceback(
    interrupted: Interrupted, study_id: str, server: FakeConsole
) -> None:
    server.finish(int(study_id), 1, value=0.25)  # so that a command without a signal ends too
    found = [interrupted.run("watch", study_id, call=2**power) for power in range(1, 15, 2)]
    assert not [err for _, _, err in found if "Traceback" in err]
    codes = [code for code, _, _ in found]
    assert codes[:5] == [130] * 5
    assert set(codes) <= {0, 130}


def test_destructor_does_not_swallow_the_signal(interrupted: Interrupted, study_id: str) -> None:
    with (interrupted._folder / "sitecustomize.py").open("a") as site:
        site.write("""
class Last:
    def __del__(self):
        send()
        for _ in range(100):
            pass

def lose(name, arguments):
    if name == "socket.connect":
        Last()

left.append(1)
sys.addaudithook(lose)
""")
    code, _, err = interrupted.run("watch", study_id)
    assert (code, "Traceback" in err, "detached: " in err) == (130, False, True), err


def test_submit_says_whether_something_is_submitted(
    interrupted: Interrupted, server: FakeConsole, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text("def objective(trial):\n    return 1.0\n")
    command = ("submit", str(script), "--space", '{"x": [1]}')
    code, out, err = interrupted.run(*command, event="open", what=str(script))
    assert (code, out, err) == (130, "", "\ninterrupted: nothing is submitted\n")
    code, out, err = interrupted.run(*command, event="socket.connect")
    assert (code, out, server.specs) == (130, "", {})
    assert err == "\ninterrupted: see by 'hyperflock studies' whether the study is submitted\n"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("cancel", ()),
        ("retry", ()),
        ("webhook", ("https://hooks.example.org/me",)),
        ("webhook", ("--remove",)),
    ],
)
def test_a_change_says_how_to_see_whether_it_is_done(
    command: str, arguments: tuple[str, ...], interrupted: Interrupted, study_id: str
) -> None:
    found = interrupted.run(command, study_id, *arguments, event="socket.connect")
    note = f"\ninterrupted: see by 'hyperflock show {study_id}' whether it is done\n"
    assert found == (130, "", note)


def test_a_look_at_a_webhook_is_interrupted_quietly(
    interrupted: Interrupted, study_id: str
) -> None:
    assert interrupted.run("webhook", study_id, event="socket.connect") == (130, "", "")


def test_signal_that_is_ignored_ends_nothing(interrupted: Interrupted) -> None:
    was = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        code, out, err = interrupted.run(
            "studies", "--json", number=signal.SIGHUP, event="socket.connect"
        )
    finally:
        signal.signal(signal.SIGHUP, was)
    assert (code, out, err) == (0, "[]\n", "")
