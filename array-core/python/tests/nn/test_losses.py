"""Compares the values and gradients of the softmax cross entropy with NumPy's in float64."""

from __future__ import annotations

from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

RNG = np.random.default_rng(3)
TOLERANCE = {"float16": 2e-3, "float32": 3e-6, "float64": 1e-13}


@pytest.mark.parametrize(
    ("shape", "dtype", "labels", "normalize"),
    [
        ((8, 10), "float32", "int32", True),
        ((300, 7), "float32", "int64", True),
        ((4, 5, 3, 2), "float32", "int32", False),
        ((5, 1000), "float16", "int32", True),
        ((6, 4, 3), "float64", "int8", True),
    ],
)
def test_values_and_gradients(shape: Any, dtype: str, labels: str, normalize: bool) -> None:
    x = (3 * RNG.standard_normal(shape)).astype(dtype)
    t = RNG.integers(0, min(shape[1], 100), (shape[0], *shape[2:])).astype(labels)
    t[RNG.random(t.shape) < 0.2] = -1
    wide = x.astype("d")
    lse = np.log(np.exp(wide).sum(1))
    hits = np.moveaxis(np.eye(shape[1]), 1, 0)[:, np.maximum(t, 0)]
    chosen = (np.moveaxis(wide, 1, 0) * hits).sum(0)
    counts = t != -1
    coeff = 1 / max(int(counts.sum()), 1) if normalize else 1 / shape[0]
    loss = ((lse - chosen) * counts).sum() * coeff
    softmax = np.exp(wide - np.expand_dims(lse, 1))
    gx = (softmax - np.moveaxis(hits, 0, 1)) * np.expand_dims(counts, 1) * coeff * 0.5

    arrays = (ac.array(x), ac.array(t))
    before = ac.counters()["dispatches"]
    got = ac.nn.softmax_cross_entropy(*arrays, normalize=normalize)
    gradient = ac.nn.softmax_cross_entropy_gradient(
        ac.array(np.array(0.5, dtype)), *arrays, *got[1:]
    )
    session.settle()
    if dtype != "float64":  # which no device computes
        assert ac.counters()["dispatches"] - before == 3
    near = TOLERANCE[dtype]
    assert got[0].dtype == gradient.dtype == dtype
    np.testing.assert_allclose(float(got[0]), loss, rtol=near)
    np.testing.assert_allclose(got[1].get(), lse, rtol=max(near, 1e-13), atol=near / 100)
    np.testing.assert_allclose(float(got[2]), coeff, rtol=1e-6)
    np.testing.assert_allclose(gradient.get().astype("d"), gx, rtol=near, atol=near / 4)


def test_large_scores_and_no_label_that_counts() -> None:
    x = ac.array(np.array([[1e30, -1e30, 0], [-200, -100, -300]], "float32"))
    t = ac.array(np.array([1, 1], "int32"))
    loss, lse, _ = ac.nn.softmax_cross_entropy(x, t)
    assert lse.get().tolist() == pytest.approx([1e30, -100])
    assert float(loss) == pytest.approx(1e30)
    nothing, _, coeff = ac.nn.softmax_cross_entropy(x, t, ignore_label=1)
    assert (float(nothing), float(coeff)) == (0, 1)


def test_bad_arguments() -> None:
    x, t = ac.ones((4, 3), "float32"), ac.zeros(4, "int32")
    cases: list[tuple[Any, str]] = [
        (lambda: ac.nn.softmax_cross_entropy(x, t[:3]), "loss_shapes"),
        (lambda: ac.nn.softmax_cross_entropy(x[:0], t[:0]), "loss_shapes"),
        (lambda: ac.nn.softmax_cross_entropy(t, t), "loss_dtype"),
        (lambda: ac.nn.softmax_cross_entropy(x, t.astype("float32")), "loss_dtype"),
        (lambda: ac.nn.softmax_cross_entropy_gradient(x, x, t, t, t), "loss_shapes"),
    ]
    for call, code in cases:
        with pytest.raises((ValueError, NotImplementedError)) as caught:
            call()
        assert getattr(caught.value, "code", "") == code
