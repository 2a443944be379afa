"""Volunteers on this machine: processes that join a server and compute its trials.

    volunteers = Volunteers(engine, volunteer_folder, log_folder, say=print)
    with volunteers:
        volunteers.start(2, "http://127.0.0.1:8780", code)
        ...

A volunteer is a headless Chromium that shows the join page (chromium.py), or a Node that runs the
page's agent (``worker-runtime/node/volunteer``). It ends with this process, also if this process is
killed: Node then reads the end of its input. Each change is reported by a line of text. `start` and
`stop` block and belong to one thread; the lines come from other threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._local.engines import Engine

Say = Callable[[str], None]

# A volunteer needs about half a second to return its trial to the server.
_STOP_S = 10.0
# The variables that Node needs to find its own files and a temporary folder. No token is among
# them.
_KEPT = ("HOME", "LANG", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")


class Volunteer(ABC):
    """A volunteer process. Each engine has a subclass.

    Parameters
    ----------
    number
        Its number, which the lines name.
    name
        The engine's name for people.
    say
        Called with each line.
    """

    def __init__(self, number: int, name: str, say: Say) -> None:
        self.number = number
        self._name = name
        self._say = say
        self._last = ""
        self._is_ending = False
        self.trials = 0

    @abstractmethod
    def stop(self) -> None:
        """End the volunteer, which returns a running trial to the server."""

    @property
    @abstractmethod
    def is_running(self) -> bool:
        """Whether the volunteer has not ended yet."""

    @property
    @abstractmethod
    def pid(self) -> int:
        """The process id of the volunteer's first process."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until the volunteer has ended, and end it by force if it takes too long."""

    def hear(self, phase: str, work: str, trials: int, problem: str = "") -> None:
        """Print a line if the volunteer's state has changed.

        An agent sends its newest state at most ten times a second. So a trial of less than 0.1 s
        may only be counted, without a line of its own.

        Parameters
        ----------
        phase
            The phase of ``VolunteerState`` in the worker runtime, or of the join page.
        work
            The running trial, as text.
        trials
            How many trials this volunteer has finished.
        problem
            Why the volunteer failed.
        """
        self.trials = trials
        text = {
            "joining": f"starts ({self._name})",
            "connecting": "connects",
            "waiting": f"waits for work; {self._done()}",
            "loading": f"loads {work}",
            "computing": f"computes {work}",
            "replaced": "was replaced by another one",
            "unsupported": "cannot compute in this browser",
            "failed": f"failed{problem and ': '}{problem}",
        }.get(phase)
        if text is None or text == self._last or self._is_ending:
            return
        self._last = text
        self._line(text)

    def ended(self, status: int | None) -> None:
        """Print that the volunteer has ended; ``status`` is its exit status."""
        how = "has ended" if self._is_ending else f"ended by itself with status {status}"
        self._line(f"{how}; {self._done()}")

    def _done(self) -> str:
        return f"{self.trials} {'trial' if self.trials == 1 else 'trials'} done"

    def _line(self, text: str) -> None:
        self._say(f"volunteer {self.number}  {clean(text, limit=300)}")


class NodeVolunteer(Volunteer):
    """A volunteer in Node.

    Parameters
    ----------
    engine
        The program ``node`` of this machine.
    folder
        The folder of the built ``volunteer.js``.
    log
        The file for what Node itself prints.
    authority
        A PEM file with the authority that signed the server's certificate; None if Node trusts the
        certificate without it.
    """

    def __init__(
        self, number: int, engine: Engine, folder: Path, log: Path, authority: Path | None, say: Say
    ) -> None:
        super().__init__(number, engine.name, say)
        self._engine = engine
        self._folder = folder
        self._log = log
        self._authority = authority
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    def start(self, origin: str, code: str) -> None:
        """Start Node and let it join.

        Raises
        ------
        HyperflockError
            ``volunteer_failed``: Node cannot be started.
        """
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        if self._authority is not None:
            environment["NODE_EXTRA_CA_CERTS"] = str(self._authority)
        command = [
            self._engine.path,
            # By default, a rejected promise that trial code does not handle would end Node. With
            # this option Node goes on, as a browser does.
            "--unhandled-rejections=warn",
            # Trial code must not reach the files of this machine.
            *("--permission", "--allow-worker", f"--allow-fs-read={self._folder}{os.sep}*"),
            str(self._folder / "volunteer.js"),
        ]
        try:
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    command,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    # Node does not get Ctrl-C, so that it can return its trial to the server first.
                    start_new_session=True,
                )
        except OSError as error:
            raise HyperflockError(
                f"a volunteer cannot be started: {error}", code="volunteer_failed"
            ) from None
        assert self._process.stdin is not None
        # The code is a secret, and any user of the machine may read a program's arguments.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"origin": origin, "code": code}) + "\n")
            self._process.stdin.flush()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        """Whether Node has not ended yet."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id of Node."""
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        """Close the input, which asks the volunteer to end."""
        self._is_ending = True
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def wait(self) -> None:
        """Wait until Node has ended, and end it by force if it takes too long."""
        if self._process is None:
            return
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        finally:
            if self._process.poll() is None:  # a second Ctrl-C
                self._process.kill()
        if self._reader is not None:
            self._reader.join()

    def _read(self) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    self._hear_line(json.loads(line))
        self.ended(process.wait())

    def _hear_line(self, told: dict[str, Any]) -> None:
        """Read a line, which has the fields of ``Told`` in volunteer.ts."""
        work, problem = "", ""
        if told["trial"] is not None:
            work = f"trial {told['trial']} of study {told['study']}"
        if told["code"] is not None:
            problem = f"[{told['code']}] {told['message']}"
        self.hear(str(told["phase"]), work, int(told["trials"]), problem)


class Volunteers:
    """All volunteers that this process has started.

    Parameters
    ----------
    engine
        What they run in.
    folder
        The folder of the volunteer for Node; a browser does not need it.
    logs
        The folder for their logs.
    say
        Called with each line, from several threads.
    """

    def __init__(self, engine: Engine, folder: Path | None, logs: Path, say: Say) -> None:
        self._engine = engine
        self._folder = folder
        self._logs = logs
        self._say = say
        self._all: list[Volunteer] = []

    def start(self, count: int, origin: str, code: str, authority: Path | None = None) -> None:
        """Start volunteers that join ``origin`` by the enrolment code ``code``.

        Raises
        ------
        HyperflockError
            ``volunteer_failed``.
        """
        for _ in range(count):
            number = len(self._all) + 1
            if self._engine.kind == "chromium":
                from hyperflock._local.chromium import ChromiumVolunteer

                browser = ChromiumVolunteer(number, self._engine, self._say)
                self._all.append(browser)
                browser.start(origin, code)
            else:
                assert self._folder is not None
                log = self._logs / f"volunteer-{number}.log"
                node = NodeVolunteer(number, self._engine, self._folder, log, authority, self._say)
                self._all.append(node)
                node.start(origin, code)

    @property
    def is_any_running(self) -> bool:
        """Whether any volunteer has not ended yet."""
        return any(volunteer.is_running for volunteer in self._all)

    @property
    def pids(self) -> list[int]:
        """The process ids of the volunteers' first processes."""
        return [volunteer.pid for volunteer in self._all]

    def stop(self) -> None:
        """End all volunteers, which return their trials to the server."""
        for volunteer in self._all:
            volunteer.stop()
        for volunteer in self._all:
            volunteer.wait()
        self._all.clear()

    def __enter__(self) -> Volunteers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
