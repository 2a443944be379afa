"""Tests one attempt, from spec to outcome: results, each failure code, and no traces afterwards."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hyperflock._trial.host import Host
from hyperflock_worker import compat, failures, runner
from recording_host import RecordingHost


@pytest.fixture(autouse=True)
def no_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install no import hooks in the test's own process."""
    monkeypatch.setattr(compat, "install", lambda on_update, on_train: None)


def bundle(files: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def attempt(source: str, host: Host | None = None, **changes: Any) -> dict[str, Any]:
    """Run ``source`` as module ``study`` and return the outcome."""
    spec = {
        "attempt": 5,
        "study": 2,
        "trial": 3,
        "entry": "study:objective",
        "params": '{"channels": 16, "rate": 0.5, "kind": "adam"}',
        "seed": 99,
        "chainer": "7.8.1",
    }
    data = changes.pop("data", {})
    code = changes.pop("code", None) or bundle({"study.py": source})
    told = json.dumps({**spec, **changes})
    outcome: dict[str, Any] = json.loads(
        runner.run_attempt(told, code, data, (), host or RecordingHost())
    )
    return outcome


def failure(source: str, **changes: Any) -> dict[str, Any]:
    outcome = attempt(source, **changes)
    assert outcome["outcome"] == "failed", outcome
    error: dict[str, Any] = outcome["error"]
    return error


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


# --- results -----------------------------------------------------------------------------------


def test_objective_gets_nested_values_as_python_made_them() -> None:
    source = """
def objective(trial):
    assert repr(dict(trial.params)) == (
        "{'layers': (32, (1.0,), [2]), 'opt': {'name': 'sgd', 'lr': 1}, 'odd': {'()': 3}}"
    ), trial.params
    return 1
"""
    params = (
        '{"layers": {"()": [32, {"()": [1.0]}, [2]]}, "opt": {"name": "sgd", "lr": 1},'
        ' "odd": {"()": {"()": 3}}}'
    )
    assert attempt(source, params=params)["outcome"] == "complete"


def test_objective_gets_its_point() -> None:
    source = """
import hyperflock
def objective(trial: hyperflock.Trial):
    assert trial.number == 3 and trial.seed == 99
    assert trial.params["channels"] == 16 and dict(trial.params)["kind"] == "adam"
    return trial.suggest_float("rate", 0, 1) + trial.suggest_int("channels", 8, 64, step=8)
"""
    assert attempt(source) == {"outcome": "complete", "values": [16.5], "backend": "numpy"}


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("1", [1.0]),
        ("np.float32(0.5)", [0.5]),
        ("np.array([2.0])", [2.0]),
        ("np.array(3)", [3.0]),
        ("(1, 2.5)", [1.0, 2.5]),
        ("[np.int64(4)]", [4.0]),
    ],
)
def test_values_are_taken_as_floats(expression: str, values: list[float]) -> None:
    source = f"import numpy as np\ndef objective(trial):\n    return {expression}"
    assert attempt(source) == {"outcome": "complete", "values": values, "backend": "numpy"}


@pytest.mark.parametrize("origin", ["hyperflock", "optuna"])
def test_pruned_by_either_exception(origin: str) -> None:
    source = f"import {origin}\ndef objective(trial):\n    raise {origin}.TrialPruned()"
    assert attempt(source) == {"outcome": "pruned", "backend": "numpy"}


def test_seeds_are_set_right_before_the_call() -> None:
    source = """
import random, numpy as np
random.random(), np.random.rand()  # import must not shift the trial's numbers
def objective(trial):
    return random.random(), np.random.rand()
"""
    import random

    random.seed(99)
    np.random.seed(99)
    expected = [random.random(), np.random.rand()]
    assert attempt(source)["values"] == expected


def test_module_is_imported_under_its_own_name() -> None:
    code = {"pkg/__init__.py": "", "pkg/study.py": "def objective(t):\n    return len(__name__)"}
    outcome = attempt("", code=bundle(code), entry="pkg.study:objective")
    assert outcome["values"] == [float(len("pkg.study"))]


def test_data_of_each_kind() -> None:
    out = io.BytesIO()
    np.savez(out, a=np.arange(3), b=np.ones(2))
    source = """
import pathlib
def objective(trial):
    trial.data["x"][0] = 5  # writable
    path = pathlib.Path(trial.data["raw file"])
    assert path.suffix == ".idx", path
    return (trial.data["x"].sum(), trial.data["pair"]["a"][2], len(path.read_bytes()))
"""
    data = {
        "x": ("npy", npy(np.zeros(4, np.float32))),
        "pair": ("npz", out.getvalue()),
        "raw file": ("file", b"12345", "../some file.idx"),
    }
    assert attempt(source, data=data)["values"] == [5.0, 2.0, 5.0]


