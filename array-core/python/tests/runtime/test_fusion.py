"""Tests operations that wait to be fused: there are fewer launches, and no other visible effect."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "native"))

from array_core_fuzz import fusion

PROGRAMS = 150
_total = ac.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


@pytest.fixture(autouse=True)
def fusing() -> Iterator[None]:
    before = session.set_fusing(True)
    yield
    session.set_fusing(before)


def _launches() -> int:
    return ac.counters()["dispatches"]


def test_a_chain_of_twenty_operations_is_one_launch_of_one_crossing_each() -> None:
    x = ac.array(np.linspace(-1, 1, 1000, dtype=np.float32))
    before = ac.counters()
    y = x
    for _ in range(10):
        y = abs(y) * 1.5
    assert ac.counters()["crossings"] - before["crossings"] == 20
    assert _launches() == before["dispatches"]
    expected = np.linspace(-1, 1, 1000, dtype=np.float32)
    for _ in range(10):
        expected = abs(expected) * np.float32(1.5)
    assert np.array_equal(y.get(), expected)
    assert _launches() - before["dispatches"] == 1
    assert ac.counters()["fused"] - before["fused"] == 19


def test_a_normalisation_and_its_activation_are_one_launch() -> None:
    noise = np.random.default_rng(1)
    values = [noise.standard_normal(s).astype("f") for s in ((6, 5, 4), 4, 4, 4, 4)]
    x, m, r, g, b = (ac.array(value) for value in values)
    before = _launches()
    y = ac.maximum((x - m) * r * g + b, 0).get()
    assert _launches() - before == 1
    one, mean, scale, gain, shift = values
    expected = np.maximum((one - mean) * scale * gain + shift, 0)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def test_the_sum_of_a_chain_is_the_sums_own_launch() -> None:
    x = ac.array(np.arange(24, dtype=np.float32).reshape(4, 6))
    before = _launches()
    total = _total((x * 2 + 1) * x)
    assert float(total) == float(((np.arange(24) * 2 + 1) * np.arange(24)).sum())
    assert _launches() - before == 1


def test_a_product_and_a_sum_are_rounded_apart() -> None:
    noise = np.random.default_rng(2)
    a, b = (noise.standard_normal(1000).astype("f") for _ in range(2))
    x, y = ac.array(a), ac.array(b)
    before = _launches()
    rest = x * y - ac.array(a * b)
    assert not rest.get().any()
    assert _launches() - before == 1
    total = _total(abs(x * y - ac.array(a * b)))
    assert float(total) == 0


def test_nan_compares_as_numpys_whatever_reads_the_comparison() -> None:
    values = np.array([np.nan, 0, 1, -np.inf, np.inf], np.float32)
    x = ac.array(values) * 1
    for compare in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        made = ac.logical_not(getattr(ac, compare)(x, x * 1))
        with np.errstate(invalid="ignore"):
            expected = np.logical_not(getattr(np, compare)(values, values))
        assert made.get().tolist() == expected.tolist(), compare


def test_live_bytes_are_what_is_held() -> None:
    x = ac.array(np.ones(1000, np.float32))
    y = (x + 1) * (x + 2) - x
    y.get()
    assert ac.counters()["live_bytes"] == 8000
    for _ in range(5):
        y = y * 2
        y += 1
    session.drain()
    assert ac.counters()["live_bytes"] == 8000
    assert ac.counters()["peak_bytes"] <= 8000 + 4 * 4000


def test_a_loop_that_replaces_its_array_stays_flat() -> None:
    x = ac.array(np.ones(1000, np.float32))
    for _ in range(100):
        x = x * 0.5 + 1
    assert ac.counters()["peak_bytes"] <= 5 * 4000
    assert np.allclose(x.get(), 2)


def test_reset_and_close_drop_what_waits() -> None:
    x = ac.array(np.ones(10, np.float32))
    y = x + 1
    ac.reset()
    with pytest.raises(ValueError, match="gone"):
        y.get()
    assert ac.counters()["live_bytes"] == 0
    assert (ac.array(np.ones(3, np.float32)) + 1).get().tolist() == [2, 2, 2]


def test_operations_wait_unless_the_environment_or_open_says_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = os.environ.get("ARRAYCORE_BACKEND", "cpu")
    for setting, given, expected in (
        (None, None, True), ("0", None, False), ("1", None, True), ("1", False, False),
        ("0", True, True),
    ):  # fmt: skip
        monkeypatch.delenv("ARRAYCORE_FUSE", raising=False)
        if setting is not None:
            monkeypatch.setenv("ARRAYCORE_FUSE", setting)
        ac.close()
        ac.open(backend, fuse=given)
        y = ac.array(np.ones(3, np.float32)) + 1
        assert _launches() == (0 if expected else 1)
        assert y.get().tolist() == [2, 2, 2]
        assert _launches() == 1
    session.set_fusing(True)


def test_turning_it_off_computes_what_waits() -> None:
    x = ac.array(np.ones(10, np.float32))
    y = x + 1
    before = _launches()
    assert session.set_fusing(False)
    assert _launches() - before == 1
    assert not session.set_fusing(True)
    z = y * 3
    session.settle()
    assert _launches() - before == 2
    assert z.get().tolist() == [6] * 10


def test_memory_errors_come_from_the_operation_that_is_too_much() -> None:
    backend = os.environ.get("ARRAYCORE_BACKEND", "cpu")
    ac.close()
    ac.open(backend, budget_bytes=10_000, fuse=True)
    try:
        x = ac.array(np.ones(1000, np.float32))
        y = x + 1
        with pytest.raises(MemoryError):
            y * 2
        assert y.get()[0] == 2
    finally:
        ac.close()
        ac.open()
        session.set_fusing(True)


def test_random_programs_are_the_same_with_fusion() -> None:
    # A device compiles the kernels of each program, and a software device is slow at it. So only
    # the benchmark runs all programs on a device.
    steady = ac.device_info().name != "cpu"
    programs = PROGRAMS // 6 if steady else PROGRAMS
    totals = fusion.run_programs(0, programs, steady=steady)
    assert totals.programs == programs
    assert totals.fused > 5 * programs
    assert totals.dispatches < 0.7 * totals.unfused_dispatches
    assert 0 < totals.live_share <= fusion.LIVE_SHARE


def test_a_program_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    add = ac.add

    def wrong(a: Any, b: Any, **options: Any) -> Any:
        return add(a, b, **options) + 1 if session._fusing else add(a, b, **options)

    monkeypatch.setattr(ac, "add", wrong)
    # The message shows the step, and its operands with their bits.
    with pytest.raises(fusion.DifferenceError, match=r"step \d+ of .* instead of .*, of .* \(0x"):
        fusion.run_programs(2, 1)


def test_what_jumps_is_judged_by_the_operands_that_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    if ac.device_info().name != "cpu":
        pytest.skip("the judge is the same everywhere, and quick on the CPU")
    units = 1

    def inexact(function: Any) -> Any:
        def call(a: Any, b: Any, **options: Any) -> Any:
            made = function(a, b, **options)
            if not session._fusing or options or made.dtype != np.float32:
                return made
            return multiply(made, np.float32(1 + units * 2**-23))

        return call

    multiply = ac.multiply
    for name in ("add", "subtract", "multiply"):
        monkeypatch.setattr(ac, name, inexact(getattr(ac, name)))
    monkeypatch.setattr(fusion, "LIVE_SHARE", 10)  # inexact() makes a temporary
    jumps = []
    for seed in (375, 460):
        outcomes = []
        for fuses in (False, True):
            session.set_fusing(fuses)
            outcomes.append(fusion.Program(seed, steady=True).run().read)
        jumps += [
            a[0]
            for a, b in zip(*outcomes, strict=True)
            if a[1] is not None and a[1].dtype.kind not in "fc" and (a[1] != b[1]).any()
        ]
        assert len(fusion.run_programs(seed, 1, steady=True).inexact) == 1
    assert jumps
    units = 8
    with pytest.raises(fusion.DifferenceError, match=r"step 5 of .*subtract"):
        fusion.run_programs(375, 1, steady=True)


def test_a_program_that_takes_more_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "LIVE_SHARE", 0.5)
    with pytest.raises(fusion.DifferenceError, match="live bytes"):
        fusion.run_programs(0, 1)
