"""Checks every function of Chainer on arraycore: values, gradients and second gradients.

    ./run python --backend webgpu --wheel CHAINER_WHEEL gradients.py --version 7.8.1
    PYTHONPATH=... python3 gradients.py --version 7.8.1

It does what Chainer's own tests do, for both versions. Values in float32 and float16 are compared
with Chainer on NumPy, if NumPy can compute them. Gradients are computed in float32 where the arrays
live. They are compared with a central difference along a random direction of all inputs at once.
This difference is computed in float64, so by the CPU if there is a device. Random functions draw
the same numbers at each call.

The last line is one JSON object. ``functions``, ``values`` and ``twice`` count the gradients,
values and second gradients that were compared. ``gradients_wrong``, ``values_wrong`` and
``twice_wrong`` count the wrong ones, and ``wrong`` holds them by name. ``once`` holds the functions
without a second gradient, ``cpu_ops`` those whose forward or backward needed the CPU, and
``forgotten`` the functions of Chainer without a case.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
import types
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arraycore
import numpy as np

arraycore.install_cupy()
from hyperflock_worker import compat  # noqa: E402

compat.install()
sys.path.insert(0, str(Path(__file__).resolve().parent))
from gradient_cases import CASES, IN_FLOAT32, NOT_DIFFERENTIABLE, ONCE, RANDOM  # noqa: E402

#: The step of the central difference, in float64 and in float32.
STEP, WIDE_STEP = 1e-4, 1e-2
#: Allowed differences of derivatives: relative to the larger one, relative to the sum of the
#: magnitudes of its terms, and absolute. The last one is for derivatives that are only rounding
#: errors, as the second derivative of the square of a root.
RELATIVE, OF_TERMS, ABSOLUTE = 2e-3, 2e-5, 1e-6
#: Allowed differences of values, relative to the larger of 1 and the largest value.
VALUES = {"float32": 1e-4, "float16": 1e-2}


def function_names() -> set[str]:
    """Return the names of the functions in ``chainer.functions``."""
    import chainer.functions as F

    return {
        name
        for name, value in vars(F).items()
        if isinstance(value, types.FunctionType) and not name.startswith("_")
    }


def outputs(name: str, inputs: list[Any]) -> list[Any]:
    """Return the outputs of a case's function. It draws the same random numbers at each call."""
    import chainer.functions as F

    np.random.seed(11)
    arraycore.random.seed(11)
    return flat(CASES[name][0](F, *inputs))


def flat(made: Any) -> list[Any]:
    """Return the variables in a result, which may consist of nested lists and tuples."""
    if isinstance(made, list | tuple):
        return [variable for each in made for variable in flat(each)]
    return [made]


def upstream(made: list[Any]) -> list[Any]:
    """Return an array of weights for each output; they are the same at each call."""
    stream = np.random.RandomState(5)
    return [stream.uniform(0.5, 1.5, y.shape) for y in made]


def variables(values: list[Any], dtype: Any, array: Callable[[Any], Any]) -> list[Any]:
    """Return values as Chainer's variables; floats get the given dtype."""
    import chainer

    return [chainer.Variable(array(v.astype(dtype) if v.dtype.kind == "f" else v)) for v in values]


def moved(values: list[Any], directions: list[Any], by: float) -> list[Any]:
    """Return each value plus ``by`` times its direction."""
    return [v if d is None else v + by * d for v, d in zip(values, directions, strict=True)]


def step_of(name: str) -> tuple[float, Any]:
    """Return the step and the dtype of a function's central difference."""
    return (WIDE_STEP, np.float32) if name in IN_FLOAT32 else (STEP, np.float64)


def numerical(name: str, values: list[Any], directions: list[Any]) -> float:
    """Return a case's derivative along the given directions, by a central difference."""
    import chainer

    step, dtype = step_of(name)

    def loss(by: float) -> float:
        with chainer.no_backprop_mode():
            made = outputs(name, variables(moved(values, directions, by), dtype, arraycore.array))
        total = 0.0
        for y, weight in zip(made, upstream(made), strict=True):
            total += float(np.sum(arraycore.asnumpy(y.array).astype(np.float64) * weight))
        return total

    return (loss(step) - loss(-step)) / (2 * step)


