"""Simulates a device for ask-and-tell studies, which runs bundles by the worker's own code in this
process.

    with WorkerDevice(console): ...          # one thread; `hyperflock_worker` must be importable

The bundle is unpacked and called as in a browser. The worker's trial calls the fake console over a
bridge. Only one attempt may run at a time: it changes the current folder and seeds the generators.
"""

from __future__ import annotations

import json
from typing import Any

from fake_asked import AskedStudy, AskedTrial, CallRefused, Devices, StudyGone
from fake_console import FakeConsole
from hyperflock._model import grid as _grid
from hyperflock._transport.messages import Failure


class Bridge:
    """The bridge that a running attempt calls."""

    def __init__(self, asked: AskedStudy, trial: AskedTrial) -> None:
        self._asked, self._trial = asked, trial

    def call(self, method: str, payload_json: str) -> str:
        payload = json.loads(payload_json)
        try:
            if method == "should_prune":
                value: Any = self._asked.should_prune(self._trial, payload.get("step"))
            else:
                name, kind = payload["name"], payload["distribution"]
                value = json.dumps(self._asked.suggest(self._trial, name, kind))
        except (CallRefused, StudyGone) as error:
            told = {"code": "owner_error", "message": str(error)}
            return json.dumps({"ok": False, "error": told})
        return json.dumps({"ok": True, "value": value})

    def upload(self, head_json: str, content: bytes) -> str:
        return '{"ok": true, "value": true}'

    def report(self, step: int, value: float) -> None:
        self._asked.report(self._trial, step, value)

    def log(self, row_json: str) -> None:
        pass

    def progress(self) -> None:
        pass


class WorkerDevice(Devices):
    """One device that runs the bundles of a study."""

    def __init__(self, console: FakeConsole, study: int = 1) -> None:
        super().__init__(console, lambda trial: 0.0, 1, study)
        self._blobs = console.blobs

    def _compute(self, asked: AskedStudy, trial: AskedTrial) -> None:
        from hyperflock_worker.bridge import WorkerHost
        from hyperflock_worker.runner import run_attempt

        spec = asked.spec
        assert isinstance(spec.directions, list)
        told = {
            "attempt": trial.number + 1,
            "study": asked.study,
            "trial": trial.number,
            "entry": spec.entry,
            "params": "{}",
            "seed": _grid.trial_seed(spec.seed, trial.number),
            "chainer": spec.runtime.chainer,
            "asked": {
                "directions": len(spec.directions),
                "suggested": None,
                "attrs": trial.attrs,
            },
        }
        data = {d.name: (d.kind, self._blobs[d.sha256], d.filename) for d in spec.data}
        bundle, host = self._blobs[spec.bundle.sha256], WorkerHost(Bridge(asked, trial))
        outcome = json.loads(run_attempt(json.dumps(told), bundle, data, (), host))
        asked.result(
            trial,
            outcome["outcome"],
            outcome.get("values"),
            json.loads(outcome.get("attrs") or "{}"),
            Failure(**outcome["error"]) if "error" in outcome else None,
        )
