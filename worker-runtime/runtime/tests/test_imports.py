"""Tests that every module of the NumPy that volunteers get can be imported in real Pyodide.

Compiled files have no docstrings, but the import of NumPy reads some. ``manifest.json`` names those
that it needs. This test fails if another one is missing.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from places import LIMIT_S

HERE = Path(__file__).resolve().parent
CODE = """
from numpy import *  # what is left out must not be promised
from numpy.lib import recfunctions
masked = ma.masked_array([1.0, 2.0, 4.0], mask=[False, True, False])
fields = recfunctions.append_fields(array([(1,)], dtype=[("a", "i4")]), "b", array([2.0]))
said = {
    "mean": float(masked.mean()),
    "ones": ma.ones(3).tolist(),
    "matrix": (matrix("1 2; 3 4") @ matrix("0; 1")).tolist(),
    "fields": list(fields.dtype.names),
    "doc": ones.__doc__ is not None,
    "char": char.upper(["a"]).tolist(),
}
"""


@pytest.fixture(scope="module")
def imported(runtime: Path, node: str) -> dict[str, Any]:
    """Return the result of importing every module of NumPy."""
    command = [node, str(HERE / "pyodide_imports.mjs"), str(runtime), "numpy", CODE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_every_module_of_numpy_is_imported(imported: dict[str, Any]) -> None:
    assert imported["errors"] == {}
    assert imported["modules"] > 140


def test_what_is_imported_works(imported: dict[str, Any]) -> None:
    assert imported["said"] == {
        "mean": 2.5,
        "ones": [1.0, 1.0, 1.0],
        "matrix": [[2], [4]],
        "fields": ["a", "b"],
        "doc": True,
        "char": ["A"],
    }