def test_buffers_of_javascript_are_taken() -> None:
    class Buffer:
        def __init__(self, content: bytes) -> None:
            self.content = content

        def to_bytes(self) -> bytes:
            return self.content

    class Proxy:
        def to_py(self, *, depth: int) -> dict[str, Any]:
            return {"x": ["npy", Buffer(npy(np.ones(2)))]}

    source = "def objective(trial):\n    return trial.data['x'].sum()"
    code = Buffer(bundle({"study.py": source}))
    assert attempt("", code=code, data=Proxy())["values"] == [2.0]


def test_reports_and_progress_reach_the_host() -> None:
    host = RecordingHost()
    source = """
import numpy as np
def objective(trial):
    for step in range(3):
        trial.report(np.float32(step / 2), step)
        assert trial.should_prune() is False
    return 1
"""
    assert attempt(source, host)["outcome"] == "complete"
    assert host.points == [(0, 0.0), (1, 0.5), (2, 1.0)]
    assert host.steps >= 4


# --- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "cause", "message"),
    [
        ("return float('nan')", "metric_not_finite", "invalid", "the objective's value is nan"),
        ("return 1, float('-inf')", "metric_not_finite", "invalid", "-inf"),
        ("return 'good'", "metric_not_number", "invalid", "type str"),
        ("return None", "metric_not_number", "invalid", "type NoneType"),
        ("return 1j", "metric_not_number", "invalid", "type complex"),
        ("return []", "metric_not_number", "invalid", "0 values"),
        ("return [1] * 9", "metric_not_number", "invalid", "9 values"),
        ("trial.report('x', 1)", "metric_not_number", "invalid", "reported at step 1"),
        ("raise ValueError('boom')", "objective_raised", "user_error", "ValueError: boom"),
        ("import sys; sys.exit(3)", "objective_raised", "user_error", "SystemExit: 3"),
        ("raise MemoryError('full')", "out_of_memory", "out_of_memory", "full"),
        (
            "import hyperflock; raise hyperflock.ArtifactLostError('late')",
            "artifact_not_stored",
            "worker_lost",
            "hyperflock.ArtifactLostError: late",
        ),
        (
            "import hyperflock; raise hyperflock.ArtifactError('no', code='quota_exceeded')",
            "quota_exceeded",
            "user_error",
            "hyperflock.ArtifactError: no",
        ),
        (
            "import hyperflock; raise hyperflock.ArtifactError('no', code='call_timeout_')",
            "objective_raised",
            "user_error",
            "hyperflock.ArtifactError: no",
        ),
        ("trial.checkpoint({1})", "checkpoint_not_a_tree", "user_error", "cannot hold a set"),
        ("raise KeyboardInterrupt", "objective_raised", "user_error", "KeyboardInterrupt"),
        ("raise GeneratorExit", "objective_raised", "user_error", "GeneratorExit"),
        (
            "import asyncio; raise asyncio.CancelledError('late')",
            "objective_raised",
            "user_error",
            "CancelledError: late",
        ),
        (
            "try:\n        1 / 0\n    except ArithmeticError:\n"
            "        raise KeyboardInterrupt('in it')",
            "objective_raised",
            "user_error",
            "KeyboardInterrupt: in it",
        ),
        (
            "class Mine(KeyboardInterrupt): pass\n    raise Mine",
            "objective_raised",
            "user_error",
            "Mine",
        ),
        ("trial.suggest_float('rate', 1, 2)", "suggest_mismatch", "user_error", "outside [1, 2]"),
        (
            "trial.suggest_int('nothing', 1, 2)",
            "suggest_mismatch",
            "user_error",
            "not in the study",
        ),
        ("trial.report(1, -1)", "objective_raised", "user_error", "step must be"),
    ],
)
def test_failure_has_cause_code_and_message(body: str, code: str, cause: str, message: str) -> None:
    error = failure(f"def objective(trial):\n    {body}")
    assert (error["code"], error["cause"]) == (code, cause)
    assert message in error["message"]


