"""Compares Chainer's functions on NumPy and on the stand-in ``cupy``.

Importing this module imports Chainer with the stand-in installed (``stand_in.py``). The expected
results are those of Chainer's CPU path. Its GPU path makes the kernels, which the stand-in's engine
runs.
"""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import scipy_parts
import stand_in

warnings.simplefilter("ignore")
# chainer.testing imports pkg_resources, which is not installed everywhere, to ask for versions.
sys.modules.setdefault("pkg_resources", ModuleType("pkg_resources"))
stand_in.install()
scipy_parts.install()

from hyperflock_worker import compat  # noqa: E402

compat.install()

import chainer  # noqa: E402
import chainer.functions  # noqa: E402
import cupy  # noqa: E402

chainer._load_array_types()
chainer._cpu_array_types = (stand_in.CpuArray,)
# These modules call isinstance() with numpy.ndarray, which would be true for the stand-in's arrays.
for name in ("gradient_check", "functions.activation.slstm", "functions.rnn.slstm"):
    if f"chainer.{name}" in sys.modules or name == "gradient_check":
        vars(importlib.import_module(f"chainer.{name}"))["isinstance"] = stand_in.is_instance

Arrays = list[Any]
TOLERANCE = {"float16": 4e-2, "float32": 3e-4, "float64": 1e-9}
RESULTS: dict[str, str] = {}
SKIPPED: set[str] = set()  # dtypes whose scenarios are left out
EVERY = 1  # about one scenario in this many runs, always the same ones


def in_sample(name: str) -> bool:
    """Return whether a scenario or a site with this name runs."""
    # A hash of the name decides, because neighbours in the list are alike.
    return zlib.crc32(name.encode()) % EVERY == 0


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.RandomState(seed + 7 * len(shape)).standard_normal(shape) * 0.8


def uniform(*shape: int, low: float = 0.1, high: float = 0.9) -> np.ndarray[Any, Any]:
    return np.random.RandomState(5).uniform(low, high, shape)


def ids(high: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.RandomState(3).randint(0, high, shape).astype("i")


def compare(name: str, run: Callable[[Any], Arrays], dtype: str) -> None:
    """Compare one scenario; ``run`` takes the module (numpy or cupy) and returns arrays."""
    if dtype in SKIPPED or not in_sample(name):
        return
    label = stand_in.STATE.scenario = f"{name} {dtype}"
    try:
        np.random.seed(0)
        wanted = run(np)
        np.random.seed(0)  # the stand-in draws from NumPy's stream
        got = run(cupy)
        assert len(wanted) == len(got), "another number of results"
        tolerance = TOLERANCE[dtype]
        for k, (w, g) in enumerate(zip(wanted, got, strict=True)):
            assert isinstance(g, stand_in.ndarray), f"result {k} did not stay on the device"
            w, g = np.asarray(w), g.get()
            assert w.shape == g.shape, f"result {k} has shape {g.shape}, not {w.shape}"
            assert w.dtype == g.dtype, f"result {k} is {g.dtype}, not {w.dtype}"
            np.testing.assert_allclose(
                g.astype("d"), w.astype("d"), rtol=tolerance, atol=tolerance, err_msg=f"result {k}"
            )
        RESULTS[label] = "ok"
    except Exception as error:
        text = str(error).strip() or traceback.format_exc(limit=-1)
        RESULTS[label] = f"{type(error).__name__}: {text[:600]}"


def variable(xp: Any, value: np.ndarray[Any, Any], dtype: Any) -> Any:
    return chainer.Variable(xp.array(value.astype(dtype)))


def function(
    name: str,
    call: Callable[..., Any],
    *inputs: np.ndarray[Any, Any],
    double: bool = False,
    dtypes: tuple[str, ...] = ("float32", "float16"),
) -> None:
    """Compare a function's outputs and gradients and, if ``double``, its second gradients."""
    for dtype in dtypes:

        def run(xp: Any, dtype: str = dtype) -> Arrays:
            arrays = [x.astype(dtype) if x.dtype.kind == "f" else x for x in inputs]
            xs = [
                chainer.Variable(xp.array(x)) if x.dtype.kind == "f" else xp.array(x)
                for x in arrays
            ]
            ys = call(*xs)
            ys = [y for y in (ys if isinstance(ys, tuple | list) else [ys]) if y is not None]
            floats = [x for x in xs if isinstance(x, chainer.Variable)]
            given = [variable(xp, normal(*y.shape, seed=1), y.dtype) for y in ys]
            grads = chainer.grad(ys, floats, given, enable_double_backprop=double)
            out = [y.array for y in ys] + [g.array for g in grads if g is not None]
            if double:
                firsts = [g for g in grads if g is not None and g.creator is not None]
                seeds = [variable(xp, normal(*g.shape, seed=2), dtype) for g in firsts]
                seconds = chainer.grad(firsts, floats + given, seeds)
                out += [g.array for g in seconds if g is not None]
            return out

        compare(name, run, dtype)


def rule(
    name: str,
    make: Callable[[], Any],
    *hooks: Callable[[], Any],
    dtypes: tuple[str, ...] = ("float32",),
) -> None:
    """Compare a parameter after three updates by an optimizer."""
    for dtype in dtypes:

        def run(xp: Any, dtype: str = dtype) -> Arrays:
            link = chainer.Link()
            with link.init_scope():
                link.p = chainer.Parameter(xp.array(normal(3, 4).astype(dtype)))
            optimizer = make().setup(link)
            for hook in hooks:
                optimizer.add_hook(hook())
            for step in range(3):
                link.p.grad = xp.array(normal(3, 4, seed=step).astype(dtype))
                optimizer.update()
            return [link.p.array]

        compare(name, run, dtype)


def with_link(name: str, make: Callable[[], Any], *inputs: np.ndarray[Any, Any]) -> None:
    """Compare a link called on its inputs: the loss and the gradients of its parameters."""

    def run(xp: Any) -> Arrays:
        np.random.seed(0)
        link = make()
        if xp is cupy:
            link.to_gpu()
        xs = [xp.array(x.astype("f") if x.dtype.kind == "f" else x) for x in inputs]
        loss = link(*xs)
        loss.backward()
        return [loss.array] + [p.grad for _, p in sorted(link.namedparams()) if p.grad is not None]

    compare(name, run, "float32")
