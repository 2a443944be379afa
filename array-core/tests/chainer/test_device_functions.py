"""Tests that Chainer's functions on ``arraycore.nn`` compute the same as Chainer's own kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from places import VERSIONS, python_path


def run(version: str, **environment: str) -> dict[str, Any]:
    script = Path(__file__).with_name("device_functions.py")
    done = subprocess.run(
        (sys.executable, str(script)),
        env=os.environ | {"PYTHONPATH": python_path(version)} | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_values_and_gradients_are_those_of_chainers_own_kernels(version: str) -> None:
    made = run(version)
    assert made["cases"] > 30
    assert not made["wrong"], json.dumps(made["wrong"], indent=1)


def test_the_switch_leaves_everything_to_chainer() -> None:
    made = run("7.8.1", HYPERFLOCK_DEVICE_FUNCTIONS="0")
    assert set(made["wrong"].values()) == {"called []"}
    # A few cases need no function of arraycore.nn, so they are not reported as wrong without it.
    assert made["cases"] - 5 < len(made["wrong"]) < made["cases"]
