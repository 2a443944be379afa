"""Tests that every function of Chainer has a case, and that its values and gradients are right in a
native run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gradient_cases import CASES, IN_FLOAT32, NOT_DIFFERENTIABLE, ONCE, RANDOM
from places import VERSIONS, python_path

SCRIPT = Path(__file__).with_name("gradients.py")
#: For each version, the least numbers of gradients, values and second gradients that are compared.
COMPARED = {"5.4.0": (192, 350, 175), "7.8.1": (202, 370, 180)}


def checked(version: str, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        (sys.executable, str(SCRIPT), "--version", version, *options),
        env=os.environ | {"PYTHONPATH": python_path(version)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == int(any(map(any, made["wrong"].values())) or bool(made["forgotten"]))
    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_every_function_has_its_values_and_gradients(version: str) -> None:
    made = checked(version)
    assert not made["forgotten"], "functions of Chainer's without a case"
    assert made["wrong"] == {"values": {}, "gradients": {}, "twice": {}}
    functions, values, twice = COMPARED[version]
    assert made["functions"] == functions
    assert made["values"] >= values
    assert made["twice"] >= twice


def test_results_that_are_off_by_a_hundredth_are_found() -> None:
    names = {"convolution_2d", "tanh", "n_step_lstm", "inv"}
    made = checked("7.8.1", "--spoil", "0.01", "--only", *names)
    assert set(made["wrong"]["gradients"]) == set(made["wrong"]["twice"]) == names
    assert {f"{name} float32" for name in names} <= set(made["wrong"]["values"])


def test_lists_name_cases_and_nothing_twice() -> None:
    assert not set(CASES) & NOT_DIFFERENTIABLE
    assert set(CASES) >= IN_FLOAT32 | ONCE | RANDOM
