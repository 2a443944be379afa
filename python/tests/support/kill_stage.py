"""Starts a real server, and phones and notebooks as processes that a test kills; reads the state
that they leave.

    with Stage(folder, "sqlite", seed=1) as stage:
        notebook = stage.begin("curved", "--goal", "1000000")
        left = stage.kill(notebook)
        stage.settled_s(stage.begin("curved", "--goal", "1000000"), left)

Use it in one thread. Every wait has a time limit.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import optuna_notebook
from hyperflock import Study
from hyperflock._transport.messages import SamplerRow
from hyperflock.optuna.study_import import unfinished_rows
from optuna.storages import BaseStorage, RDBStorage
from optuna.trial import TrialState
from patience import LIMIT_S, until
from phone import StartedPhone
from real_server import Server
from tied import tied

PHONES = 3


class Notebook:
    """The process of one researcher."""

    def __init__(self, server: Server, out: Path, *arguments: str) -> None:
        self._out = out
        token = server.credentials["researcher_token"]
        command = [sys.executable, optuna_notebook.__file__, server.console, token, *arguments]
        with out.open("wb") as file:
            self._process = subprocess.Popen(tied(command), stdout=file)
        until("a notebook that begins", lambda: self.is_alive() and self.lines())

    def is_alive(self) -> bool:
        """Return True. Fail if the process has ended by itself."""
        assert self._process.poll() is None, f"it ended with {self._process.returncode}"
        return True

    def lines(self) -> list[Any]:
        """Return the lines that the process printed. The last line is left out if the process was
        killed while it wrote it.
        """
        whole = self._out.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    @property
    def told(self) -> list[Any]:
        """Return the trials that its callbacks got."""
        return [line for line in self.lines()[1:] if isinstance(line[0], int)]

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self._process.kill()
        self._process.wait()

    def result(self) -> list[Any]:
        """Wait until the process ends. Return all trials of its study."""
        assert self._process.wait(LIMIT_S) == 0
        all_trials: list[Any] = self.lines()[-1]
        return all_trials


class Stage:
    """A server, its phones, and a study whose owners are killed.

    Parameters
    ----------
    folder
        Folder of the server's state and of the storage.
    kind
        ``memory``, ``sqlite`` or ``journal``.
    seed
        Chooses the moments of the kills and the victims.
    """

    def __init__(self, folder: Path, kind: str, seed: int) -> None:
        self.moments = random.Random(seed)
        self.server = Server(folder, "--lease-ms", "3000", "--heartbeat-ms", "600")
        self.phones: dict[str, StartedPhone] = {}
        self.notebooks: list[Notebook] = []
        self._folder = folder
        self._where = {
            "memory": "-",
            "sqlite": f"sqlite:///{folder}/study.db",
            "journal": f"{folder}/journal.log",
        }[kind]
        self._storage: BaseStorage | None = None
        self._generation = 0
        self._stack = ExitStack()

    def __enter__(self) -> Stage:
        with ExitStack() as stack:
            self.server.start()
            stack.callback(self.server.stop)
            self.client = stack.enter_context(self.server.client())
            stack.callback(self._kill_all)
            for _ in range(PHONES):
                self.add_phone()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _kill_all(self) -> None:
        for phone in self.phones.values():
            phone.kill()
        for notebook in self.notebooks:
            notebook.kill()

    # ---- phones

    def add_phone(self) -> None:
        """Start one more device."""
        code = self.server.credentials["enrolment_code"]
        started = StartedPhone(self.server.compute, code)
        self.phones[started.device] = started

    def computing(self) -> list[str]:
        """Return the devices that compute a trial now."""
        rows = self.client.workers()
        return sorted(row["device"] for row in rows if row["state"] == "computing")

    # ---- notebooks and their study

    def begin(self, objective: str, *options: str) -> Notebook:
        """Start a notebook. Its process then calls `optimize`."""
        out = self._folder / f"notebook-{len(self.notebooks)}.out"
        self.notebooks.append(Notebook(self.server, out, self._where, objective, *options))
        return self.notebooks[-1]

    def kill(self, notebook: Notebook) -> set[int]:
        """Kill a notebook. Return the trials that it left running in its storage."""
        notebook.kill()
        return self.running()

    @property
    def study(self) -> Study | None:
        """The study at the server in its current state."""
        return next(iter(self.client.studies()), None)

    @property
    def done(self) -> int:
        """The number of trials that are finished at the server."""
        return self.study.row.done if self.study else 0

    def until_done(self, notebook: Notebook, count: int) -> None:
        """Wait until ``count`` trials are finished at the server."""
        until(f"{count} trials", lambda: notebook.is_alive() and self.done >= count)

    def is_claimed(self) -> bool:
        """Return whether a new owner has taken over the study since the last call that returned
        True.
        """
        sampler = self.study.row.sampler if self.study else None
        if not isinstance(sampler, SamplerRow) or not sampler.attached:
            return False
        is_new = sampler.generation > self._generation
        self._generation = sampler.generation
        return is_new

    def settled_s(self, notebook: Notebook, left: set[int]) -> float:
        """Wait until each trial of ``left`` that still runs in the storage is unfinished at the
        server.

        Returns
        -------
        float
            The seconds from the moment at which the new notebook takes over the study to that
            state.
        """
        until("the claim", lambda: notebook.is_alive() and self.is_claimed())
        claimed = time.monotonic()
        until(
            "the end of what nobody computes",
            lambda: notebook.is_alive() and left & self.running() <= self.unfinished(),
        )
        return time.monotonic() - claimed

    def running(self) -> set[int]:
        """Return the trials that run in the storage that all notebooks share."""
        if self._where == "-":
            return set()
        if self._storage is None:
            found = optuna_notebook.storage_of(self._where)
            self._storage = RDBStorage(found) if isinstance(found, str) else found
        assert self._storage is not None
        study_id = self._storage.get_study_id_from_name(optuna_notebook.NAME)
        trials = self._storage.get_all_trials(study_id, states=(TrialState.RUNNING,))
        return {trial.number for trial in trials}

    def unfinished(self) -> set[int]:
        """Return the trials that the server has without an outcome."""
        study = self.study
        if study is None:
            return set()
        return {row.trial for row in unfinished_rows(self.client._core._http, study.row)}
