"""Compares Chainer's functions on ``arraycore.nn`` with Chainer's kernels: values and gradients.

    PYTHONPATH=... python3 device_functions.py

Every case runs twice on arraycore: with the functions of
``hyperflock_worker.compat.device_functions``, and without. The last line is one JSON object: the
number of cases, and by name those that differed, or did not call the expected functions of
arraycore.nn.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import arraycore
import numpy as np
from hyperflock_worker import compat

compat.install()
arraycore.install_cupy()

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import cupy  # noqa: E402
from hyperflock_worker.compat.device_functions import chainers_own  # noqa: E402

Arrays = list[Any]
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-11}
#: For each case: what runs, its dtype, and the functions of arraycore.nn that it must call.
CASES: dict[str, tuple[Callable[[], Arrays], str, list[str]]] = {}
CONVOLUTIONS = ("conv", "conv_data_gradient", "conv_weight_gradient")


def uniform(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.RandomState(seed + sum(shape)).uniform(-1, 1, shape)


def case(
    name: str,
    call: Callable[..., Any],
    *inputs: np.ndarray[Any, Any],
    uses: tuple[str, ...] = CONVOLUTIONS,
    double: bool = False,
    dtypes: tuple[str, ...] = ("float32", "float16"),
) -> None:
    """Add cases of a function: results, gradients and, if ``double``, second gradients."""
    for dtype in dtypes:

        def run(dtype: str = dtype) -> Arrays:
            xs = [
                chainer.Variable(cupy.asarray(x.astype(dtype)))
                if x.dtype.kind == "f"
                else cupy.asarray(x)
                for x in inputs
            ]
            floats = [x for x in xs if isinstance(x, chainer.Variable)]
            y = call(*xs)
            seed = chainer.Variable(cupy.asarray(uniform(*y.shape, seed=1).astype(y.dtype)))
            grads = chainer.grad([y], floats, [seed], enable_double_backprop=double)
            out = [y.array, *(g.array for g in grads if g is not None)]
            if double:
                firsts = [g for g in grads if g is not None and g.creator is not None]
                seeds = [
                    chainer.Variable(cupy.asarray(uniform(*g.shape, seed=2).astype(dtype)))
                    for g in firsts
                ]
                seconds = chainer.grad(firsts, [*floats, seed], seeds)
                out += [g.array for g in seconds if g is not None]
            return [each.get() for each in out]

        CASES[f"{name} {dtype}"] = (run, dtype, sorted(uses))


def convolutions() -> None:
    x, w, b = uniform(3, 4, 7, 6), uniform(6, 4, 3, 2), uniform(6)
    every = ("float32", "float16", "float64")
    case("conv", lambda *a: F.convolution_2d(*a), x, w, b, double=True, dtypes=every)
    case("conv strided", lambda *a: F.convolution_2d(*a, stride=2, pad=(1, 0)), x, w, double=True)
    for pad in (0, 1, 2):
        covering = {"stride": (3, 2), "pad": pad, "cover_all": True}
        case(f"conv covering {pad}", lambda *a, k=covering: F.convolution_2d(*a, **k), x, w, b)
    case("conv dilated", lambda *a: F.convolution_2d(*a, pad=2, dilate=(2, 3)), x, w, double=True)
    grouped = uniform(6, 2, 3, 3)
    case("conv groups", lambda *a: F.convolution_2d(*a, pad=1, groups=2), x, grouped, b)
    case("conv depthwise", lambda *a: F.depthwise_convolution_2d(*a), x, uniform(2, 4, 3, 3))
    case("conv 1x1 strided", lambda *a: F.convolution_2d(*a, stride=2), x, uniform(5, 4, 1, 1))

    gy = uniform(3, 6, 5, 4)
    case("deconv", lambda *a: F.deconvolution_2d(*a), gy, w, uniform(4), double=True, dtypes=every)
    for outsize in ((10, 8), (8, 6)):  # the second covers all inputs
        sized = {"stride": 2, "pad": 1, "outsize": outsize}
        case(
            f"deconv to {outsize}",
            lambda *a, k=sized: F.deconvolution_2d(*a, **k),
            gy, uniform(6, 4, 3, 3), uniform(4), double=True,
        )  # fmt: skip
    case("deconv groups", lambda *a: F.deconvolution_2d(*a, groups=2), gy, w, uniform(8))

    line, box = uniform(2, 3, 9), uniform(2, 2, 4, 5, 4)
    case("conv 1d", lambda *a: F.convolution_nd(*a, stride=2, pad=1), line, uniform(4, 3, 3))
    case(
        "conv 3d",
        lambda *a: F.convolution_nd(*a, pad=1, cover_all=True, stride=2),
        box, uniform(3, 2, 3, 2, 3), uniform(3), double=True,
    )  # fmt: skip
    case("conv 3d groups", lambda *a: F.convolution_nd(*a, groups=2), box, uniform(4, 1, 2, 2, 2))
    case(
        "deconv 3d",
        lambda *a: F.deconvolution_nd(*a, stride=2, outsize=(8, 11, 8)),
        box, uniform(2, 3, 2, 3, 2), uniform(3), double=True, dtypes=("float32",),
    )  # fmt: skip


class Normalization:
    """``F.batch_normalization`` whose result also depends on its running statistics."""

    def __init__(self, shape: tuple[int, ...], **options: Any) -> None:
        self.shape, self.options = shape, options

    def __call__(self, x: Any, gamma: Any, beta: Any) -> Any:
        mean, var = cupy.zeros(self.shape, gamma.dtype), cupy.ones(self.shape, gamma.dtype)
        options = {"running_mean": mean, "running_var": var, **self.options}
        y = F.batch_normalization(x, gamma, beta, **options)
        # The statistics are added to the result, so that they are compared too.
        return y + F.sum(chainer.Variable((mean + var).astype(y.dtype))) / 8


def normalizations() -> None:
    uses = ("batch_norm", "batch_norm_gradient")
    every = ("float32", "float16", "float64")
    for name, shape, channels, options in (
        ("image", (4, 3, 5, 6), (3,), {"decay": 0.7, "eps": 1e-3}),
        ("matrix", (7, 5), (5,), {}),
        ("axes", (3, 4, 2, 5), (4, 5), {"axis": (0, 2)}),
        ("volume", (2, 3, 2, 3, 4), (3,), {}),
    ):
        case(
            f"batch norm {name}",
            Normalization(channels, **options),
            uniform(*shape), uniform(*channels, seed=1), uniform(*channels, seed=2),
            uses=uses, dtypes=every,
        )  # fmt: skip
    case(
        "batch norm twice",
        lambda *a: F.batch_normalization(*a),
        uniform(4, 3, 5), uniform(3, seed=1), uniform(3, seed=2),
        uses=uses, double=True, dtypes=("float32",),
    )  # fmt: skip
    case(
        "batch norm of one image",
        lambda *a: F.batch_normalization(*a, axis=(0, 2)),
        uniform(1, 3, 4), uniform(3, seed=1), uniform(3, seed=2),
        uses=uses, dtypes=("float32",),
    )  # fmt: skip
    case(
        "batch norm of large means",
        lambda *a: F.batch_normalization(*a),
        uniform(4, 3, 5, 6) + 1000, uniform(3, seed=1), uniform(3, seed=2),
        uses=uses, dtypes=("float64",),
    )  # fmt: skip


def poolings() -> None:
    x = uniform(3, 4, 7, 6)
    for name, options in (
        ("", {}),
        (" over each other", {"stride": 2, "pad": 1}),
        (" with gaps", {"stride": (3, 4)}),
        (" not covering", {"cover_all": False}),
    ):
        window = 3 if "other" in name else 2
        call = {"ksize": window, **options}
        case(
            f"max pool{name}", lambda x, k=call: F.max_pooling_2d(x, **k), x,
            uses=("max_pool", "max_pool_gradient"), double=True,
        )  # fmt: skip
        call = {key: value for key, value in call.items() if key != "cover_all"}
        case(
            f"average pool{name}", lambda x, k=call: F.average_pooling_2d(x, **k), x,
            uses=("mean_pool", "mean_pool_gradient"), double=True,
        )  # fmt: skip
    for axes, shape in ((1, (2, 3, 9)), (3, (2, 2, 5, 4, 6))):
        case(
            f"max pool {axes}d", lambda x: F.max_pooling_nd(x, 3, stride=2, pad=1), uniform(*shape),
            uses=("max_pool", "max_pool_gradient"), dtypes=("float32", "float64"),
        )  # fmt: skip


def losses() -> None:
    uses = ("softmax_cross_entropy", "softmax_cross_entropy_gradient")
    labels = np.array([2, 0, -1, 4, 1], np.int32)
    flat, images = 3 * uniform(5, 6), uniform(4, 3, 2, 5)
    places = np.random.RandomState(1).randint(-1, 3, (4, 2, 5)).astype(np.int64)
    cross_entropy = F.softmax_cross_entropy
    case("cross entropy", cross_entropy, flat, labels, uses=uses)
    case("cross entropy of images", cross_entropy, images, places, uses=uses)
    for name, options, expected in (
        ("not normalized", {"normalize": False}, uses),
        ("ignoring 2", {"ignore_label": 2, "normalize": True}, uses),
        ("one by one", {"reduce": "no"}, ()),
        ("without scores", {"cache_score": False}, ()),
    ):
        case(
            f"cross entropy {name}",
            lambda x, t, k=options: cross_entropy(x, t, **k),
            flat, np.maximum(labels, 0), uses=expected, dtypes=("float32",),
        )  # fmt: skip


def calls() -> dict[str, int]:
    """Make arraycore.nn count the calls of its functions; return the counts."""
    counts: dict[str, int] = {}
    for name in arraycore.nn.__all__:
        plain = getattr(arraycore.nn, name)

        def counted(*args: Any, _name: str = name, _plain: Any = plain, **kwargs: Any) -> Any:
            counts[_name] = counts.get(_name, 0) + 1
            return _plain(*args, **kwargs)

        setattr(arraycore.nn, name, counted)
    return counts


def differs(got: Arrays, wanted: Arrays, tolerance: float) -> str:
    """Return how results differ, or "" if they are equal within the tolerance."""
    if len(got) != len(wanted):
        return f"{len(got)} results, not {len(wanted)}"
    for number, (g, w) in enumerate(zip(got, wanted, strict=True)):
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"result {number} is {g.dtype} {g.shape}, not {w.dtype} {w.shape}"
        largest = np.abs(w.astype("d")).max(initial=1)
        error = np.abs(g.astype("d") - w.astype("d")).max(initial=0)
        if not error <= tolerance * largest:
            return f"result {number} differs by {error} of {largest}"
    return ""


def main() -> None:
    convolutions()
    normalizations()
    poolings()
    losses()
    counts = calls()
    wrong: dict[str, str] = {}
    for name, (run, dtype, uses) in CASES.items():
        counts.clear()
        got = run()
        called = sorted(counts)
        counts.clear()
        with chainers_own():
            wanted = run()
        difference = differs(got, wanted, TOLERANCE[dtype])
        if called != uses:
            difference = f"called {called}"
        if counts:
            difference = f"switched off, called {sorted(counts)}"
        if difference:
            wrong[name] = difference
    print(json.dumps({"cases": len(CASES), "wrong": wrong}))


main()
