"""Runs the cases of the in-trial suite in one place and returns what happened, as JSON values.

    play("local")       # in the researcher's own process, by run_local
    play("dry_run")     # inside a dry run
    play("worker")      # in the worker runtime, with a bridge like the browser's

Each case is an attempt of its own. Two places behave alike if they return the same. Only one
thread may call this module.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import datetime
import decimal
import fractions
import io
import json
import math
import os
import pathlib
import random
import re
import sys
import tempfile
import types
import uuid
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import hyperflock
import numpy as np
from in_trial import log_cases, optuna_cases, package_cases, trial_cases
from in_trial.case import NUMBER, PARAMS, SEED, Case

Place = Literal["local", "dry_run", "worker"]
CASES: dict[str, Case] = {
    **trial_cases.CASES,
    **log_cases.CASES,
    **package_cases.CASES,
    **optuna_cases.CASES,
}

_MODULES = (collections, datetime, decimal, fractions, math, pathlib, random, types, uuid, warnings)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LAST_STEP = 2**53 - 1


def cases_of(place: Place) -> dict[str, Case]:
    """Return the cases that can run in a place: all except for `run_local`, which has no studies
    of Optuna, no checkpoints and no process of its own for a trial.
    """
    if place != "local":
        return CASES
    return {
        name: case
        for name, case in CASES.items()
        if not (case.asked or case.saved or case.in_child)
    }


def play(place: Place, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Run all cases of a place. Return the observations of each."""
    found = {}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, case in cases_of(place).items():
                found[name] = Player(place, case, names or {}).observed()
        finally:
            os.chdir(before)
    return found


class Player:
    """Runs one case in one place, once."""

    def __init__(self, place: Place, case: Case, names: Mapping[str, Any]) -> None:
        self._place = place
        self._case = case
        self._names = names
        self._seen: dict[str, Any] = {}
        self._reports: list[list[Any]] = []
        self._uploads: list[str] = []
        self._rows: list[list[Any]] = []

    def observed(self) -> dict[str, Any]:
        """Run the case. Return what was observed."""
        global _objective
        _objective = self._objective
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            outcome = self._run_local() if self._place == "local" else self._run_attempt()
        return {**self._seen, **outcome, "printed": errors.getvalue()}

    def _objective(self, trial: Any) -> Any:
        """Run the statements of the case and record their effects."""
        scope: dict[str, Any] = {one.__name__: one for one in _MODULES}
        scope |= {"trial": trial, "hyperflock": hyperflock, "np": np, **self._names}
        if self._case.asked:
            import optuna

            scope["optuna"] = optuna
        tree = ast.parse(self._case.body)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        given = None
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                exec(compile(tree, "body", "exec"), scope)
                if isinstance(last, ast.Expr):
                    given = eval(compile(ast.Expression(last.value), "body", "eval"), scope)
            except BaseException as error:
                self._seen["raised"] = _described(error)
                raise
            finally:
                self._seen["warned"] = [[w.category.__name__, str(w.message)] for w in warned]
        self._seen["gave"] = "" if self._case.is_value else _plain(repr(given))
        return given if self._case.is_value else 1.0

    def _run_local(self) -> dict[str, Any]:
        from hyperflock_worker.failures import code_of

        data = {"x": np.arange(1.0, 4.0)}
        try:
            run = hyperflock.run_local(self._objective, PARAMS, SEED, data, number=NUMBER)
        except BaseException as error:
            if "raised" not in self._seen:  # the objective's value is invalid
                told = _described(error)
                self._seen["raised"] = {
                    "kind": told["kind"],
                    "message": getattr(error, "message", ""),
                }
            return {"state": "failed", "values": [], "code": code_of(error)}
        return {
            "state": run.state,
            "values": list(run.values),
            "code": "",
            "reports": [list(point) for point in run.points],
            "series": _texts(run.series),
        }

    def _run_attempt(self) -> dict[str, Any]:
        from hyperflock_worker.runner import run_attempt

        asked = self._case.asked
        spec = {
            "attempt": 1,
            "study": 1,
            "trial": NUMBER,
            "entry": "case_of_this_attempt:objective",
            "params": json.dumps({} if asked else PARAMS),
            "seed": SEED,
            "chainer": "7.8.1",
            "asked": asked,
        }
        data = {"x": ("npy", _file(np.arange(1.0, 4.0)))}
        with self._host() as host:
            told = json.loads(run_attempt(json.dumps(spec), _BUNDLE, data, self._saved(), host))
        error = told.get("error", {})
        if error and "raised" not in self._seen:
            kind, _, message = error["message"].partition(": ")
            self._seen["raised"] = {"kind": kind, "message": message}
        return {
            "state": told["outcome"],
            "values": told.get("values", []),
            "code": error.get("code", ""),
            "reports": self._reports,
            "uploads": self._uploads,
            "series": _texts(_series_of(self._rows)),
            "attributes": _attributes(told.get("attrs")),
        }

    @contextlib.contextmanager
    def _host(self) -> Iterator[Any]:
        """Yield the attempt's host.

        In the worker runtime it is None: the worker finds its bridge itself.
        """
        if self._place == "dry_run":
            yield _recording(self._reports, self._uploads, self._rows, bool(self._case.asked))
            return
        sys.modules["_hyperflock_bridge"] = _Agent(self._reports, self._uploads, self._rows)
        try:
            yield None
        finally:
            del sys.modules["_hyperflock_bridge"]

    def _saved(self) -> list[tuple[str, int, bytes]]:
        """Return the checkpoint that an earlier attempt saved after step 6, with attributes."""
        if not self._case.saved:
            return []
        if self._case.saved == "malformed":
            return [("tree", 6, b"no archive")]
        contents: list[bytes] = []

        from hyperflock._trial.host import LocalHost

        class Keeping(LocalHost):
            def save_checkpoint(
                self, kind: str, step: int | None, content: bytes, logged: int | None = None
            ) -> bool:
                contents.append(content)
                return True

        before = hyperflock.Trial({}, number=NUMBER, seed=SEED, data={}, host=Keeping())
        before.set_user_attr("a", [1])
        before.set_user_attr("b", "saved")
        before.log({"a": 1}, step=20)
        before.checkpoint(ast.literal_eval(self._case.saved))
        return [("tree", 6, contents[0])]


