"""Tests that the parity page shows what the reports contain: counts, places, the worst error,
failures.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from parity.page import page, write
from parity.summary import summary


def case(operation: str, operands: list[str], layout: str, ran: str, **more: Any) -> dict[str, Any]:
    made = {"group": "ufunc", "operation": operation, "operands": operands, "layout": layout}
    return made | {"form": "call", "ran": ran, "error_ulp": 0.0, "failure": ""} | more


def report(backend: str, device: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    failures = sum(bool(each["failure"]) for each in cases)
    figures = {"parity_cases": len(cases), "parity_failures": failures, "parity_gpu_share": 0.75,
               "parity_seconds": 1.5}  # fmt: skip
    return {"backend": backend, "device": device, "platform": "linux", "numpy": "2.4.3",
            "short": False, "when": "2026-11-21 15:00 UTC", "figures": figures,
            "cases": cases}  # fmt: skip


TWO = ["float32", "float32"]
NATIVE = report("native_cpu", "cpu", [
    case("add", TWO, "contiguous,contiguous", "native_cpu"),
    case("add", TWO, "contiguous,contiguous", "native_cpu", form="operator", error_ulp=1.25),
    case("add", TWO, "strided,negative", "native_cpu"),
    case("sin", ["float64"], "box", "native_cpu", error_ulp=0.50449),
])  # fmt: skip
DEVICE = report("node_webgpu", "SwiftShader", [
    case("add", TWO, "contiguous,contiguous", "node_webgpu", error_ulp=3.0),
    case("add", TWO, "contiguous,contiguous", "cpu"),
    case("add", TWO, "strided,negative", "node_webgpu", error_ulp=None, failure="1, NumPy 2"),
])  # fmt: skip


def shown(table: dict[str, Any]) -> dict[tuple[str, ...], list[Any]]:
    """Return each row's cells; the keys are the texts that the page shows for the row."""
    names, cells = table["names"], table["cells"]
    return {
        tuple(names[at] for at in row[:4]): [None if at < 0 else tuple(cells[at]) for at in row[4:]]
        for row in table["rows"]
    }


def test_a_row_is_an_operation_with_its_dtypes_and_layout() -> None:
    assert shown(summary([NATIVE, DEVICE])) == {
        ("ufunc", "add", "float32, float32", "contiguous"): [(2, 0, 0, 1.25), (2, 1, 0, 3.0)],
        ("ufunc", "add", "float32, float32", "strided, negative"): [(1, 0, 0, 0.0), (1, 1, 1, 0.0)],
        ("ufunc", "sin", "float64", "box"): [(1, 0, 0, 0.504), None],
    }


def test_rows_sum_up_layouts_or_all_of_an_operation() -> None:
    assert shown(summary([NATIVE], "operands")) == {
        ("ufunc", "add", "float32, float32", "2 layouts"): [(3, 0, 0, 1.25)],
        ("ufunc", "sin", "float64", "1 layout"): [(1, 0, 0, 0.504)],
    }
    assert shown(summary([NATIVE, DEVICE], "operation")) == {
        ("ufunc", "add", "1 set", "2 layouts"): [(3, 0, 0, 1.25), (3, 2, 1, 3.0)],
        ("ufunc", "sin", "1 set", "1 layout"): [(1, 0, 0, 0.504), None],
    }


def test_back_ends_and_failures_are_told() -> None:
    table = summary([NATIVE, DEVICE])
    native, device = table["backends"]
    assert (native["cases"], native["device_share"], native["selection"]) == (4, None, False)
    assert (device["failures"], device["device_share"]) == (1, 0.75)
    assert device["when"] == "2026-11-21 15:00 UTC"
    assert table["failures"] == [
        "node_webgpu: ufunc add(float32, float32) strided,negative call: 1, NumPy 2"
    ]
    assert sum(cell[0][0] for cell in shown(table).values()) == native["cases"]


def test_two_reports_of_one_back_end_are_refused() -> None:
    with pytest.raises(ValueError, match="native_cpu, native_cpu"):
        summary([NATIVE, NATIVE])


def test_the_page_holds_the_table_and_needs_nothing_else() -> None:
    odd = case("add", TWO, "box", "native_cpu", failure="</script><!-- & NumPy's 'nan'")
    table = summary([report("native_cpu", "cpu", [odd])])
    html = page(table)
    (held,) = re.findall(r'<script id="summary" type="application/json">(.*?)</script>', html)
    assert json.loads(held) == table
    assert not re.findall(r"(?:src|href)\s*=|@import|url\(|https?:", html)


def test_what_is_written_is_what_was_reported(tmp_path: Path) -> None:
    paths = []
    for each in (NATIVE, DEVICE):
        paths.append(tmp_path / f"{each['backend']}.json")
        paths[-1].write_text(json.dumps(each))
    table = write(paths, tmp_path / "page", "layout")
    assert json.loads((tmp_path / "page" / "summary.json").read_text()) == table
    assert (tmp_path / "page" / "index.html").read_text() == page(table)
