"""Tests that batched launches give the same bits as single launches, and that a device gets fewer
of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

ON_DEVICE = ac.device_info().name != "cpu"
SHAPES: list[tuple[int, ...]] = [(64,), (64,), (10,), (3, 5), (1,), (128, 2), (7, 9), (64,)]

adam = ac.ElementwiseKernel(
    "T grad, T rate, T keep, T keep2, T eps",
    "T param, T m, T v",
    """m = keep * m + (1 - keep) * grad;
       v = keep2 * v + (1 - keep2) * grad * grad;
       param -= rate * m / (sqrt(v) + eps);""",
    "adam",
)
decay = ac.ElementwiseKernel("T p, T rate", "T g", "g += rate * p", "weight_decay")


@pytest.fixture(autouse=True)
def fusing() -> Iterator[None]:
    before = session.set_fusing(True)
    yield
    session.set_fusing(before)


def arrays(seed: int) -> list[Any]:
    stream = np.random.default_rng(seed)
    return [ac.array(stream.standard_normal(shape).astype("float32") + 2) for shape in SHAPES]


def train(fuse: bool, interleaved: bool) -> tuple[list[Any], int]:
    """Return parameters and states after three updates, and how many launches those took."""
    session.set_fusing(fuse)
    state = [arrays(seed) for seed in range(3)]
    before = ac.counters()["dispatches"]
    for step in range(3):
        grads = arrays(step + 3)
        if not interleaved:
            for param, grad in zip(state[0], grads, strict=True):
                decay(param, 0.01, grad)
        for number, grad in enumerate(grads):
            if interleaved:
                decay(state[0][number], 0.01, grad)
            adam(grad, 0.1, 0.9, 0.99, 1e-8, *(each[number] for each in state))
    session.settle()
    launches = ac.counters()["dispatches"] - before
    return [array.get() for each in state for array in each], launches


@pytest.mark.parametrize("interleaved", [False, True])
def test_updates_give_the_same_bits(interleaved: bool) -> None:
    wanted, single = train(False, interleaved)
    got, launches = train(True, interleaved)
    for one, other in zip(wanted, got, strict=True):
        assert one.tobytes() == other.tobytes()
    assert single == 3 * 2 * len(SHAPES)
    # An array of more than 64 elements, such as (128, 2), lies in another buffer than smaller ones.
    # So it is updated by a launch of its own.
    assert launches == (3 * 2 * 2 if ON_DEVICE else single)


def test_what_waits_is_seen_by_whoever_looks() -> None:
    x = [ac.array(np.full(4, k, "float32")) for k in range(4)]
    for k in range(3):
        decay(x[k], 2.0, x[k + 1])
    total = x[0] + x[1] + x[2] + x[3]
    x[3][:2] = 0
    assert total.get().tolist() == [0 + 1 + 4 + 11] * 4
    assert x[3].get().tolist() == [0, 0, 11, 11]
    decay(x[0], 1.0, x[1])
    del x[0]
    assert float(x[0].sum()) == 4


def test_reset_forgets_what_waits() -> None:
    first, second = ac.ones(3, "float32"), ac.ones(3, "float32")
    decay(first, 1.0, second)
    ac.reset()
    third = ac.ones(3, "float32")
    decay(third, 1.0, third)
    assert third.get().tolist() == [2, 2, 2]
