"""Tests that Chainer computes the same on arraycore as on NumPy: functions, training, the trainer's
files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from places import BAR, SCRIPT, SMALL, VERSIONS, python_path


def python(version: str, *arguments: str) -> str:
    """Return what a fresh interpreter prints. Two versions of Chainer cannot share a process."""
    done = subprocess.run(
        (sys.executable, *arguments),
        env=os.environ | {"PYTHONPATH": python_path(version)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@cache
def trained(version: str) -> dict[str, Any]:
    options = ("--on", "numpy", "cupy", "--model", "cnn", "mlp", "--steps", "70", *SMALL)
    made: dict[str, Any] = json.loads(python(version, str(SCRIPT), "--version", version, *options))
    return made


@pytest.mark.parametrize("model", ["cnn", "mlp"])
@pytest.mark.parametrize("version", VERSIONS)
def test_losses_are_numpys(version: str, model: str) -> None:
    wanted = trained(version)[model]["numpy"]["losses"]
    got = trained(version)[model]["cupy"]["losses"]
    assert got[:20] == pytest.approx(wanted[:20], rel=BAR)
    assert wanted[-1] < 0.95 * wanted[0], "nothing was learned"


@pytest.mark.parametrize("model", ["cnn", "mlp"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_step_stays_on_the_device_and_memory_is_flat(version: str, model: str) -> None:
    run = trained(version)[model]["cupy"]
    spent = run["spent"]
    assert {name: spent[name] for name in ("bytes_up", "bytes_down", "cpu_ops")} == {
        "bytes_up": 0, "bytes_down": 0, "cpu_ops": 0,
    }  # fmt: skip
    assert 0 < spent["dispatches"] <= {"cnn": 65, "mlp": 35}[model]
    assert run["growth"] == 0


#: Scenarios with random numbers, which a device draws from other streams than NumPy's.
RANDOM = {f"{name} {dtype}" for name in ("dropout", "gaussian") for dtype in ("float16", "float32")}
RANDOM |= {"noise float32"}


@pytest.mark.parametrize("version", VERSIONS)
def test_functions_links_and_optimizers_are_numpys(version: str) -> None:
    script = Path(__file__).with_name("functions.py")
    made = json.loads(python(version, str(script)).splitlines()[-1])
    assert made["scenarios"] > 165
    wrong = {name: end for name, end in made["wrong"].items() if name not in RANDOM}
    assert not wrong, json.dumps(wrong, indent=1)


@pytest.mark.parametrize("version", VERSIONS)
def test_trainer_snapshots_and_copies(version: str, tmp_path: Path) -> None:
    script = Path(__file__).with_name("trainer.py")
    assert json.loads(
        python(version, "-W", "error::UserWarning", str(script), str(tmp_path)).splitlines()[-1]
    ) == {"ok": True}