_objective: Callable[[Any], Any]


def objective_of_this_case(trial: Any) -> Any:
    """Run the case of the current `Player`. The bundle of an attempt calls this function."""
    return _objective(trial)


def _bundle() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "case_of_this_attempt.py",
            "import in_trial.player\nobjective = in_trial.player.objective_of_this_case\n",
        )
    return out.getvalue()


_BUNDLE = _bundle()


class _Agent(types.ModuleType):
    """A stand-in for the module ``_hyperflock_bridge``, which the Python thread of a browser
    registers. Its functions take and return texts.

    It fails on a report that the protocol does not allow.
    """

    def __init__(self, reports: list[list[Any]], uploads: list[str], rows: list[list[Any]]) -> None:
        super().__init__("_hyperflock_bridge")
        self._rows = rows
        self._reports = reports
        self._uploads = uploads

    def call(self, method: str, payload_json: str) -> str:
        payload = json.loads(payload_json)
        if method == "should_prune":
            assert _is_step(payload["step"])
            return '{"ok": true, "value": false}'
        assert method == "suggest", method
        # For trials without a server, recorded_answers.ts has the same answer.
        message = f"the trial was given no value for '{payload['name']}' when it ran before"
        return json.dumps({"ok": False, "error": {"code": "owner_error", "message": message}})

    def upload(self, head_json: str, content: bytes) -> str:
        head = json.loads(head_json)
        _note(self._uploads, head)
        return '{"ok": true, "value": true}'

    def report(self, step: int, number: float) -> None:
        assert _is_step(step)
        assert type(number) is float
        assert math.isfinite(number)
        self._reports.append([step, number])

    def log(self, row_json: str) -> None:
        assert len(row_json) <= 262_144
        row = json.loads(row_json, parse_constant=_no_constant)
        assert _is_step(row["step"])
        assert len(row["values"]) <= 256
        for name, number in row["values"].items():
            assert 1 <= len(name) <= 128
            assert name.encode()
            assert type(number) is float or number in ("NaN", "Infinity", "-Infinity")
        self._rows.append([row["step"], {k: float(v) for k, v in row["values"].items()}])

    def progress(self) -> None:
        pass


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def _series_of(rows: list[list[Any]]) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for step, values in rows:
        for name, number in values.items():
            found.setdefault(name, []).append((step, number))
    return found


def _texts(series: Mapping[str, Any]) -> dict[str, list[list[Any]]]:
    """Write values as text, because NaN is not equal to itself."""
    return {name: [[step, repr(one)] for step, one in pairs] for name, pairs in series.items()}


def _is_step(step: object) -> bool:
    return type(step) is int and 0 <= step <= _LAST_STEP


def _note(uploads: list[str], head: Mapping[str, Any]) -> None:
    if head["of"] == "checkpoint":
        step = -1 if head["step"] is None else head["step"]
        logged = "" if head["logged"] is None else f" {head['logged']}"
        uploads.append(f"{head['format']} {step}{logged}")
    else:
        assert _UUID.fullmatch(head["id"])
        uploads.append(f"{head['name']} {head['type']}")


def _recording(
    reports: list[list[Any]], uploads: list[str], rows: list[list[Any]], again: bool
) -> Any:
    """Return the host of a dry run, or of a replay, that also records reports, uploads and rows."""
    from hyperflock._trial.host import Artifact, LocalHost, ReplayHost

    base: type[LocalHost] = ReplayHost if again else LocalHost

    class Recording(base):  # type: ignore[misc, valid-type]
        def report(self, step: int, number: float) -> None:
            super().report(step, number)
            reports.append([step, number])

        def log(self, step: int, values: Mapping[str, float]) -> None:
            super().log(step, values)
            rows.append([step, dict(values)])

        def save_checkpoint(
            self, kind: str, step: int | None, content: bytes, logged: int | None = None
        ) -> bool:
            _note(uploads, {"of": "checkpoint", "format": kind, "step": step, "logged": logged})
            return bool(super().save_checkpoint(kind, step, content, logged))

        def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
            uploads.append(f"{artifact.name} {artifact.type}")
            return bool(super().upload_artifact(artifact, content))

    return Recording()


def _described(error: BaseException) -> dict[str, Any]:
    kind = type(error)
    return {
        "kind": f"{kind.__module__}.{kind.__qualname__}",
        "bases": [base.__name__ for base in kind.__mro__[1:-1]],
        "code": getattr(error, "code", None) if kind.__module__ == "hyperflock" else None,
        "message": _plain(str(error)),
    }


def _attributes(text: str | None) -> dict[str, Any]:
    told = json.loads(_plain(text or "{}"))
    for key, text in told.get("system", {}).items():
        if key.startswith("artifacts:"):
            told["system"][key] = json.loads(text)
    told.pop("raised", None)
    return dict(told)


def _plain(text: str) -> str:
    return _UUID.sub("ID", text)


def _file(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()