def backward(name: str, values: list[Any]) -> tuple[list[Any], int]:
    """Return the gradients of all inputs (None for integers), and how much ``cpu_ops`` grew."""
    import chainer.functions as F

    inputs = variables(values, np.float32, arraycore.array)
    before = arraycore.counters()["cpu_ops"]
    made = outputs(name, inputs)
    weights = [arraycore.array(weight.astype(np.float32)) for weight in upstream(made)]
    loss = sum(F.sum(F.cast(y, np.float32) * w) for y, w in zip(made, weights, strict=True))
    loss.backward()
    spent = arraycore.counters()["cpu_ops"] - before
    return [None if x.grad is None else arraycore.asnumpy(x.grad) for x in inputs], spent


def slope(name: str, values: list[Any], directions: list[Any], dtype: Any) -> tuple[Any, list[Any]]:
    """Return a derivative along the given directions, and the inputs.

    The derivative is that of half the weighted sum of the squared outputs. It is one of Chainer's
    variables, so it can be differentiated once more.
    """
    import chainer
    import chainer.functions as F

    inputs = variables(values, dtype, arraycore.array)
    made = outputs(name, inputs)
    weights = [arraycore.array(0.5 * weight.astype(dtype)) for weight in upstream(made)]
    loss = sum(F.sum(F.cast(y * y, dtype) * w) for y, w in zip(made, weights, strict=True))
    floats = [x for x in inputs if x.dtype.kind == "f"]
    along = [d for d in directions if d is not None]
    gradients = chainer.grad([loss], floats, enable_double_backprop=True)
    terms = [
        F.sum(g * arraycore.array(d.astype(dtype)))
        for g, d in zip(gradients, along, strict=True)
        if g is not None
    ]
    return sum(terms), inputs


def agree(got: float, wanted: float, terms: float) -> bool:
    """Return whether two derivatives are equal but for rounding.

    ``terms`` is the sum of the magnitudes of the terms of ``got``.
    """
    bar = RELATIVE * max(abs(got), abs(wanted)) + OF_TERMS * terms + ABSOLUTE
    return abs(got - wanted) <= bar


def along(gradients: list[Any], directions: list[Any], spoil: float) -> tuple[float, float]:
    """Return the derivative along given directions, and the sum of the magnitudes of its terms.

    The derivative is computed from the gradients, and multiplied by 1 + ``spoil``.
    """
    got, terms = 0.0, 0.0
    for gradient, direction in zip(gradients, directions, strict=True):
        if gradient is not None and direction is not None:
            got += float(np.sum(gradient.astype(np.float64) * direction)) * (1 + spoil)
            terms += float(np.sum(np.abs(gradient * direction)))
    return got, terms


