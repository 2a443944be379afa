"""Tests convolutions: values equal a direct sum in NumPy, and gradients fit the definition of a
gradient.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import operations

RNG = np.random.default_rng(5)
ON_DEVICE = ac.device_info().name != "cpu"


def numbers(shape: tuple[int, ...], dtype: str = "float32") -> Any:
    """Return small integers, whose products and sums every dtype holds exactly."""
    return RNG.integers(-2, 3, shape).astype(dtype)


def direct(x: Any, w: Any, stride: Any, pads: Any, dilation: Any, groups: int) -> Any:
    """Return the convolution in float64, summed over the places of the window."""
    axes = x.ndim - 2
    wide = np.pad(x.astype("d"), ((0, 0), (0, 0), *pads))
    places = [
        (wide.shape[2 + i] - (w.shape[2 + i] - 1) * dilation[i] - 1) // stride[i] + 1
        for i in range(axes)
    ]
    y = np.zeros((x.shape[0], w.shape[0], *places))
    channels, results = w.shape[1], w.shape[0] // groups
    for place in itertools.product(*map(range, w.shape[2:])):
        cut = tuple(
            slice(k * d, k * d + (count - 1) * s + 1, s)
            for k, d, s, count in zip(place, dilation, stride, places, strict=True)
        )
        for g in range(groups):
            seen = wide[(slice(None), slice(g * channels, (g + 1) * channels), *cut)]
            taps = w[(slice(g * results, (g + 1) * results), slice(None), *place)].astype("d")
            y[:, g * results : (g + 1) * results] += np.einsum("nc...,oc->no...", seen, taps)
    return y


# A geometry has the shapes of x and w, the stride, the padding, the dilation and the number of
# groups.
GEOMETRIES: list[tuple[Any, ...]] = [
    ((2, 3, 7, 9), (5, 3, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((2, 4, 8, 9), (6, 2, 3, 2), (2, 3), ((2, 0), (1, 3)), (1, 2), 2),
    ((3, 4, 6, 5), (4, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 4),
    ((3, 4, 11, 10), (8, 1, 3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 4),
    ((1, 5, 8, 8), (7, 5, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((3, 4, 6, 7), (6, 2, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 2),
    ((3, 4, 3, 3), (6, 2, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 2),
    ((2, 4, 9, 9), (6, 4, 1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 3, 5, 5), (4, 3, 5, 5), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 3, 9, 8), (4, 3, 2, 2), (3, 4), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 3, 12, 11), (4, 3, 3, 3), (2, 4), ((3, 3), (3, 3)), (2, 3), 1),
    ((2, 3, 20), (4, 3, 5), (2,), ((2, 1),), (3,), 1),
    ((1, 2, 40), (3, 2, 3), (1,), ((1, 1),), (1,), 1),
    ((2, 2, 5, 6, 4), (4, 2, 3, 3, 3), (1, 1, 1), ((1, 1), (1, 1), (1, 1)), (1, 1, 1), 1),
    ((1, 4, 5, 6, 7), (4, 2, 2, 3, 1), (2, 1, 3), ((0, 1), (2, 0), (0, 0)), (1, 2, 1), 2),
    ((1, 17, 6, 7), (70, 17, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((0, 3, 5, 5), (4, 3, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((2, 0, 5, 5), (4, 0, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((2, 3, 5, 5), (0, 3, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
]


def options_of(geometry: tuple[Any, ...]) -> dict[str, Any]:
    _, _, stride, pads, dilation, groups = geometry
    return {"stride": stride, "padding": pads, "dilation": dilation, "groups": groups}


def exactly(ours: Any, theirs: Any, dtype: str) -> None:
    assert (ours.shape, ours.dtype) == (theirs.shape, np.dtype(dtype))
    np.testing.assert_array_equal(ours.get(), theirs.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_conv_is_the_direct_sum(geometry: tuple[Any, ...], dtype: str) -> None:
    if ON_DEVICE and dtype != "float32" and GEOMETRIES.index(geometry) % 5:
        pytest.skip("compiles for long on a software device; the parity cases have them")
    x, w = numbers(geometry[0], dtype), numbers(geometry[1], dtype)
    options = options_of(geometry)
    want = direct(x, w, *geometry[2:])
    before = ac.counters()
    y = ac.nn.conv(ac.array(x), ac.array(w), **options)
    gy = numbers(want.shape, dtype)
    gx = ac.nn.conv_data_gradient(ac.array(gy), ac.array(w), x.shape[2:], **options)
    gw = ac.nn.conv_weight_gradient(ac.array(x), ac.array(gy), w.shape[2:], **options)
    after = ac.counters()
    if dtype != "float64":
        assert after["cpu_ops"] == before["cpu_ops"]
        assert after["bytes_down"] == before["bytes_down"]
    exactly(y, want, dtype)
    # y is linear in x and in w. So for any other x, sum(gx * x) equals sum(gy * conv(x, w)); the
    # same holds for gw.
    other_x, other_w = numbers(x.shape, "float64"), numbers(w.shape, "float64")
    for ours, other, moved in (
        (gx, other_x, direct(other_x, w, *geometry[2:])),
        (gw, other_w, direct(x, other_w, *geometry[2:])),
    ):
        assert (ours.shape, ours.dtype) == (other.shape, np.dtype(dtype))
        assert np.sum(ours.get().astype("d") * other) == np.sum(gy.astype("d") * moved)


def test_gradients_of_single_elements() -> None:
    """Each element of a gradient equals sum(gy * y), where y is the convolution with an x or w that
    is 1 at this element and 0 elsewhere.
    """
    geometry = GEOMETRIES[1]
    x, w = numbers(geometry[0]), numbers(geometry[1])
    gy = numbers(direct(x, w, *geometry[2:]).shape)
    options = options_of(geometry)
    gx = ac.nn.conv_data_gradient(ac.array(gy), ac.array(w), x.shape[2:], **options).get()
    gw = ac.nn.conv_weight_gradient(ac.array(x), ac.array(gy), w.shape[2:], **options).get()
    for place in itertools.islice(np.ndindex(*x.shape), 0, None, 7):
        one = np.zeros_like(x)
        one[place] = 1
        assert gx[place] == np.sum(direct(one, w, *geometry[2:]) * gy)
    for place in np.ndindex(*w.shape):
        one = np.zeros_like(w)
        one[place] = 1
        assert gw[place] == np.sum(direct(x, one, *geometry[2:]) * gy)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[:, ::-1],
        lambda a: a[..., ::-1],
        lambda a: a[..., 1:],
        lambda a: a[..., ::2],
        lambda a: a.transpose((1, 0, 3, 2)),
        lambda a: a[:, :, :1],
    ],
)
def test_operands_are_views(view: Any) -> None:
    x, w = numbers((4, 4, 10, 12)), numbers((4, 4, 8, 6))
    vx, vw = view(x), view(w)
    if vw.shape[2] > vx.shape[2]:
        vw = vw[:, :, : vx.shape[2]]
    want = direct(vx, vw, (1, 1), ((1, 1), (2, 2)), (1, 1), 1)
    ax, aw = view(ac.array(x)), view(ac.array(w))[:, :, : vw.shape[2]]
    options: dict[str, Any] = {"padding": (1, 2)}
    exactly(ac.nn.conv(ax, aw, **options), want, "float32")
    gy = numbers(want.shape)
    packed_x, packed_w, packed_gy = (ac.array(np.ascontiguousarray(a)) for a in (vx, vw, gy))
    turned = ac.array(np.ascontiguousarray(gy[..., ::-1]))[..., ::-1]
    exactly(
        ac.nn.conv_data_gradient(turned, aw, vx.shape[2:], **options),
        ac.nn.conv_data_gradient(packed_gy, packed_w, vx.shape[2:], **options).get(),
        "float32",
    )
    exactly(
        ac.nn.conv_weight_gradient(ax, turned, vw.shape[2:], **options),
        ac.nn.conv_weight_gradient(packed_x, packed_gy, vw.shape[2:], **options).get(),
        "float32",
    )


def test_padding_by_name_and_bias() -> None:
    x, w, b = numbers((2, 3, 7, 8)), numbers((4, 3, 3, 4)), numbers((4,))
    mine = ac.array(x), ac.array(w)
    same = direct(x, w, (1, 1), ((2, 2), (1, 2)), (2, 1), 1)
    exactly(ac.nn.conv(*mine, padding="same", dilation=(2, 1)), same, "float32")
    assert same.shape[2:] == x.shape[2:]
    valid = direct(x, w, (2, 2), ((0, 0), (0, 0)), (1, 1), 1) + b[:, None, None]
    exactly(ac.nn.conv(*mine, ac.array(b), padding="valid", stride=2), valid, "float32")


ACTIVATIONS: dict[str | None, Any] = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "gelu": lambda x: x * (0.5 + np.vectorize(math.erf)(x / 2**0.5) / 2) if x.size else x,
}


def nearly(ours: Any, theirs: Any, dtype: str) -> None:
    assert (ours.shape, ours.dtype) == (theirs.shape, np.dtype(dtype))
    tolerance = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("geometry", [GEOMETRIES[n] for n in (0, 1, 3, 4, 5, 11, 15, 16, 17)])
def test_bias_activation_scale_and_shift_are_part_of_it(
    geometry: Any, activation: str | None, dtype: str
) -> None:
    if ON_DEVICE and dtype != "float32" and activation != "relu":
        pytest.skip("compiles for long on a software device")
    x, w = numbers(geometry[0], dtype), numbers(geometry[1], dtype) / 4
    b = numbers((w.shape[0],), dtype)
    scale, shift = numbers((x.shape[1],), dtype), numbers((x.shape[1],), dtype)
    mine = [ac.array(each) for each in (x, w, b, scale, shift)]
    one = (slice(None), *(None,) * (x.ndim - 2))
    options: dict[str, Any] = options_of(geometry) | {"activation": activation}
    before = ac.counters()
    plain = ac.nn.conv(*mine[:2], **options)
    biased = ac.nn.conv(*mine[:3], **options)
    scaled = ac.nn.conv(*mine[:3], scale=mine[3], shift=mine[4], **options)
    if dtype != "float64":
        assert ac.counters()["cpu_ops"] == before["cpu_ops"]
        assert ac.counters()["bytes_down"] == before["bytes_down"]
    function = ACTIVATIONS[activation]
    wide = [each.astype("d") for each in (x, w, b, scale, shift)]
    nearly(plain, function(direct(*wide[:2], *geometry[2:])), dtype)
    nearly(biased, function(direct(*wide[:2], *geometry[2:]) + wide[2][one]), dtype)
    moved = wide[0] * wide[3][one] + wide[4][one]
    nearly(scaled, function(direct(moved, wide[1], *geometry[2:]) + wide[2][one]), dtype)


def test_a_layer_is_one_launch(unfused: None) -> None:
    x, w, b = (ac.array(numbers(shape)) for shape in ((2, 4, 8, 8), (8, 4, 3, 3), (8,)))
    scale = ac.array(numbers((4,)))
    ac.nn.conv(x, w, b, padding=1, activation="relu", scale=scale, shift=scale)
    before = ac.counters()["dispatches"]
    ac.nn.conv(x, w, b, padding=1, activation="relu", scale=scale, shift=scale)
    assert ac.counters()["dispatches"] == before + 1
    ac.nn.dense(ac.array(numbers((3, 8))), ac.array(numbers((5, 8))), activation="tanh")
    assert ac.counters()["dispatches"] == before + 2


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_dense_layers(dtype: str) -> None:
    for rows, terms, columns in ((5, 7, 9), (1, 40, 70), (70, 40, 1), (33, 300, 65), (3, 0, 2)):
        x, w, b = (
            numbers((rows, terms), dtype),
            numbers((columns, terms), dtype),
            numbers((columns,), dtype),
        )
        want = x.astype("d") @ w.astype("d").T
        mine = ac.array(x), ac.array(w)
        nearly(ac.nn.dense(*mine), want, dtype)
        nearly(ac.nn.dense(*mine, ac.array(b), activation="relu"), np.maximum(want + b, 0), dtype)
    x = numbers((2, 3, 4), dtype)
    w = numbers((5, 4), dtype)
    nearly(ac.nn.dense(ac.array(x), ac.array(w)), x.astype("d") @ w.astype("d").T, dtype)


def test_long_sums_are_finished_after_their_parts_were_added() -> None:
    x, w, b = numbers((4, 6000)), numbers((6, 6000)), numbers((6,))
    want = x.astype("d") @ w.astype("d").T + b
    y = ac.nn.dense(ac.array(x), ac.array(w), ac.array(b), activation="relu")
    exactly(y, np.maximum(want, 0), "float32")
    image, kernel = numbers((1, 300, 4, 4)), numbers((6, 300, 3, 3))
    want = direct(image, kernel, (1, 1), ((1, 1), (1, 1)), (1, 1), 1) + b[:, None, None]
    y = ac.nn.conv(ac.array(image), ac.array(kernel), ac.array(b), padding=1, activation="relu")
    exactly(y, np.maximum(want, 0), "float32")


def test_dtypes_meet() -> None:
    x, w = numbers((1, 2, 5), "float32"), numbers((2, 2, 3), "float64")
    y = ac.nn.conv(ac.array(x), ac.array(w))
    exactly(y, direct(x, w, (1,), ((0, 0),), (1,), 1), "float64")


def test_float16_is_summed_in_float32() -> None:
    x, w = np.full((1, 4096, 1), 1, "float16"), np.full((1, 4096, 1), 1, "float16")
    assert float(ac.nn.conv(ac.array(x), ac.array(w))[0, 0, 0]) == 4096


X, W = (2, 4, 6, 6), (6, 2, 3, 3)


@pytest.mark.parametrize(
    ("shapes", "options", "code"),
    [
        ((X, (6, 4, 3)), {}, "conv_shapes"),
        (((2, 4), (6, 4)), {}, "conv_shapes"),
        ((X, W), {}, "conv_shapes"),
        ((X, (5, 2, 3, 3)), {"groups": 2}, "conv_shapes"),
        ((X, (6, 2, 7, 3)), {"groups": 2}, "conv_shapes"),
        ((X, (6, 2, 3, 3)), {"groups": 2, "dilation": 3}, "conv_shapes"),
        ((X, (6, 2, 0, 3)), {"groups": 2}, "conv_shapes"),
        ((X, W), {"groups": 0}, "conv_geometry"),
        ((X, W), {"groups": 2, "stride": 0}, "conv_geometry"),
        ((X, W), {"groups": 2, "padding": -1}, "conv_geometry"),
    ],
)
def test_what_does_not_fit_is_refused(shapes: Any, options: Any, code: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        ac.nn.conv(*(ac.zeros(shape, "float32") for shape in shapes), **options)
    assert raised.value.code == code  # type: ignore[attr-defined]


def test_gradients_of_other_shapes_are_refused() -> None:
    x, w = ac.zeros(X, "float32"), ac.zeros((6, 4, 3, 3), "float32")
    gy = ac.zeros((2, 6, 5, 4), "float32")
    for refused in (
        lambda: ac.nn.conv_data_gradient(gy, w, (6, 6)),
        lambda: ac.nn.conv_weight_gradient(x, gy, (3, 3)),
        lambda: ac.nn.conv_weight_gradient(x, gy, (3, 3), groups=3),
    ):
        with pytest.raises(ValueError, match=r".") as raised:
            refused()
        assert raised.value.code == "conv_shapes"  # type: ignore[attr-defined]


def test_options_and_dtypes_that_there_are_none_of() -> None:
    x, w = ac.zeros(X, "float32"), ac.zeros((6, 4, 3, 3), "float32")
    for options in ({"stride": (1, 1, 1)}, {"padding": "full"}, {"padding": ((1, 1, 1), (1, 1, 1))},
                    {"padding": "same", "stride": 2}):  # fmt: skip
        with pytest.raises(ValueError, match=r"stride|padding"):
            ac.nn.conv(x, w, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"activation"):
        ac.nn.conv(x, w, activation="softmax")
    with pytest.raises(ValueError, match=r"scale"):
        ac.nn.conv(x, w, scale=ac.zeros(4, "float32"))
    for refused in (
        lambda: ac.nn.conv(x, w, ac.zeros(4, "float32")),
        lambda: ac.nn.dense(x[0, 0], w[0, 0]),
        lambda: ac.nn.dense(x[0, 0], x[0, 0], ac.zeros(2, "float32")),
    ):
        with pytest.raises(ValueError, match=r".") as of_shapes:
            refused()
        assert of_shapes.value.code == "conv_shapes"  # type: ignore[attr-defined]
    with pytest.raises(NotImplementedError) as raised:
        ac.nn.conv(x.astype("int32"), w.astype("int32"))
    assert raised.value.code == "conv_dtype"  # type: ignore[attr-defined]


@pytest.mark.skipif(not ON_DEVICE, reason="the CPU has one kernel, and no check of it")
def test_a_wrong_kernel_is_found_and_another_taken() -> None:
    x, w = numbers((2, 4, 9, 9)), numbers((5, 4, 3, 3))
    want = direct(x, w, (1, 1), ((1, 1), (1, 1)), (1, 1), 1)
    denied = operations.tune_matmul(4, 0, 1)
    try:
        exactly(ac.nn.conv(ac.array(x), ac.array(w), padding=1), want, "float32")
    finally:
        now = operations.tune_matmul(0, 0, 0)
    assert now == denied + 1


@pytest.mark.skipif(not ON_DEVICE, reason="the CPU has one kernel")
@pytest.mark.parametrize("shape", [(2, 3, 9, 11), (1, 2, 9, 11), (1, 2, 36, 36), (3, 4, 70)])
def test_a_tile_gives_weights_gradients_on_every_device(shape: tuple[int, ...]) -> None:
    x = ac.array(numbers(shape))
    window = (3,) * (len(shape) - 2)
    gy = ac.array(numbers((shape[0], 5, *shape[2:])))
    want = ac.nn.conv_weight_gradient(x, gy, window, padding=1).get()
    try:
        denied = operations.tune_matmul(4, 0, 0)
        exactly(ac.nn.conv_weight_gradient(x, gy, window, padding=1), want, "float32")
        assert operations.tune_matmul(0, 0, 0) == denied
    finally:
        operations.tune_matmul(0, 0, 0)


def test_what_python_says_of_results_is_what_the_core_says() -> None:
    x, w = ac.array(numbers((2, 4, 7, 6))), ac.array(numbers((6, 2, 3, 2)))
    options: dict[str, Any] = {"stride": (2, 1), "padding": ((1, 2), (0, 1)), "groups": 2}
    y = ac.nn.conv(x, w, **options)
    results = [
        y,
        ac.nn.conv_data_gradient(y, w, (7, 6), **options),
        ac.nn.conv_weight_gradient(x, y, (3, 2), **options),
        ac.nn.conv(x, w, stride=[2, 1], padding="valid", groups=2),
        *ac.nn.batch_norm(x.transpose(0, 1, 3, 2), ac.ones(4, "float32"), ac.ones(4, "float32")),
    ]
    for each in results:
        said, each._description = each._description, None
        assert said in (None, each._described())
    assert results[0]._description is not None
