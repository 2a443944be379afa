"""Captured steps compute what plain ones do, bit for bit; what cannot be captured says why."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore import capture

Maker = Callable[[Callable[..., Any]], Callable[..., Any]]


def batches(count: int = 8) -> list[Any]:
    stream = np.random.RandomState(0)
    return [stream.rand(5, 3).astype("f") for _ in range(count)]


def trained(made: Maker, scale: capture.Scalar | None = None) -> tuple[list[Any], Any, Any]:
    """Train with momentum and dropout; return losses, weights and the random stream's state."""
    weights = ac.array(np.linspace(-1, 1, 12, dtype="f").reshape(3, 4))
    momentum = ac.zeros_like(weights)
    stream = ac.random.RandomState(4)

    def train(x: Any) -> Any:
        y = ac.maximum(x @ weights, 0)
        y = y * (stream.rand(*y.shape, dtype="f") > 0.5)
        if scale is not None:
            y = y * scale.value
        momentum[...] = 0.9 * momentum + x.T @ (y - 1)
        weights[...] = weights - 0.01 * momentum
        return (y * y).sum()

    step = made(train)
    losses = []
    for number, x in enumerate(batches()):
        if scale is not None and number > 3:
            scale.value = 1.0 + number / 8
        losses.append(float(step(ac.array(x))))
    return losses, weights.get(), stream.get_state()


def test_a_captured_step_is_the_plain_one() -> None:
    losses, weights, state = trained(lambda train: train)
    steps: list[capture.Step] = []

    def made(train: Callable[..., Any]) -> capture.Step:
        steps.append(capture.Step(train))
        return steps[0]

    fast_losses, fast_weights, fast_state = trained(made)
    assert steps[0].is_captured
    assert 0 < steps[0].commands < 20
    assert fast_losses == losses
    assert fast_weights.tobytes() == weights.tobytes()
    assert fast_state == state
    steps[0].close()


def test_a_scalar_is_followed() -> None:
    losses, weights, _ = trained(lambda train: train, capture.Scalar(1.0))
    fast_losses, fast_weights, _ = trained(capture.Step, capture.Scalar(1.0))
    assert fast_losses == losses
    assert fast_weights.tobytes() == weights.tobytes()


def test_a_replay_is_few_crossings() -> None:
    total = ac.zeros((4, 4), "f")

    def step(x: Any) -> None:
        for _ in range(30):
            total[...] = total + x * 2

    x = ac.ones((4, 4), "f")
    with capture.Step(step) as fast:
        for _ in range(3):
            fast(x)
        before = ac.counters()
        for _ in range(10):
            fast(x)
        after = ac.counters()
        assert float(total[0, 0]) == 13 * 60
        assert after["crossings"] - before["crossings"] < 10 * 6
        assert after["dispatches"] - before["dispatches"] >= 10 * 30
        assert after["live_bytes"] == before["live_bytes"]
        assert after["live_arrays"] == before["live_arrays"]


def test_numpy_arrays_trees_and_other_shapes() -> None:
    def step(pair: Any, factor: float) -> Any:
        return (pair["x"] + pair["y"][0]) * factor

    with capture.Step(step) as fast:
        for number in range(6):
            x = np.full((2, 3), number, "f")
            made = fast({"x": x, "y": [ac.array(x)]}, 2.0)
            np.testing.assert_array_equal(made.get(), 4 * x)
        assert fast.is_captured
        longer = np.ones((3, 3), "f")
        np.testing.assert_array_equal(fast({"x": longer, "y": [longer]}, 2.0).get(), 4 * longer)
        np.testing.assert_array_equal(fast({"x": x, "y": [x]}, 3.0).get(), 6 * x)
        np.testing.assert_array_equal(fast({"x": x, "y": [x]}, 2.0).get(), 4 * x)


def refused(step: Callable[..., Any], *arguments: Any) -> capture.CaptureError:
    fast = capture.Step(step)

    def run() -> None:
        for _ in range(6):
            fast(*arguments)

    with pytest.raises(capture.CaptureError) as caught:
        run()
    assert fast.reason == str(caught.value)
    return caught.value


def test_reading_is_refused_with_its_line() -> None:
    def step(x: Any) -> Any:
        return x * float(x.sum())  # read here

    error = refused(step, ac.ones(3, "f"))
    assert error.code == "capture_reads"
    line = step.__code__.co_firstlineno + 1
    assert f"test_capture.py:{line}" in str(error)


def test_host_numbers_and_draws_are_refused() -> None:
    numbers = iter(range(1, 100))
    target = ac.zeros(3, "f")

    def scales(x: Any) -> None:
        target[...] = x * float(next(numbers))

    error = refused(scales, ac.ones(3, "f"))
    assert error.code == "capture_values"
    assert "multiply" in str(error)

    stream = np.random.RandomState(0)

    def draws(x: Any) -> Any:
        return x + ac.array(stream.rand(3).astype("f"))

    assert refused(draws, ac.ones(3, "f")).code == "capture_uploads"


def test_other_work_is_refused() -> None:
    turns = iter(range(100))

    def alternates(x: Any) -> Any:
        return (x + 1).sum() if next(turns) % 2 else (x * 2).max()

    assert refused(alternates, ac.ones(3, "f")).code in ("capture_operations", "capture_shapes")

    sizes = iter(range(3, 100))

    def grows(x: Any) -> Any:
        return x[: next(sizes)] + 1

    assert refused(grows, ac.ones(200, "f")).code == "capture_shapes"


def test_a_refused_step_runs_on_where_that_is_wanted() -> None:
    seen = []

    def step(x: Any) -> Any:
        seen.append(float(x.sum()))
        return x + 1

    fast = capture.Step(step, strict=False)
    for _ in range(5):
        made = fast(ac.ones(3, "f"))
    assert seen == [3.0] * 5
    assert float(made[0]) == 2
    assert fast.reason is not None
    assert "reads" in fast.reason


def test_state_made_anew_is_carried_on() -> None:
    class Running:
        value = ac.zeros(3, "f")

    def step(x: Any) -> None:
        Running.value = Running.value * 0.5 + x

    with capture.Step(step) as fast:
        expected = np.zeros(3, "f")
        for number in range(8):
            x = np.full(3, number, "f")
            fast(x)
            expected = expected * np.float32(0.5) + x
            np.testing.assert_array_equal(Running.value.get(), expected)
        assert fast.is_captured


def test_memory_is_given_back() -> None:
    x = ac.ones((64, 64), "f")
    target = ac.zeros((64, 64), "f")

    def step(x: Any) -> None:
        target[...] = (x @ x) @ (x @ target)

    step(x)
    gc.collect()
    ac.counters()
    before = ac.counters()["live_bytes"]
    fast = capture.Step(step)
    for _ in range(4):
        fast(x)
    assert fast.nbytes > 0
    fast.close()
    step(x)
    assert ac.counters()["live_bytes"] == before


def test_a_reset_ends_a_capture() -> None:
    def step() -> Any:
        return ac.ones(3, "f") + 1

    fast = capture.Step(step)
    for _ in range(4):
        fast()
    assert fast.is_captured
    ac.reset()
    with pytest.raises(ValueError, match="capture is gone"):
        fast()
