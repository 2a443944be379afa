"""Runs a sample of the comparison, and tests that it notices every kind of difference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from differential import judge
from differential.families import FAMILIES
from differential.run import run

#: Cases of each function. `python3 -m differential --cases 200` runs more.
CASES = 6


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_functions_do_what_numpys_do(family: str) -> None:
    (result,) = run(CASES, only=f"{family}.").values()
    assert result.tried >= CASES * len(FAMILIES[family])
    assert result.failures == []


@pytest.mark.parametrize(
    ("ours", "kind"),
    [
        (lambda a: a + 1, judge.VALUE),
        (lambda a: a.astype("float64"), judge.DTYPE),
        (lambda a: a[None], judge.SHAPE),
        (lambda a: 1 / 0, judge.RAISED),
        (lambda a: refuse("take another"), judge.RAISED),
        (lambda a: refuse("no f: take another"), judge.REFUSED),
        (lambda a: ac.copy(a), judge.SAME),
    ],
)
def test_a_difference_is_noticed(monkeypatch: Any, ours: Any, kind: str) -> None:
    monkeypatch.setattr(ac, "copy", ours) if kind != judge.SAME else None
    assert judge.judge("copy", [np.arange(3.0, dtype="float32")], {}).kind == kind


def refuse(text: str) -> None:
    raise NotImplementedError(text)


def test_errors_are_compared() -> None:
    vector = np.arange(3.0)
    assert judge.judge("reshape", [vector, (2, 2)], {}).kind == judge.SAME
    assert judge.judge("ndarray.get", [vector], {}).kind == judge.SAME  # NumPy has no such method
    assert judge.judge("linalg.inv", [vector], {}).kind == judge.SAME
    assert judge.judge("power", [np.array([2]), np.array([-1])], {}).kind == judge.ACCEPTED


def test_forms_keep_layouts_and_pass_what_numpy_takes() -> None:
    turned = np.arange(12.0).reshape(3, 4).T
    made = judge.converted(turned, "device")
    assert isinstance(made, ac.ndarray)
    assert made.strides == turned.strides
    mixed = judge.converted([turned, turned], "host")
    assert [type(each) for each in mixed] == [ac.ndarray, np.ndarray]
    assert isinstance(judge.converted([turned, turned], "list")[1], list)


def test_a_case_can_be_repeated() -> None:
    first, again = (run(2, seed=5, only="linalg.dot") for _ in range(2))
    assert first["linalg"].kinds == again["linalg"].kinds
    assert first["linalg"].tried == 2
