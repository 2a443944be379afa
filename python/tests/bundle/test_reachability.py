"""Tests that submitting reads files but runs none, and warns of state that starts anew on each
device.
"""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hyperflock._bundle.bundle import bundle_objective
from imported import ImportedFiles


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImportedFiles]:
    monkeypatch.syspath_prepend(str(tmp_path))
    files = ImportedFiles(tmp_path)
    yield files
    files.forget()


def test_bundling_starts_no_process_and_imports_nothing_again(
    imported: ImportedFiles, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def started(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", started)
    module = imported(
        """
        import os, helper
        CFG = {"rate": float(os.environ.get("RATE", "0.1"))}
        with open(os.path.join(os.path.dirname(helper.__file__), "times"), "a") as file:
            file.write("x")
        def made():
            return lambda trial: helper.scale() * CFG["rate"]
        """,
        "CFG['rate'] * helper.scale()",
        helper="SIZES = [n for n in range(3)]\ndef scale():\n    return len(SIZES)\n",
    )
    module.CFG["rate"] = 0.5
    module.helper.SIZES.append(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bundle = bundle_objective(module.objective)
        bundle_objective(module.made())
    assert {"fresh.py", "helper.py"} <= {*bundle.files}
    assert (tmp_path / "times").read_text() == "x"


def test_expression_of_numbers_is_a_literal(imported: ImportedFiles) -> None:
    module = imported("BATCH = 2 * 32", "BATCH")
    assert bundle_objective(module.objective).files == ("fresh.py",)
    module.BATCH = 256
    assert bundle_objective(module.objective).files == ("fresh.py", "hyperflock_objective.py")


@pytest.mark.parametrize(
    ("text", "returned"),
    [
        ("SCALE = 1\ndef more():\n    global SCALE\n    SCALE += 1\n    return SCALE", "more()"),
        ("import random\nSCALE = random.Random(3)", "SCALE.random()"),
        ("import numpy as np\nSCALE = np.random.default_rng(3)", "SCALE.random()"),
        ("import numpy as np\nSCALE = np.random.RandomState(3)", "SCALE.rand()"),
    ],
)
def test_what_goes_from_trial_to_trial_is_warned_of(
    text: str, returned: str, imported: ImportedFiles
) -> None:
    module = imported(text, returned)
    module.objective(None)
    said = "each trial on a device begins with 'SCALE' of 'fresh.py' as it is now"
    with pytest.warns(UserWarning, match=said) as caught:
        bundle_objective(module.objective)
    assert (len(caught), caught[0].filename) == (1, __file__)


@pytest.mark.parametrize(
    ("text", "returned"),
    [
        (
            "DATA = None\ndef load():\n    global DATA\n    DATA = DATA or [1]\n    return DATA",
            "load()",
        ),
        ("RATE = 0.1", "RATE"),
    ],
)
def test_cache_and_constant_are_not_warned_of(
    text: str, returned: str, imported: ImportedFiles
) -> None:
    module = imported(text, returned)
    module.objective(None)
    with warnings.catch_warnings(record=True) as caught:
        bundle_objective(module.objective)
    assert caught == []
