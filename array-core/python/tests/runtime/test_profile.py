"""Tests the profile's table and trace: their counts, their errors, and that results do not
change.
"""

from __future__ import annotations

import json
from pathlib import Path

import arraycore as ac
import numpy as np
import pytest

MOVES = {"upload", "read", "zeros"}


def work(a: ac.ndarray) -> np.ndarray:
    """Return the result of a matrix product, a chain of fused operations and a reduction."""
    b = ac.exp(a @ a.T) + 1
    return (b / b.sum(axis=0)).get()


def fails(a: ac.ndarray) -> None:
    work(a)
    raise RuntimeError("the block's own")


@pytest.fixture
def matrix() -> ac.ndarray:
    return ac.array(np.linspace(-0.1, 0.1, 40 * 30, dtype="float32").reshape(40, 30))


def test_rows_count_what_counters_count(matrix: ac.ndarray) -> None:
    wanted = work(matrix)
    before = ac.counters()
    with ac.profile() as p:
        got = work(matrix)
    after = ac.counters()
    np.testing.assert_array_equal(got, wanted)
    counted = {name: after[name] - before[name] for name in after}
    launches = [row for row in p.rows if row.name not in MOVES]
    assert sum(row.calls for row in launches) == counted["dispatches"]
    assert sum(row.dispatches for row in launches) >= counted["dispatches"]
    assert sum(row.bytes_down for row in p.rows) == counted["bytes_down"] == wanted.nbytes
    assert sum(row.bytes_up for row in p.rows) == counted["bytes_up"] == 0
    assert any(row.name.startswith("matmul") for row in p.rows)
    assert 0 < p.cpu_ms <= p.wall_ms
    assert p.lost == 0


def test_a_profile_changes_nothing_that_is_launched(matrix: ac.ndarray) -> None:
    def launched() -> dict[str, int]:
        before = ac.counters()
        work(matrix)
        after = ac.counters()
        return {name: after[name] - before[name] for name in ("dispatches", "cpu_ops", "fused")}

    wanted = launched()
    with ac.profile():
        assert launched() == wanted


def test_what_was_launched_before_is_not_in_it(matrix: ac.ndarray) -> None:
    _ = matrix + 1
    with ac.profile() as p:
        pass
    assert p.rows == ()
    assert p.table().splitlines()[1].startswith("all")


def test_device_times(matrix: ac.ndarray) -> None:
    with ac.profile() as p:
        for _ in range(20):
            work(matrix)
    for row in p.rows:
        assert (row.device_ms is None) == (not p.device.has_clock)
    assert (p.device_ms is None) == (not p.device.has_clock)
    # A browser's clock has steps of 0.1 ms, and a fast device may do the work within one step. So
    # the times are checked only on a software device.
    if p.device.has_clock and p.device.is_software:
        assert p.device_ms is not None
        assert 0 < p.device_ms <= p.wall_ms
        matmul = next(row for row in p.rows if row.name.startswith("matmul"))
        assert matmul.dispatches >= matmul.calls == 20
        assert matmul.device_ms


def test_the_trace_is_one_that_viewers_load(matrix: ac.ndarray, tmp_path: Path) -> None:
    with ac.profile() as p:
        work(matrix)
    p.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    events = trace["traceEvents"]
    assert trace["displayTimeUnit"] == "ms"
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    complete = [event for event in events if event["ph"] == "X"]
    assert {event["ph"] for event in events} == {"M", "X"}
    for event in complete:
        assert isinstance(event["name"], str)
        assert event["pid"] == 1
        assert event["tid"] in named
        assert event["ts"] >= 0
        assert event["dur"] >= 0
    spans = [event for event in complete if event["tid"] == 1]
    assert len(spans) == sum(row.calls for row in p.rows)
    assert [event["ts"] for event in spans] == sorted(event["ts"] for event in spans)
    assert spans[-1]["ts"] + spans[-1]["dur"] <= p.wall_ms * 1e3
    kernels = [event for event in complete if event["tid"] == 2]
    if p.device.has_clock:
        assert len(kernels) == sum(row.dispatches for row in p.rows)
        assert min(event["ts"] for event in kernels) >= spans[0]["ts"]


def test_the_table_has_a_line_each_and_their_sum(matrix: ac.ndarray) -> None:
    with ac.profile() as p:
        work(matrix)
    lines = p.table().splitlines()
    assert lines[0].split()[:3] == ["operation", "calls", "dispatches"]
    assert len(lines) == 1 + len(p.rows) + 2
    assert lines[-2].split()[:2] == ["all", str(sum(row.calls for row in p.rows))]
    short = p.table(limit=1).splitlines()
    assert short[2].startswith(f"{len(p.rows) - 1} more")
    assert str(p) == p.table(20)


def test_one_at_a_time_and_over_after_an_error(matrix: ac.ndarray) -> None:
    with ac.profile():
        with pytest.raises(ValueError, match="under way") as raised, ac.profile():
            pass
        assert getattr(raised.value, "code", None) == "profiled_already"
    with pytest.raises(RuntimeError, match="the block's own"), ac.profile() as p:
        fails(matrix)
    assert p.rows
    with ac.profile() as again:
        work(matrix)
    assert again.rows


def test_a_reset_ends_it(matrix: ac.ndarray) -> None:
    del matrix
    with pytest.raises(ValueError, match="no profile") as raised, ac.profile():
        ac.reset()
    assert getattr(raised.value, "code", None) == "not_profiled"
