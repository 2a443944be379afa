"""Tunnels: programs of other people that give a port of this machine a public HTTPS address.

    tunnel = Tunnel(find_tunnel("auto"), 8780, folder)
    origin = tunnel.start()          # "https://four-short-words.trycloudflare.com"
    tunnel.problem()                 # why it has ended; None while it runs
    tunnel.stop()

cloudflared and ngrok are known. Their output is kept in ``tunnel.log``. `stop` ends the tunnel's
program. On Linux it also ends if this process is killed. `start` and `stop` block and belong to one
thread, which lives as long as the process.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._local.lifeline import end_with_parent

START_S = 60.0
# cloudflared has this many seconds to register a connection. Until then its address does not work.
_REGISTERED_S = 20.0
_STOP_S = 10.0

# Matches a tunnel's address. api.trycloudflare.com is no tunnel: it gives tunnels their names.
_CLOUDFLARE = re.compile(r"https://(?!api\.)[a-z0-9-]+\.trycloudflare\.com\b")
_HTTPS = re.compile(r"https://[\w.-]+(:\d+)?/?$")


@dataclass(frozen=True)
class Program:
    """A program that makes tunnels.

    Attributes
    ----------
    name, path : str
        Its name, and where it is.
    """

    name: str
    path: str


def find_tunnel(name: str | None = None) -> Program | None:
    """Return the named program, or the first one that is on ``PATH``; None if there is none."""
    for each in [name] if name else _KINDS:
        if found := shutil.which(each):
            return Program(each, found)
    return None


class _Reader(ABC):
    """Reads a program's output and keeps the public origin and the reason of a failure. Each
    program has a subclass.
    """

    def __init__(self) -> None:
        self.origin: str | None = None
        self.is_open = False
        self.problem = ""

    @abstractmethod
    def read(self, line: str) -> None: ...


class _Cloudflared(_Reader):
    """Reads cloudflared's lines: ``TIME INF |  https://four-short-words.trycloudflare.com  |``."""

    def read(self, line: str) -> None:
        if self.origin is None and (found := _CLOUDFLARE.search(line)):
            self.origin = found[0]
        if "Registered tunnel connection" in line:
            self.is_open = True
        _, is_error, said = line.partition(" ERR ")
        if is_error or line.startswith("failed "):
            self.problem = said or line


class _Ngrok(_Reader):
    """Reads ngrok's log in JSON: ``{"lvl":"info","msg":"started tunnel","url":"https://..."}``."""

    def read(self, line: str) -> None:
        try:
            told: Any = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            if line.startswith("ERROR:"):
                self.problem = self.problem or line.removeprefix("ERROR:").strip()
            return
        url = told.get("url")
        if told.get("msg") == "started tunnel" and isinstance(url, str) and _HTTPS.match(url):
            self.origin = url.rstrip("/")
            self.is_open = True
        error = told.get("err")
        if told.get("lvl") in {"eror", "crit"} and error not in {None, "", "<nil>"}:
            self.problem = str(error)


def _cloudflared(port: int, folder: Path) -> list[str]:
    # cloudflared gets an empty configuration, because the user's own configuration could let the
    # tunnel lead elsewhere.
    config = folder / "cloudflared.yml"
    config.write_text("# hyperflock: no settings\n", "utf-8")
    return [
        *("tunnel", "--config", str(config), "--no-autoupdate"),
        *("--url", f"http://127.0.0.1:{port}"),
    ]


def _ngrok(port: int, _: Path) -> list[str]:
    return ["http", f"http://127.0.0.1:{port}", "--log", "stdout", "--log-format", "json"]


_KINDS: dict[str, tuple[type[_Reader], Callable[[int, Path], list[str]]]] = {
    "cloudflared": (_Cloudflared, _cloudflared),
    "ngrok": (_Ngrok, _ngrok),
}


class Tunnel:
    """A tunnel to a port of this machine.

    Parameters
    ----------
    program
        The program that makes the tunnel.
    port
        The port, which need not be open yet.
    folder
        The folder for its log.
    start_s
        How long the program may take to get an address.
    """

    def __init__(
        self, program: Program, port: int, folder: Path, *, start_s: float = START_S
    ) -> None:
        self.name = program.name
        self._program = program
        self._port = port
        self._folder = folder
        self._start_s = start_s
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._reader: _Reader = _KINDS[program.name][0]()
        self._changed = threading.Condition()

    def start(self) -> str:
        """Start the program and return the public origin.

        Raises
        ------
        HyperflockError
            ``tunnel_failed``: the program ended, or got no address in time; the message contains
            the program's own message.
        """
        reader, arguments = _KINDS[self.name]
        self._reader = reader()
        try:
            command = [self._program.path, *arguments(self._port, self._folder)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                # The program does not get Ctrl-C, so that the server ends before its tunnel.
                start_new_session=True,
                preexec_fn=end_with_parent(),
            )
        except OSError as error:
            raise self._failed(str(error)) from None
        self._thread = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._thread.start()
        try:
            self._until(lambda: self._reader.origin is not None, self._start_s)
            if self._reader.origin is None:
                how = self.problem() or f"it got no address in {self._start_s:.0f} s"
                raise self._failed(how)
            self._until(lambda: self._reader.is_open, _REGISTERED_S)
            if (problem := self.problem()) is not None:
                raise self._failed(problem)
        except BaseException:
            self.stop()
            raise
        return self._reader.origin

    def problem(self) -> str | None:
        """Return the program's own message about why it has ended; None while it runs."""
        if self._process is None or self._process.poll() is None:
            return None
        if self._thread is not None:
            self._thread.join(_STOP_S)
        said = self._reader.problem or "it gave no reason"
        return f"it ended with status {self._process.returncode}: {clean(said, limit=300)}"

    def stop(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        finally:
            if process.poll() is None:  # a second Ctrl-C
                process.kill()
        if self._thread is not None:
            self._thread.join(_STOP_S)

    def _failed(self, why: str) -> HyperflockError:
        return HyperflockError(
            f"{self.name} makes no tunnel: {why} (its log: {self._folder / 'tunnel.log'})",
            code="tunnel_failed",
        )

    def _until(self, is_so: Callable[[], bool], limit_s: float) -> None:
        process = self._process
        assert process is not None
        with self._changed:
            self._changed.wait_for(lambda: is_so() or process.poll() is not None, limit_s)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with contextlib.ExitStack() as files:
            lines = files.enter_context(process.stdout)
            log = None
            with contextlib.suppress(OSError):
                log = files.enter_context((self._folder / "tunnel.log").open("a", encoding="utf-8"))
            for line in lines:
                if log is not None:
                    with contextlib.suppress(OSError):
                        log.write(line)
                        log.flush()
                with self._changed:
                    self._reader.read(line.strip())
                    self._changed.notify_all()
        process.wait()
        with self._changed:
            self._changed.notify_all()
