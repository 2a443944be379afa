"""Defines hosts of trials for tests. They record what a trial sends, and give the answers that the
test sets.
"""

from __future__ import annotations

import json
from typing import Any

from hyperflock._base.errors import CallError
from hyperflock._trial.host import Artifact, LocalHost


class RecordingHost(LocalHost):
    """A host that keeps checkpoints and artifacts.

    Attributes
    ----------
    checkpoints : list of (str, int, bytes)
        Format, step (-1: none) and content, in the form in which the next attempt gets them.
    artifacts : list of (Artifact, bytes)
        The artifacts that were uploaded.
    steps : int
        The number of reports and progress calls.
    logged : list of (int or None)
        The last logged step of each checkpoint.
    """

    def __init__(self) -> None:
        super().__init__()
        self.checkpoints: list[tuple[str, int, bytes]] = []
        self.artifacts: list[tuple[Artifact, bytes]] = []
        self.steps = 0
        self.logged: list[int | None] = []

    def report(self, step: int, value: float) -> None:
        super().report(step, value)
        self.steps += 1

    def save_checkpoint(
        self, kind: str, step: int | None, content: bytes, logged: int | None = None
    ) -> bool:
        self.checkpoints.append((kind, -1 if step is None else step, content))
        self.logged.append(logged)
        return True

    def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
        self.artifacts.append((artifact, content))
        return True

    def progress(self) -> None:
        self.steps += 1


class Owner(RecordingHost):
    """Answers each suggestion with the value for its name, always answers that the trial is pruned,
    and records calls.
    """

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[tuple[str, Any]] = []

    def should_prune(self, step: int) -> bool:
        self.asked.append(("should_prune", step))
        return True

    def suggest(self, name: str, distribution: str) -> str:
        self.asked.append((name, distribution))
        answer = self.answers[name]
        if isinstance(answer, CallError):
            raise answer
        return json.dumps(answer)


class Refusing(RecordingHost):
    """Stores nothing: each call raises the given error, or returns False if there is none."""

    def __init__(self, error: CallError | None = None) -> None:
        super().__init__()
        self.error = error
        self.asked = 0

    def save_checkpoint(
        self, kind: str, step: int | None, content: bytes, logged: int | None = None
    ) -> bool:
        return self._refused()

    def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
        return self._refused()

    def _refused(self) -> bool:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return False
