"""Tests that captured steps give the bits of plain steps, and that a step that cannot be captured
says why.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import arraycore as ac
import numpy as np
import pytest
from arraycore import capture
from arraycore._runtime import operations
from arraycore.capture import _recording

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


def both(make: Callable[[], Callable[..., Any]], turns: int = 8, **options: Any) -> capture.Step:
    """Assert that the captured program gives the plain program's results; return the step."""
    plain, step = make(), capture.Step(make(), **options)
    for number in range(turns):
        x = np.full(2, number + 1, "f")
        wanted = plain(ac.array(x)).get()
        np.testing.assert_array_equal(step(ac.array(x)).get(), wanted, str(number))
    return step


@pytest.mark.parametrize(("dtype", "pace"), [("float16", -1e-4), ("float32", 1e-8)])
def test_a_number_that_was_rounded_to_the_same_is_followed(dtype: str, pace: float) -> None:
    number = capture.Scalar(1.0)
    total, one = ac.zeros(1, dtype), ac.ones(1, dtype)

    def step() -> None:
        total[...] = one * number.value

    replays = 0
    with capture.Step(step) as fast:
        for turn in range(100):
            number.value = 1.0 + turn * pace
            step()
            wanted = total.get()
            replays += fast.is_captured
            fast()
            np.testing.assert_array_equal(total.get(), wanted, str(turn))
    assert replays > 50


def test_a_number_that_no_launch_has_may_change() -> None:
    number = capture.Scalar(1.0)
    total = ac.zeros(1, "float16")

    def step() -> None:
        assert number.value > 0
        total[...] = total + 3

    with capture.Step(step) as fast:
        for turn in range(30):
            number.value = 1.0 + turn * 1e-4
            assert fast.is_captured == (turn > 2)
            fast()


def test_what_an_earlier_step_made_cannot_be_returned() -> None:
    def lag(steps: int, copies: bool) -> Callable[..., Any]:
        held = [ac.zeros(2, "f") for _ in range(steps)]

        def step(x: Any) -> Any:
            oldest = held.pop(0)
            held.append((held[-1] if held else oldest) * 0.5 + x)
            return oldest.copy() if copies else oldest

        return step

    for steps in (1, 2):
        fast = both(lambda steps=steps: lag(steps, False), strict=False)  # type: ignore[misc]
        assert fast.reason is not None
        assert "return a copy" in fast.reason
    assert both(lambda: lag(1, True)).is_captured


def test_what_was_captured_before_close_is_another() -> None:
    def made() -> capture.Step:
        fast = capture.Step(lambda x: x + 1)
        for _ in range(4):
            fast(ac.ones(3, "f"))
        assert fast.is_captured
        return fast

    made()
    old = made()
    ac.close()
    ac.open()
    made()
    new = made()
    with pytest.raises(ValueError, match="capture is gone"):
        old._replay()  # type: ignore[misc]
    old.close()
    assert float(new(ac.ones(3, "f"))[0]) == 2


def test_seeding_anew_is_followed() -> None:
    def make() -> Callable[..., Any]:
        stream = ac.random.RandomState(1)

        def step(x: Any) -> Any:
            return x + stream.rand(2, dtype="f")

        streams.append(stream)
        return step

    streams: list[Any] = []
    plain, fast = make(), capture.Step(make())
    x = ac.ones(2, "f")
    for number in range(12):
        if number in (5, 9):
            for stream in streams:
                stream.seed(number)
        np.testing.assert_array_equal(fast(x).get(), plain(x).get(), str(number))
    assert fast.is_captured
    assert streams[0].get_state() == streams[1].get_state()


def test_a_step_within_a_step_is_part_of_it() -> None:
    def make() -> Callable[..., Any]:
        inner = capture.Step(lambda x: x * 2)
        return lambda x: inner(x) + 1

    outer = both(make)
    assert outer.is_captured
    outer.close()


def test_steps_that_take_turns_are_both_captured() -> None:
    first, second = capture.Step(lambda x: x * 2), capture.Step(lambda x: (x + 1).sum())
    for number in range(8):
        x = np.full(2, number, "f")
        assert float(first(x)[1]) == 2 * number
        assert float(second(x)) == 2 * number + 2
    assert first.is_captured
    assert second.is_captured
    first, second = capture.Step(lambda x: x * 2), capture.Step(lambda x: (x + 1).sum())
    for _ in range(2):
        first(x)  # and never again
    for _ in range(14):
        second(x)
    assert second.is_captured


def test_arguments_that_are_equal() -> None:
    class Model:
        def twice(self, x: Any) -> Any:
            return x * 2

    class Pair(NamedTuple):
        x: Any
        factor: Any

    def step(pair: Any, function: Callable[..., Any], factor: float) -> Any:
        return function(pair.x) * pair.factor * factor

    model, x = Model(), ac.ones(2, "f")
    with capture.Step(step) as fast:
        for _ in range(5):
            made = fast(Pair(x, np.float32(0.5)), model.twice, float("nan"))
            assert np.isnan(made.get()).all()
        assert fast.is_captured
    with capture.Step(lambda x, zero: ac.copysign(x, zero)) as fast:
        for _ in range(5):
            fast(x, 0.0)
        assert fast.is_captured
        assert float(fast(x, -0.0)[0]) == -1


def test_arguments_that_never_are_the_same_are_the_reason() -> None:
    x = ac.ones(2, "f")
    with capture.Step(lambda x, factor: x * factor) as fast:
        for number in range(10):
            fast(x, number)
        assert fast.reason is not None
        assert "arguments" in fast.reason
        for _ in range(4):
            assert float(fast(x, 3)[0]) == 3
        assert fast.is_captured
        assert fast.reason is None


def test_an_interrupted_step_that_a_reset_ended_is_closed() -> None:
    advanced = []

    class Watching(capture.Host):
        def advance(self, steps: int) -> None:
            advanced.append(steps)

    def captured() -> capture.Step:
        fast = capture.Step(lambda: ac.ones(3, "f") + 1, host=Watching())
        for _ in range(4):
            fast()
        return fast

    fast = captured()
    fast._unfinished = True  # as Ctrl-C leaves it
    ac.reset()
    fast.close()
    assert float(fast()[0]) == 2
    fast = captured()
    ac.reset()
    advanced.clear()
    with pytest.raises(ValueError, match="capture is gone"):
        fast()
    assert advanced == [1, -1]


def test_collection_goes_on_where_no_recording_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: int) -> int:
        raise ac.DeviceLostError("lost")

    monkeypatch.setattr(operations, "call", lost)
    with pytest.raises(ac.DeviceLostError):
        _recording.Recorder().record(lambda: None)
    assert gc.isenabled()
    assert not _recording.is_recording()


def test_a_reset_lets_go_of_what_waits() -> None:
    arrays = [ac.ones(3, "f") for _ in range(4)]
    for each in arrays:
        each += 1
    ac.reset()
    assert ac.counters()["live_bytes"] == 0
