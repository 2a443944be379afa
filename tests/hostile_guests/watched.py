"""Starts `neighbour.py` and stores what it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import TracebackType
from typing import Any

from patience import LIMIT_S, until
from real_server import Server
from tied import tied

_SCRIPT = Path(__file__).parent / "neighbour.py"


class Watched:
    """The neighbour's process.

    Attributes
    ----------
    study : int
        Its study.
    results : dict
        The value of each finished trial, by number.
    times : dict
        Milliseconds of ``cycle``, ``study`` and ``admin``, in order. The first ones are from before
        the attack.
    """

    def __init__(self, server: Server, token: str, link: str, admin: str) -> None:
        self.results: dict[int, float] = {}
        self.times: dict[str, list[float]] = defaultdict(list)
        self.study = 0
        self._errors = server.folder / "neighbour.log"
        self._place = {"compute": server.compute, "console": server.console, "token": token}
        self._place |= {"link": link, "admin": admin}
        self._quiet: dict[str, int] = {}

    def __enter__(self) -> Watched:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                tied([sys.executable, str(_SCRIPT)]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._pipes = (self._process.stdin, self._process.stdout)
        self._process.stdin.write(json.dumps(self._place) + "\n")
        self._process.stdin.flush()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._reader.join(LIMIT_S)
        self._process.wait(LIMIT_S)
        for pipe in self._pipes:
            pipe.close()

    @property
    def cycles(self) -> int:
        """The number of finished trials."""
        return len(self.results)

    def check(self) -> None:
        """Fail with what the process wrote if it has ended."""
        assert self._process.poll() is None, f"not served: {self._errors.read_text()}"

    def work(self, cycles: int) -> None:
        """Wait until this many more trials are finished."""
        wanted = self.cycles + cycles
        until("the neighbour's trials", lambda: self.check() or self.cycles >= wanted)

    def begin(self) -> None:
        """Note that the attack begins now."""
        self._quiet = {name: len(times) for name, times in self.times.items()}

    def finish(self) -> None:
        """Let the process finish its trial and end."""
        self.check()
        self._pipes[0].close()
        self._reader.join(LIMIT_S)
        assert self._process.wait(LIMIT_S) == 0, self._errors.read_text()

    def percentiles(self) -> dict[str, tuple[float, float]]:
        """Return the 99th percentiles before the attack and during it, by name."""
        found = {}
        for name, times in self.times.items():
            quiet, later = times[: self._quiet[name]], times[self._quiet[name] :]
            found[name] = _p99(quiet), _p99(later)
        return found

    def _read(self) -> None:
        for line in self._pipes[1]:
            row: dict[str, Any] = json.loads(line)
            if "study" in row:
                self.study = row["study"]
                continue
            for name, took in row["ms"].items():
                self.times[name].append(took)
            self.results[row["trial"]] = row["value"]


def _p99(times: list[float]) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