@pytest.mark.parametrize(
    ("source", "changes", "code", "message"),
    [
        ("import not_there\n", {}, "import_failed", "not_there"),
        ("def broken(:\n", {}, "import_failed", "SyntaxError"),
        ("1 / 0\n", {}, "import_failed", "ZeroDivisionError"),
        ("raise KeyboardInterrupt\n", {}, "objective_raised", "KeyboardInterrupt"),
        ("x = 1\n", {}, "entry_not_found", "no function 'objective'"),
        ("objective = 1\n", {}, "entry_not_found", "no function 'objective'"),
        ("x = 1\n", {"entry": "other:objective"}, "entry_not_found", "no module 'other'"),
        ("x = 1\n", {"entry": "a.b:objective"}, "entry_not_found", "no module 'a.b'"),
    ],
)
def test_code_that_cannot_be_loaded(
    source: str, changes: dict[str, Any], code: str, message: str
) -> None:
    error = failure(source, **changes)
    assert (error["code"], error["cause"]) == (code, "user_error")
    assert message in error["message"]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("npy", b"not an array"),
        ("npy", npy(np.array([object()], dtype=object))),
        ("npy", npy(np.zeros(100))[:200]),
        ("npz", b"PK nothing"),
        ("tar", b""),
    ],
)
def test_bad_data_is_named(kind: str, content: bytes) -> None:
    error = failure("def objective(trial):\n    return 1", data={"digits": (kind, content)})
    assert (error["code"], error["cause"]) == ("data_invalid", "invalid")
    assert "'digits'" in error["message"]


def test_traceback_shows_the_users_frames_alone() -> None:
    source = """def objective(trial):
    return helper()

def helper():
    raise ValueError('boom')
"""
    text = failure(source)["traceback"]
    assert 'File "study.py", line 2, in objective' in text
    assert 'File "study.py", line 5, in helper' in text
    assert "raise ValueError('boom')" in text
    assert "runner.py" not in text
    assert tempfile.gettempdir() not in text


def test_traceback_of_an_import_starts_in_the_module() -> None:
    text = failure("import json\njson.loads('{')\n")["traceback"]
    assert text.startswith('Traceback (most recent call last):\n  File "study.py", line 2')
    assert "importlib" not in text.split("study.py")[0]


def test_traceback_is_bounded_and_keeps_its_end() -> None:
    source = "def objective(trial):\n    raise ValueError('ä' * 40000 + 'end')"
    error = failure(source)
    assert len(error["traceback"].encode()) <= failures.MAX_TRACEBACK_BYTES
    assert error["traceback"].endswith("end\n")
    assert len(error["message"]) <= failures.MAX_MESSAGE_CHARS


@pytest.mark.parametrize(
    "body",
    [
        "class Broken(Exception):\n    __class__ = property(lambda self: 1 / 0)\n",
        "from hyperflock_worker.failures import AttemptError\n"
        "def Broken():\n    return AttemptError('no_such_code', 'm')\n",
    ],
)
def test_exception_that_cannot_be_looked_at_is_an_outcome_too(body: str) -> None:
    error = failure(f"{body}def objective(trial):\n    raise Broken()\n")
    assert (error["cause"], error["code"]) == ("user_error", "objective_raised")
    assert error["message"] == "The exception that was raised cannot be shown."


@pytest.mark.parametrize("module", ["7", "'mine'"])
def test_class_of_another_module_that_is_called_trial_pruned_prunes_nothing(module: str) -> None:
    body = f"class TrialPruned(Exception):\n    __module__ = {module}\n"
    error = failure(f"{body}def objective(trial):\n    raise TrialPruned()\n")
    assert (error["cause"], error["code"]) == ("user_error", "objective_raised")


def test_spec_that_is_no_json_is_an_outcome_too() -> None:
    outcome = json.loads(runner.run_attempt("{", b"", {}, (), RecordingHost()))
    assert outcome["error"]["code"] == "objective_raised"


# --- nothing stays behind ----------------------------------------------------------------------


def test_attempt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path, cwd, modules = list(sys.path), os.getcwd(), set(sys.modules)
    code = {
        "study.py": "import helper\ndef objective(t):\n    open('left', 'w').close()\n    return 1"
    }
    assert attempt("", code=bundle({**code, "helper.py": ""}))["outcome"] == "complete"
    assert sys.path == path
    assert os.getcwd() == cwd
    assert not {"study", "helper"} & (set(sys.modules) - modules)
    assert list(tmp_path.iterdir()) == []


def test_attempts_do_not_see_each_others_modules() -> None:
    count = "calls = []\ndef objective(trial):\n    calls.append(1)\n    return len(calls)"
    assert [attempt(count)["values"] for _ in range(2)] == [[1.0], [1.0]]
    assert attempt("def objective(trial):\n    return 7")["values"] == [7.0]


def test_bundle_that_would_leave_its_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(inside))
    error = failure("", code=bundle({"../../../escaped.py": "", "study.py": "x = 1"}))
    assert (error["code"], error["cause"]) == ("bundle_unsafe", "invalid")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["inside"]
