"""Tests this folder's tools: how they find 64-bit floats, count calls of Chainer's functions,
divide the cases into parts, and report results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cases import names_wide, part_of, reason_of
from results import CRASHED, figures, known_failures, listed, read
from watch import ForwardWatch, has_wide


@pytest.mark.parametrize(
    ("params", "wide"),
    [
        ({"dtype": np.float64}, True),
        ({"dtype": np.dtype("complex128")}, True),
        ({"dtypes": [np.float16, (np.float32, "float64")]}, True),
        ({"options": {"dtype": "d"}}, True),
        ({"mode": "d", "dtype": "f"}, False),
        ({"dtype": np.float32, "label": np.int64, "eps": 1e-3, "ids": np.zeros(2)}, False),
    ],
)
def test_a_case_names_a_wide_float(params: dict[str, Any], wide: bool) -> None:
    assert names_wide(params) is wide


def test_parts_hold_every_case_once() -> None:
    names = [f"test_{i}.py::Case::test" for i in range(1000)]
    parts = [{name for name in names if part_of(name, 8) == part} for part in range(8)]
    assert set().union(*parts) == set(names)
    assert sum(map(len, parts)) == 1000
    assert min(map(len, parts)) > 90


def test_a_forward_counts_once_and_only_outside_of_backward_and_float64() -> None:
    counter = SimpleNamespace(ops=0)
    watch = ForwardWatch(lambda: counter.ops)

    class Function:
        def apply(self, inputs: Any) -> None:
            counter.ops += 1
            if len(inputs) > 1:
                Function.apply(self, inputs[:1])

    Function.apply = watch.forward(Function.apply)  # type: ignore[method-assign]
    narrow, wide = np.zeros(2, "f"), np.zeros(2)
    Function().apply((narrow, narrow))
    assert (watch.calls, watch.cpu_ops) == (1, 2)
    Function().apply((narrow, wide))
    watch.aside(Function().apply)((narrow,))
    assert (watch.calls, watch.cpu_ops) == (1, 2)
    Function().apply((narrow,))
    assert (watch.calls, watch.cpu_ops) == (2, 3)
    watch.reset()
    assert (watch.calls, watch.cpu_ops) == (0, 0)
    assert has_wide([[narrow, (wide,)]])
    assert not has_wide([1.0, "float64", narrow])


def test_reasons_are_one_line_with_a_place() -> None:
    def fails() -> None:
        np.testing.assert_allclose([1.0, 2.0], [1.0, 3.0], rtol=0.1)

    with pytest.raises(AssertionError) as caught:
        fails()
    reason = reason_of(caught.value)
    assert "Mismatched elements: 1 / 2" in reason
    assert "test_suite.py" in reason
    assert "\n" not in reason


LINES: list[dict[str, Any]] = [
    {"cases": 7},
    {"id": "chainer_tests/functions_tests/test_a.py::A::test_gpu"},
    {"id": "chainer_tests/functions_tests/test_a.py::A::test_gpu", "end": "passed", "gpu": 1},
    {"id": "chainer_tests/functions_tests/test_a.py::B::test_gpu", "end": "failed", "gpu": 1,
     "why": "wrong", "cpu_ops": 2, "forwards": 1},
    {"id": "chainer_tests/functions_tests/test_a.py::C::test_gpu", "end": "failed", "gpu": 1,
     "wide": 1, "why": "wrong"},
    {"id": "chainer_tests/links_tests/test_b.py::D::test_gpu", "end": "skipped", "gpu": 1,
     "why": "2 GPUs required"},
    {"id": "chainer_tests/links_tests/test_b.py::E::test_cpu", "end": "passed"},
    {"id": "chainer_tests/links_tests/test_b.py::F::test_cpu"},
]  # fmt: skip


def test_figures_are_counted_from_records(tmp_path: Path) -> None:
    record = tmp_path / "of.jsonl"
    record.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    cases = read([record])
    assert cases["chainer_tests/links_tests/test_b.py::F::test_cpu"]["why"] == CRASHED
    numbers = figures(cases)
    assert numbers["cases"] == 6
    assert numbers["gpu_cases"] == 2
    assert numbers["gpu_passed"] == numbers["gpu_forward_on_device"] == 0.5
    assert numbers["cpu_passed"] == numbers["links_passed"] == 0.5
    assert "optimizers_passed" not in numbers
    made = listed(cases)
    assert made["failed"]["functions_tests/test_a.py"] == {"wrong": ["B::test_gpu", "C::test_gpu"]}
    failed = {name for name, case in cases.items() if case["end"] == "failed"}
    assert known_failures(json.loads(json.dumps(made))) == failed
    assert made["forward_needs_cpu"] == {"functions_tests/test_a.py": 1}
    assert made["skipped"] == {"gpu: 2 GPUs required": 1}
