"""Runs the server of ``hyperflock up`` on this machine: its process and its data folder.

    local = LocalServer(data_folder())
    running = local.start(find_parts(None, None, None), ["--compute", "127.0.0.1:8780", ...])
    local.stop()

Each data folder has at most one server. The folder contains the server's state, its log, and two
small files by which other commands find it. Functions block.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._local.parts import BINARY, Parts
from hyperflock._transport.settings import CREDENTIALS_FILE, READY_FILE, read_json_file

START_S = 120.0
# The server has this many seconds to end. This is longer than its own --drain-ms.
STOP_S = 60.0

_POLL_S = 0.05
# The kernel and ps keep this many characters of a program's name.
_SHORT_NAME = BINARY[:15]


@dataclass(frozen=True)
class Running:
    """A running server, as described by its ready file.

    Attributes
    ----------
    pid, port : int
        Its process, and the port for volunteers.
    compute, console : str
        Its origins for volunteers and researchers.
    """

    pid: int
    port: int
    compute: str
    console: str


class LocalServer:
    """The server of one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "server.log"
        self._ready = folder / READY_FILE
        self._process: subprocess.Popen[bytes] | None = None

    def running(self) -> Running | None:
        """Return the server that runs on this folder, whichever process started it. Return None if
        no server runs.
        """
        told = read_json_file(self._ready)
        try:
            pid, port = int(told["pid"]), int(told["compute_port"])
            found = Running(pid, port, str(told["compute"]), str(told["console"]))
        except (KeyError, TypeError, ValueError):
            return None
        return found if _is_server(found.pid) else None

    def credentials(self) -> dict[str, Any]:
        """Return the first tokens and the enrolment code that the server wrote; empty if there are
        none.
        """
        return read_json_file(self.folder / CREDENTIALS_FILE)

    def check_is_free(self) -> None:
        """Check that no server runs on this folder.

        Raises
        ------
        HyperflockError
            ``server_already_up``.
        """
        if (other := self.running()) is not None:
            raise HyperflockError(
                f"a server runs on '{self.folder}' already (process {other.pid}, {other.console}); "
                "'hyperflock down' ends it",
                code="server_already_up",
            )

    def start(
        self, parts: Parts, options: Sequence[str], *, outlives_this: bool = False
    ) -> Running:
        """Start the server, wait until it listens, and return it.

        Parameters
        ----------
        parts
            The server and its files.
        options
            Options of ``serve``.
        outlives_this
            Whether the server goes on after this process. Otherwise it ends with this process, also
            if this process is killed.

        Raises
        ------
        HyperflockError
            ``server_already_up``; ``server_failed``: it ended or did not become ready;
            ``cannot_write``: the data folder cannot be created.
        """
        self.check_is_free()
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._ready.unlink(missing_ok=True)
            log = self.log.open("ab")
        except OSError as error:
            raise HyperflockError(
                f"'{self.folder}' cannot hold the server's data: {error.strerror or error}",
                code="cannot_write",
            ) from None
        packs = ["--packs", str(parts.packs)] if parts.packs else []
        command = [
            *(str(parts.server), "serve", "--state", str(self.folder / "state")),
            *("--app", str(parts.app), "--runtime", str(parts.runtime)),
            *packs,
            *("--credentials-file", str(self.folder / CREDENTIALS_FILE)),
            *("--ready-file", str(self._ready), *options),
            *([] if outlives_this else ["--end-with-stdin"]),
        ]
        with log:
            begins = log.tell()
            # Its standard output contains the first tokens, which are also in the credentials file.
            # In a session of its own it does not get Ctrl-C, and this process can end it cleanly.
            self._process = subprocess.Popen(
                command,
                # Nothing is written to this pipe. When this process has ended, the kernel closes
                # the pipe, and so the server ends too.
                stdin=subprocess.DEVNULL if outlives_this else subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        try:
            return self._wait_until_ready(begins)
        except BaseException:
            self.stop()
            raise

    def wait(self, limit_s: float) -> int | None:
        """Wait for the end of the server that was started here.

        Returns
        -------
        int or None
            Its exit status; None if it still runs after ``limit_s`` seconds.
        """
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(limit_s)
        return None

    def reload(self) -> None:
        """Let the server that was started here read its certificate again."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGHUP)

    def detach(self) -> None:
        """Let the server that was started here with ``outlives_this`` run on alone."""
        if self._process is not None:
            self._process.returncode = 0  # otherwise its object would wait for it
            self._process = None

    def stop(self) -> bool:
        """End the server, by force if it takes too long, and return whether one ran."""
        found = self.running()
        pid = self._process.pid if self._process else found.pid if found else None
        ran = pid is not None and self._is_up(pid)
        if pid is not None and ran:
            _signal(pid, signal.SIGTERM)
            deadline = time.monotonic() + STOP_S
            try:
                while self._is_up(pid) and time.monotonic() < deadline:
                    time.sleep(_POLL_S)
            finally:  # also after a second Ctrl-C
                if self._is_up(pid):
                    _signal(pid, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._ready.unlink(missing_ok=True)
        return ran

    def last_words(self, begins: int = 0) -> str:
        """Return the last plain line of the log after a position, as text for people. If all lines
        are JSON, return the last one.
        """
        try:
            with self.log.open("rb") as file:
                file.seek(begins)
                lines = file.read()[-65536:].decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        # Log lines are JSON, but the reason for a failed start is a plain sentence.
        spoken = [line for line in lines if line.strip() and not line.startswith("{")]
        return clean((spoken or lines or [""])[-1], limit=500)

    def _is_up(self, pid: int) -> bool:
        if self._process is not None and self._process.pid == pid:
            return self._process.poll() is None
        return _is_server(pid)

    def _wait_until_ready(self, begins: int) -> Running:
        assert self._process is not None
        deadline = time.monotonic() + START_S
        while self._process.poll() is None and time.monotonic() < deadline:
            if (found := self.running()) is not None:
                return found
            time.sleep(_POLL_S)
        why = self.last_words(begins) or "it said nothing"
        raise HyperflockError(
            f"the server did not start: {why} (its log: {self.log})", code="server_failed"
        )


def _is_server(pid: int) -> bool:
    """Return whether a process exists and is a server. The program is checked because the system
    may reuse a pid for another program.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        if Path("/proc/self/stat").exists():
            return False
        ps = shutil.which("ps")
        if ps is None:
            return False
        asked = subprocess.run(
            [ps, "-p", str(pid), "-o", "comm="], capture_output=True, text=True, check=False
        )
        return BINARY in asked.stdout
    name, _, rest = stat.rpartition(")")
    return name.partition("(")[2] == _SHORT_NAME and not rest.lstrip().startswith("Z")


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
