"""Tests Optuna in the gathered runtime: an attempt of a study in real Pyodide under Node."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from places import LIMIT_S

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def attempt(runtime: Path, node: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the attempt. Return its calls, its imports and its outcome."""
    folder = tmp_path_factory.mktemp("attempt")
    with zipfile.ZipFile(folder / "bundle.zip", "w") as archive:
        archive.write(HERE / "optuna_script.py", "optuna_script.py")
    spec = {
        "attempt": 1,
        "study": 1,
        "trial": 4,
        "entry": "optuna_script:objective",
        "params": "{}",
        "seed": 7,
        "chainer": "7.8.1",
        "asked": {"directions": 1, "suggested": None},
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    answers = json.dumps({"optimizer": '"adam"', "rate": "0.25", "layers": "2"})
    files = [str(folder / name) for name in ("spec.json", "bundle.zip")]
    command = [node, str(HERE / "pyodide_optuna.mjs"), str(runtime), *files, answers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"Optuna's part of a trial is imported in {answer['importMs']} ms")
    return answer


def test_a_tutorials_script_runs(attempt: dict[str, Any]) -> None:
    outcome = attempt["outcome"]
    assert json.loads(outcome.pop("attrs")) == {"user": {"optimizer": "adam"}}
    assert outcome == {"outcome": "complete", "values": [0.5], "backend": "numpy"}
    assert attempt["reports"] == [[0, 0.5], [1, 0.5]]
    assert [method for method, _, _ in attempt["asked"]] == ["suggest"] * 3 + ["should_prune"] * 2
    distributions = [json.loads(text) for _, _, text in attempt["asked"][:3]]
    assert [distribution["name"] for distribution in distributions] == [
        "CategoricalDistribution",
        "FloatDistribution",
        "IntDistribution",
    ]


def test_a_trial_imports_what_it_needs_and_nothing_from_sources(attempt: dict[str, Any]) -> None:
    assert "optuna.distributions" in attempt["optuna"]
    heavy = ("optuna.samplers", "optuna.storages", "optuna.study.study", "optuna.visualization")
    assert not set(heavy) & set(attempt["optuna"])
    assert attempt["sources"] == []