class Report:
    """Compares functions; counts the comparisons and holds the errors.

    Parameters
    ----------
    spoil : float
        Results are changed by this share, so that a test can check that errors are found.
    """

    def __init__(self, spoil: float) -> None:
        self.spoil = spoil
        self.compared = {"values": 0, "gradients": 0, "twice": 0}
        self.wrong: dict[str, dict[str, str]] = {kind: {} for kind in self.compared}
        self.on_cpu: dict[str, int] = {}
        self.once: list[str] = []

    def check(self, kind: str, name: str, problem: Callable[[], str | None]) -> None:
        """Run and count a comparison.

        ``problem`` returns what is wrong, "" if nothing is, None if there is nothing to compare.
        """
        try:
            said = problem()
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error} ({at.filename}:{at.lineno})"
        if said is None:
            return
        self.compared[kind] += 1
        if said:
            self.wrong[kind][name] = said
            print(f"{kind} of {name}: {said}", flush=True)

    def function(self, name: str) -> None:
        """Compare a function's values, gradients and second gradients."""
        stream = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
        # The values are rounded to float32, so that float32 and float64 compute with the same
        # inputs.
        values = [
            v.astype(np.float32).astype(np.float64) if v.dtype.kind == "f" else v
            for v in (each(stream) for each in CASES[name][1])
        ]
        ways = [
            [stream.uniform(-1, 1, v.shape) if v.dtype.kind == "f" else None for v in values]
            for _ in range(2)
        ]
        for dtype in VALUES:
            self.check("values", f"{name} {dtype}", lambda: self.values(name, values, dtype))  # noqa: B023
        self.check("gradients", name, lambda: self.gradient(name, values, ways))
        self.check("twice", name, lambda: self.second(name, values, ways))

    def values(self, name: str, values: list[Any], dtype: str) -> str | None:
        """Compare values with those of Chainer on NumPy."""
        import chainer

        if name in RANDOM:
            return None
        try:
            with chainer.no_backprop_mode():
                made = outputs(name, variables(values, dtype, np.array))
            wanted = [arraycore.asnumpy(y.array) for y in made]
        except Exception:  # no SciPy, or not in this dtype; then nothing is compared
            return None
        with chainer.no_backprop_mode():
            made = outputs(name, variables(values, dtype, arraycore.array))
        for y, other in zip(made, wanted, strict=True):
            if (y.shape, y.dtype) != (other.shape, other.dtype):
                return f"{y.dtype}{y.shape} is not NumPy's {other.dtype}{other.shape}"
            got = arraycore.asnumpy(y.array).astype(np.float64) * (1 + self.spoil)
            bar = VALUES[dtype] * max(1.0, float(np.max(np.abs(other), initial=0)))
            apart = float(np.max(np.abs(got - other.astype(np.float64)), initial=0))
            if not apart <= bar:
                return f"apart by {apart:.3g}, more than {bar:.3g}"
        return ""

    def gradient(self, name: str, values: list[Any], ways: list[list[Any]]) -> str:
        """Compare the gradient with the numerical one."""
        gradients, spent = backward(name, values)
        if spent:
            self.on_cpu[name] = spent
        if not any(g is not None and g.any() for g in gradients):
            return "no gradient, or 0 everywhere"
        for directions in ways:
            got, terms = along(gradients, directions, self.spoil)
            wanted = numerical(name, values, directions)
            if not agree(got, wanted, terms):
                return f"{got:.6g} is not the numerical {wanted:.6g}"
        return ""

    def second(self, name: str, values: list[Any], ways: list[list[Any]]) -> str | None:
        """Compare the second gradient with the numerical one, if Chainer has one."""
        if name in ONCE:
            return None
        step, dtype = step_of(name)
        try:
            first, inputs = slope(name, values, ways[0], np.float32)
            first.backward()
        except (NotImplementedError, RuntimeError, TypeError, AttributeError, ValueError):
            self.once.append(name)
            return None
        gradients = [None if x.grad is None else arraycore.asnumpy(x.grad) for x in inputs]
        got, terms = along(gradients, ways[1], self.spoil)
        ends = [
            float(slope(name, moved(values, ways[1], by), ways[0], dtype)[0].array)
            for by in (step, -step)
        ]
        wanted = (ends[0] - ends[1]) / (2 * step)
        return "" if agree(got, wanted, terms) else f"{got:.6g} is not the numerical {wanted:.6g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, help="the Chainer that is expected")
    parser.add_argument("--only", nargs="*", help="functions; without it all")
    parser.add_argument("--share", type=int, default=1, help="one function of so many")
    parser.add_argument("--spoil", type=float, default=0, help="change results by this share")
    options = parser.parse_args()
    import chainer

    if chainer.__version__ != options.version:
        raise SystemExit(f"this is Chainer {chainer.__version__}, not {options.version}")
    forgotten = sorted(function_names() - set(CASES) - NOT_DIFFERENTIABLE)
    names = options.only or sorted(set(CASES) & function_names())
    report = Report(options.spoil)
    with np.errstate(all="ignore"):
        for name in names:
            if zlib.crc32(name.encode()) % options.share == 0:
                report.function(name)
    counted = report.compared
    made = {
        "functions": counted["gradients"], "values": counted["values"], "twice": counted["twice"],
        **{f"{kind}_wrong": len(wrong) for kind, wrong in report.wrong.items()},
        "wrong": report.wrong, "once": report.once, "cpu_ops": report.on_cpu,
        "forgotten": forgotten, "device": arraycore.device_info().name,
    }  # fmt: skip
    print(json.dumps(made))
    return 1 if forgotten or any(report.wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
