"""Local runs: seeding, the trial's methods, metrics; and that all of it is what the worker does."""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hyperflock
import numpy as np
import pytest
from hyperflock import Client, Trial, TrialPruned, run_local
from hyperflock._bundle.bundle import bundle_script
from hyperflock._model.data import prepare

WORKER = Path(__file__).resolve().parents[3] / "worker-runtime" / "python"


def _draw(trial: Any) -> float:
    trial.report(random.random(), 0)
    return float(np.random.rand())


def test_seed_fixes_both_generators() -> None:
    first, again, other = run_local(_draw, {}, 5), run_local(_draw, {}, 5), run_local(_draw, {}, 6)
    assert first == again
    assert first.value != other.value
    assert first.points != other.points
    random.seed(5)
    np.random.seed(5)
    assert (first.points[0][1], first.value) == (random.random(), np.random.rand())


def test_outcomes() -> None:
    def prune(trial: Any) -> float:
        trial.report(1.0, 3)
        raise TrialPruned

    pruned = run_local(prune, {})
    assert (pruned.state, pruned.value, pruned.points) == ("pruned", None, ((3, 1.0),))
    assert run_local(lambda t: (1, 2.0), {}).value == (1.0, 2.0)
    assert Client("http://127.0.0.1:1", "t").run_local(lambda t: t.params["x"], {"x": 2}) == 2.0
    with pytest.raises(ZeroDivisionError):
        run_local(lambda t: 1 / 0, {})


# The worker's own answer to each of these is compared below.
_CASES: dict[str, str] = {
    "float": "return trial.params['f']",
    "integer": "return trial.params['i']",
    "true": "return True",
    "numpy scalar": "return np.float32(0.25)",
    "array of one": "return np.array([[0.5]])",
    "variable": "return type('V', (), {'array': np.array(0.5)})()",
    "tuple": "return 1.0, 2.0",
    "list": "return [1.0, 2.0]",
    "no values": "return ()",
    "nine values": "return (1,) * 9",
    "none": "return None",
    "text": "return '1.0'",
    "array of two": "return np.zeros(2)",
    "complex": "return 1j",
    "nan": "return float('nan')",
    "infinity": "return np.inf",
    "report nan": "trial.report(float('nan'), 0); return 1",
    "report text": "trial.report('1', 0); return 1",
    "report": "trial.report(np.float32(0.5), np.int64(2)); trial.report(1, 3); return 1",
    "prune": "trial.report(1, 3); raise hyperflock.TrialPruned()",
    "number": "return trial.number + trial.seed",
    "suggest float": "return trial.suggest_float('f', 0, 1)",
    "suggest float of int": "return trial.suggest_float('i', 0, 10)",
    "suggest float step": "return trial.suggest_float('f', 0.1, 1, step=0.1)",
    "suggest int": "return trial.suggest_int('i', 0, 10, step=3)",
    "suggest int of whole float": "return trial.suggest_int('w', 0, 10)",
    "suggest int log": "return trial.suggest_int('i', 1, 10, log=True)",
    "suggest categorical": "return trial.suggest_categorical('i', [1, 3])",
    "suggest categorical text": "return len(trial.suggest_categorical('s', ['a', 'b']))",
    "should prune": "trial.report(1, 0); return float(trial.should_prune())",
    "mismatch name": "return trial.suggest_float('z', 0, 1)",
    "mismatch range": "return trial.suggest_float('f', 0, 0.2)",
    "mismatch step": "return trial.suggest_float('f', 0.15, 1, step=0.1)",
    "mismatch log": "return trial.suggest_float('f', 0, 1, log=True)",
    "mismatch kind": "return trial.suggest_float('s', 0, 1)",
    "mismatch int": "return trial.suggest_int('f', 0, 1)",
    "mismatch int step": "return trial.suggest_int('i', 0, 10, step=2)",
    "mismatch bool": "return trial.suggest_int('b', 0, 1)",
    "mismatch choice": "return trial.suggest_categorical('b', [0, 1])",
    "bad step": "trial.report(1.0, -1); return 1",
    "bad step kind": "trial.report(1.0, 0.5); return 1",
    "read-only params": "trial.params['f'] = 1; return 1",
    "load no object": "return trial.resume({})",
    "random": "import random; return random.random() + np.random.rand()",
}
_PARAMS: dict[str, Any] = {"f": 0.3, "i": 3, "w": 2.0, "s": "a", "b": True}


