"""Tests local runs: seeding, outcomes, data. The methods of a trial are tested in tests/trial."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyperflock
import numpy as np
import pytest
from hyperflock import Client, Trial, TrialPruned, run_local
from hyperflock._bundle.bundle import bundle_script
from hyperflock._model.data import prepare
from hyperflock._trial.host import LocalHost
from patience import LIMIT_S

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


def test_data_is_what_the_worker_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(WORKER))
    from hyperflock_worker import compat, runner

    monkeypatch.setattr(compat, "install", lambda on_update, on_train: None)
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
    told = runner.run_attempt(json.dumps(spec), bundle.content, sent, (), LocalHost())
    there = json.loads(told)
    scope: dict[str, Any] = {}
    exec(script.read_text(), scope)
    assert there == {"outcome": "complete", "values": [8.0], "backend": "numpy"}
    assert run_local(scope["objective"], {}, 1, data).value == 8.0


def test_trial_is_the_public_one() -> None:
    trial = Trial({"x": 1}, number=2, seed=3, data={})
    assert (trial.number, trial.seed, dict(trial.params)) == (2, 3, {"x": 1})
    trial.report(0.5, 1)
    with pytest.raises(hyperflock.SuggestMismatchError) as caught:
        trial.suggest_int("y", 0, 1)
    assert caught.value.code == "suggest_mismatch"


@pytest.mark.parametrize("has_chainer", [True, False])
def test_an_installed_wheel_patches_numpy_for_chainer(tmp_path: Path, has_chainer: bool) -> None:
    """The wheel contains the worker's package inside the package ``hyperflock``, and not on
    ``sys.path``.
    """
    site = tmp_path / "site"
    shutil.copytree(Path(hyperflock.__file__).parent, site / "hyperflock")
    shutil.copytree(
        WORKER / "hyperflock_worker", site / "hyperflock" / "_worker" / "hyperflock_worker"
    )
    if has_chainer:
        (site / "chainer.py").touch()
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "import hyperflock, numpy\n"
        "paths = list(sys.path)\n"
        "run = hyperflock.run_local(lambda trial: hasattr(numpy, 'asscalar'), {})\n"
        "print(run.value, paths == sys.path)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.stdout.split() == [str(float(has_chainer)), "True"], done.stderr
