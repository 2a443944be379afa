"""The real server, phones and notebooks as processes that a test kills, and what they left behind.

    with Stage(folder, "sqlite", seed=1) as stage:
        notebook = stage.begin("curved", "--goal", "1000000")
        left = stage.kill(notebook)
        stage.settled_s(stage.begin("curved", "--goal", "1000000"), left)

One thread. Every wait has a time-out.
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
    """One researcher's process."""

    def __init__(self, server: Server, out: Path, *arguments: str) -> None:
        self._out = out
        token = server.credentials["researcher_token"]
        command = [sys.executable, optuna_notebook.__file__, server.console, token, *arguments]
        with out.open("wb") as file:
            self._process = subprocess.Popen(tied(command), stdout=file)
        until("a notebook that begins", lambda: self.is_alive() and self.lines())

    def is_alive(self) -> bool:
        """Fail where the process has ended by itself."""
        assert self._process.poll() is None, f"it ended with {self._process.returncode}"
        return True

    def lines(self) -> list[Any]:
        """Give what it printed; the last line of a killed one may be half."""
        whole = self._out.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    @property
    def told(self) -> list[Any]:
        """Give the trials that its callbacks saw."""
        return [line for line in self.lines()[1:] if isinstance(line[0], int)]

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.wait()

    def result(self) -> list[Any]:
        """Wait for its end; all trials of its study."""
        assert self._process.wait(LIMIT_S) == 0
        all_trials: list[Any] = self.lines()[-1]
        return all_trials


class Stage:
    """A server, phones and a study whose owners die.

    Parameters
    ----------
    folder
        Of the server and the storage.
    kind
        ``memory``, ``sqlite`` or ``journal``.
    seed
        Decides the moments and the victims.
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
        """Let one more device join."""
        code = self.server.credentials["enrolment_code"]
        started = StartedPhone(self.server.compute, code)
        self.phones[started.device] = started

    def computing(self) -> list[str]:
        """Give the devices that have a trial now."""
        rows = self.client.workers()
        return sorted(row["device"] for row in rows if row["state"] == "computing")

    # ---- notebooks and their study

    def begin(self, objective: str, *options: str) -> Notebook:
        """Start a notebook, as far as its call of `optimize`."""
        out = self._folder / f"notebook-{len(self.notebooks)}.out"
        self.notebooks.append(Notebook(self.server, out, self._where, objective, *options))
        return self.notebooks[-1]

    def kill(self, notebook: Notebook) -> set[int]:
        """Kill a notebook; the trials that it left running in its storage."""
        notebook.kill()
        return self.running()

    @property
    def study(self) -> Study | None:
        """The study at the server, as it stands now."""
        return next(iter(self.client.studies()), None)

    @property
    def done(self) -> int:
        """How many trials are finished at the server."""
        return self.study.row.done if self.study else 0

    def until_done(self, notebook: Notebook, count: int) -> None:
        """Wait until so many trials are finished at the server."""
        until(f"{count} trials", lambda: notebook.is_alive() and self.done >= count)

    def is_claimed(self) -> bool:
        """Whether an owner is attached that was not when this was true before."""
        sampler = self.study.row.sampler if self.study else None
        if not isinstance(sampler, SamplerRow) or not sampler.attached:
            return False
        is_new = sampler.generation > self._generation
        self._generation = sampler.generation
        return is_new

    def settled_s(self, notebook: Notebook, left: set[int]) -> float:
        """Wait until none of ``left`` runs that the server does not know.

        Returns
        -------
        float
            Seconds from the notebook's claim to then.
        """
        until("the claim", lambda: notebook.is_alive() and self.is_claimed())
        claimed = time.monotonic()
        until(
            "the end of what nobody computes",
            lambda: notebook.is_alive() and left & self.running() <= self.unfinished(),
        )
        return time.monotonic() - claimed

    def running(self) -> set[int]:
        """Give the trials that run in the storage that all notebooks share."""
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
        """Give the trials that the server has and that have no outcome."""
        study = self.study
        if study is None:
            return set()
        return {row.trial for row in unfinished_rows(self.client._core._http, study.row)}