@pytest.fixture
def worker() -> Iterator[tuple[Callable[..., str], Any]]:
    """The worker's runner on this interpreter, with its module ``hyperflock`` in place of ours."""
    assert (WORKER / "hyperflock_worker").is_dir(), "the worker's package is part of the tree"
    ours = {k: v for k, v in sys.modules.items() if k.split(".")[0] == "hyperflock"}
    for name in ours:
        del sys.modules[name]
    sys.path.insert(0, str(WORKER))
    try:
        runner = importlib.import_module("hyperflock_worker.runner")
        yield runner.run_attempt, importlib.import_module("hyperflock_worker.bridge")
    finally:
        sys.path.remove(str(WORKER))
        for name in [
            k for k in sys.modules if k.split(".")[0] in {"hyperflock", "hyperflock_worker"}
        ]:
            del sys.modules[name]
        sys.modules.update(ours)


def _local_outcome(function: Callable[[Any], Any]) -> dict[str, Any]:
    try:
        run = run_local(function, _PARAMS, 11, number=4)
    except Exception as error:
        return {
            "outcome": "failed",
            "code": getattr(error, "code", "objective_raised"),
            "points": [],
        }
    outcome = {"complete": "complete", "pruned": "pruned"}[run.state]
    return {"outcome": outcome, "values": list(run.values), "points": list(run.points)}


@pytest.mark.parametrize("name", _CASES)
def test_local_run_does_what_the_worker_does(
    name: str, tmp_path: Path, worker: tuple[Callable[..., str], Any]
) -> None:
    script = tmp_path / "case.py"
    script.write_text(
        f"import numpy as np\nimport hyperflock\ndef objective(trial):\n    {_CASES[name]}\n"
    )
    bundle = bundle_script(script, "objective")
    run_attempt, bridge = worker
    local_bridge = bridge.LocalBridge()
    bridge.set_bridge(local_bridge)
    spec = {
        "attempt": 1,
        "study": 1,
        "trial": 4,
        "entry": bundle.entry,
        "params": json.dumps(_PARAMS),
        "seed": 11,
        "chainer": "7.8.1",
    }
    there = json.loads(run_attempt(json.dumps(spec), bundle.content, {}))

    # Here the objective's `hyperflock` is this package; sys.modules holds the worker's now.
    scope: dict[str, Any] = {"hyperflock": hyperflock}
    exec(script.read_text().replace("import hyperflock\n", ""), scope)
    here = _local_outcome(scope["objective"])

    assert here["outcome"] == there["outcome"]
    if there["outcome"] == "failed":
        assert here["code"] == there["error"]["code"]
    else:
        assert here["values"] == there.get("values", [])
        assert here["points"] == local_bridge.reports


def test_data_is_what_the_worker_shows(
    tmp_path: Path, worker: tuple[Callable[..., str], Any]
) -> None:
    (tmp_path / "w.txt").write_text("abc")
    data = {"a": np.arange(3), "z": {"b": np.ones(2)}, "f": tmp_path / "w.txt"}
    body = (
        "    import pathlib\n"
        "    text = pathlib.Path(trial.data['f']).read_text()\n"
        "    return float(trial.data['a'].sum() + trial.data['z']['b'].sum() + len(text))\n"
    )
    script = tmp_path / "case.py"
    script.write_text(f"def objective(trial):\n{body}")
    bundle = bundle_script(script, "objective")
    sent = {}
    for item in prepare(data):
        with item.open() as file:
            sent[item.ref.name] = (item.ref.kind, file.read(), item.ref.filename)
    spec = {"attempt": 1, "study": 1, "trial": 0, "entry": bundle.entry, "params": "{}", "seed": 1}
    there = json.loads(worker[0](json.dumps(spec), bundle.content, sent))
    scope: dict[str, Any] = {}
    exec(script.read_text(), scope)
    assert there == {"outcome": "complete", "values": [8.0], "backend": "numpy"}
    assert run_local(scope["objective"], {}, 1, data).value == 8.0


def test_trial_is_the_public_one() -> None:
    trial = Trial({"x": 1}, number=2, seed=3, data={})
    assert (trial.number, trial.seed, dict(trial.params)) == (2, 3, {"x": 1})
    with pytest.raises(hyperflock.SuggestMismatchError) as caught:
        trial.suggest_int("y", 0, 1)
    assert caught.value.code == "suggest_mismatch"
