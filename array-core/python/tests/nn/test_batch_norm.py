"""Compares the values and gradients of batch normalization with NumPy's in float64."""

from __future__ import annotations

from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

RNG = np.random.default_rng(7)
# A case has a shape, the axes of the statistics (None: all but axis 1), the dtype of the data, and
# the dtype of the parameters.
CASES: list[tuple[Any, ...]] = [
    ((4, 3, 5, 6), None, "float32", "float32"),
    ((2, 3, 4), None, "float16", "float32"),
    ((7, 5), None, "float16", "float16"),
    ((3, 4, 2, 5), (0, -2), "float32", "float32"),
    ((3, 4, 5), (1, 2), "float64", "float64"),
    ((1, 2, 3000), None, "float32", "float32"),
]
TOLERANCE = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-13}


def near(got: Any, wanted: Any, scale: float = 1) -> None:
    tolerance = TOLERANCE[str(got.dtype)] * scale
    np.testing.assert_allclose(got.get().astype("d"), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("shape", "axis", "dtype", "parameters"), CASES)
def test_values_statistics_and_gradients(
    shape: Any, axis: Any, dtype: str, parameters: str
) -> None:
    axes = (0, *range(2, len(shape))) if axis is None else tuple(k % len(shape) for k in axis)
    wide = tuple(None if k in axes else slice(None) for k in range(len(shape)))
    channels = tuple(extent for k, extent in enumerate(shape) if k not in axes)
    x, gy = (RNG.standard_normal(shape).astype(dtype) for _ in range(2))
    gamma, beta, old_mean = (RNG.standard_normal(channels).astype(parameters) for _ in range(3))
    old_var = RNG.uniform(1, 2, channels).astype(parameters)
    running = [ac.array(old_mean), ac.array(old_var)]
    device = [ac.array(each) for each in (x, gamma, beta)]

    before = ac.counters()["dispatches"]
    y, mean, inv_std = ac.nn.batch_norm(
        *device, axis=axis, eps=1e-3, decay=0.75, running_mean=running[0], running_var=running[1]
    )
    session.settle()
    if dtype != "float64":  # which no device computes
        assert ac.counters()["dispatches"] - before == 2
    wanted = x.astype("d")
    center, var = wanted.mean(axes), wanted.var(axes)
    scale = 1 / np.sqrt(var + 1e-3)
    normal = (wanted - center[wide]) * scale[wide]
    assert y.dtype == dtype
    assert mean.dtype == inv_std.dtype == np.result_type(dtype, parameters)
    near(y, gamma[wide].astype("d") * normal + beta[wide], 4)
    near(mean, center)
    near(inv_std, scale, 4)
    count = x.size / gamma.size
    near(running[0], 0.75 * old_mean.astype("d") + 0.25 * center, 2)
    near(running[1], 0.75 * old_var.astype("d") + 0.25 * var * count / (count - 1), 2)

    results = ac.nn.batch_norm_gradient(ac.array(gy), *device[:2], mean, inv_std, axis=axis)
    gbeta = gy.sum(axes, dtype="d")
    ggamma = (gy * normal).sum(axes)
    share = normal * ggamma[wide] + gbeta[wide]
    gx = (gamma * scale)[wide] * (gy - share / count)
    for got, exact in zip(results, (gx, ggamma, gbeta), strict=True):
        near(got, exact, 8 + count / 8)


def test_a_large_mean_leaves_the_variance_its_digits() -> None:
    x = (1e4 + RNG.standard_normal((64, 2))).astype("float32")
    _, mean, inv_std = ac.nn.batch_norm(ac.array(x), ac.ones(2, "float32"), ac.zeros(2, "float32"))
    exact = x.astype("d")
    np.testing.assert_allclose(mean.get(), exact.mean(0), rtol=1e-6)
    np.testing.assert_allclose(inv_std.get(), 1 / np.sqrt(exact.var(0) + 2e-5), rtol=2e-3)


def test_views_and_what_reads_the_result() -> None:
    x = RNG.standard_normal((4, 6, 5)).astype("float32")
    view = ac.array(x).transpose(2, 1, 0)[::-1, ::2]
    gamma, beta = ac.array(np.ones(3, "float32")), ac.array(np.zeros(3, "float32"))
    fusing = session.set_fusing(True)
    before = ac.counters()["dispatches"]
    y = ac.maximum(ac.nn.batch_norm(view, gamma, beta)[0], 0)
    session.settle()
    assert ac.counters()["dispatches"] - before == 2
    session.set_fusing(fusing)
    host = x.transpose(2, 1, 0)[::-1, ::2].astype("d")
    center, scale = host.mean((0, 2), keepdims=True), host.std((0, 2), keepdims=True)
    near(y, np.maximum((host - center) / np.sqrt(scale**2 + 2e-5), 0), 4)


def test_bad_arguments() -> None:
    x, two, three = ac.ones((4, 2), "float32"), ac.ones(2, "float32"), ac.ones(3, "float32")
    cases: list[tuple[Any, str]] = [
        (lambda: ac.nn.batch_norm(x, three, three), "norm_shapes"),
        (lambda: ac.nn.batch_norm(x[:0], two, two), "norm_shapes"),
        (lambda: ac.nn.batch_norm(x, two, two, running_mean=three, running_var=two), "norm_shapes"),
        (lambda: ac.nn.batch_norm(x, two, two, axis=2), "axis_out_of_bounds"),
        (lambda: ac.nn.batch_norm(x, two, two, axis=(0, 0)), "repeated_axis"),
        (lambda: ac.nn.batch_norm(x, two, two.astype("float16")), "norm_dtype"),
        (lambda: ac.nn.batch_norm(x.astype("int32"), two, two), "norm_dtype"),
        (lambda: ac.nn.batch_norm_gradient(x[:2], x, two, two, two), "norm_shapes"),
        (lambda: ac.nn.batch_norm_gradient(x.astype("float16"), x, two, two, two), "norm_dtype"),
    ]
    for call, code in cases:
        with pytest.raises((ValueError, NotImplementedError)) as caught:
            call()
        assert getattr(caught.value, "code", "") == code
    with pytest.raises(ValueError, match="come together"):
        ac.nn.batch_norm(x, two, two, running_mean=two)
