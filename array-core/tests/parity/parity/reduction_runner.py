"""Runs a reduction in arraycore, and judges the result by NumPy's.

A reduction that rounds is judged by the next wider type. Its error is measured in units in the last
place of the same reduction of the elements' magnitudes, because a sum that cancels keeps the errors
of its terms. The table (``src/ops/reductions.h``) says how many units are allowed.
"""

from __future__ import annotations

import warnings
from typing import Any

import arraycore as ac
import numpy as np
from arraycore._core import ufuncs
from arraycore._core.reduction_calls import tolerance
from arraycore._runtime import session

from .cases import Case, Operand
from .judge import Verdict
from .reductions import AVERAGES, CHOICES, PRODUCTS, RUNNING, TRUTHS
from .runner import CPU_OPS, Outcome, Raised
from .values import Array, letter_of

_ON_GPU = set("?bBhHiIqQefF")
_RAISED = (TypeError, ValueError, OverflowError, NotImplementedError)
_PLACES = ("argmax", "argmin", "nanargmax", "nanargmin", "count_nonzero")
_WIDER = {"e": "d", "f": "d", "d": "g", "F": "D", "D": "G"}
#: Reductions whose errors come from the distances from a mean, and from the mean itself.
_SPREADS = ("var", "std", "nanvar", "nanstd")


def run_reduction(case: Case, backend: str) -> Outcome:
    """Run one case on the back end that is open."""
    counter = session.bridge.counter
    on_cpu = counter(CPU_OPS)
    (operand,) = case.operands
    letter = letter_of(operand.dtype or bool)
    ran = backend
    right: Any
    try:
        right = _numpy(case)
    except Raised as raised:
        right = raised
    try:
        ours: Any = _arraycore(case, right)
        ran = backend if counter(CPU_OPS) == on_cpu else "cpu"
    except _RAISED as error:
        ours = error
    if isinstance(right, Raised):
        good = isinstance(ours, right.kind)
        message = "" if good else f"NumPy raises {right}, arraycore gives {ours!r}"
        return Outcome(case, ran, Verdict(0.0 if good else np.inf, message), False, False)
    computed = {letter, letter_of(right.dtype), letter_of(_computed(case, right))}
    for_gpu = computed <= _ON_GPU
    if isinstance(ours, Exception):
        verdict = Verdict(np.inf, f"arraycore raises {type(ours).__name__}: {ours}")
    else:
        verdict = _judge(case, ours.get(), right, ran != "cpu")
    return Outcome(case, ran, verdict, for_gpu, letter in _ON_GPU)


def _method(case: Case, module: Any) -> Any:
    name, _, method = case.function.partition(".")
    return getattr(getattr(module, name), method) if method else getattr(module, name)


def _options(case: Case, module: Any, array: Any) -> dict[str, Any]:
    return {
        name: value.made(module, array) if isinstance(value, Operand) else value
        for name, value in case.options.items()
        if name != "out"
    }


def _arraycore(case: Case, right: Any) -> Any:
    options = _options(case, ac, ac.array)
    if "out" in case.options and not isinstance(right, Raised):
        # `out` has gaps, whose elements must not change.
        base = ac.full((*right.shape, 2), 1, case.options["out"])
        options["out"] = base[..., 0]
    made = _method(case, ac)(case.operands[0].made(ac, ac.array), **options)
    if "out" in options and not bool((base[..., 1].get() == 1).all()):
        raise ValueError("The elements between those of 'out' have changed.")
    return made


def _numpy(case: Case) -> Any:
    """Return NumPy's result in array-core's dtype. Raise Raised if NumPy raises."""
    values = case.operands[0].made(np, np.copy)
    options = _options(case, np, np.copy)
    wide = _default_dtype(case, values)
    if wide is not None:
        options.setdefault("dtype", wide)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right = np.asarray(_method(case, np)(values, **options))
    except _RAISED[:3] as error:
        raise Raised(error) from None
    if case.function in _PLACES:
        right = right.astype(np.int64)
    if "out" in case.options:
        right = right.astype(case.options["out"])
    return right


def _default_dtype(case: Case, values: Array) -> Any:
    """Return int64 or uint64 for sums and products of integers, else None. NumPy's default dtype
    has a pointer's size instead.
    """
    adds = case.function in ("sum", "nansum", "cumsum", "nancumsum", *PRODUCTS)
    adds = adds or case.function.split(".")[0] in ("add", "multiply")
    if not adds or values.dtype.kind not in "biu" or "dtype" in case.options:
        return None
    return np.uint64 if values.dtype.kind == "u" else np.int64


def _computed(case: Case, right: Array) -> Any:
    """Return the dtype in which array-core computes the case."""
    given = case.options.get("dtype")
    if given is not None:
        return np.dtype(given)
    if "." in case.function:
        return right.dtype
    values = case.operands[0].made(np, np.copy)
    if case.function in AVERAGES and values.dtype.kind in "biu":
        return np.dtype(np.float64)
    own = _default_dtype(case, values)
    return values.dtype if own is None else np.dtype(own)


#: Ufuncs whose results are exact, so that their reductions are exact too.
_EXACT = ("maximum", "minimum", "fmax", "fmin", "copysign", "nextafter", "fmod", "remainder",
          "floor_divide", "heaviside")  # fmt: skip


def _rounds(case: Case, right: Array) -> bool:
    name = case.function.split(".")[0]
    return name not in (*CHOICES, *TRUTHS, *_EXACT) and _computed(case, right).kind in "fc"


def _judge(case: Case, ours: Array, right: Array, gpu: bool) -> Verdict:
    if ours.shape != right.shape or ours.dtype != right.dtype:
        return Verdict(
            np.inf,
            f"{ours.dtype} of shape {ours.shape}, NumPy {right.dtype} of shape {right.shape}",
        )
    if right.size == 0:
        return Verdict(0.0)
    if right.dtype.kind in "biu" or not _rounds(case, right):
        same = ours == right
        if right.dtype.kind in "fc":
            same |= np.isnan(ours) & np.isnan(right)
        if same.all():
            return Verdict(0.0)
        at = int(np.argmin(same.ravel()))
        return Verdict(np.inf, f"element {at} is {ours.ravel()[at]!r}, NumPy {right.ravel()[at]!r}")
    return _near(case, ours, right, gpu)


def _near(case: Case, ours: Array, right: Array, gpu: bool) -> Verdict:
    values = case.operands[0].made(np, np.copy)
    computed = _computed(case, right)
    unit_dtype = computed if computed.itemsize < ours.dtype.itemsize else ours.dtype
    unit = float(np.finfo(unit_dtype).eps)
    # The values are first rounded to the dtype of the computation, as in NumPy.
    wide = values.astype(computed).astype(_WIDER[computed.char])
    options = _options(case, np, np.copy)
    options.pop("dtype", None)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = np.asarray(_method(case, np)(wide, **options))
        size = _magnitudes(case, wide, options)
    if ours.dtype.kind != "c" and exact.dtype.kind == "c":
        exact = exact.real
    running = case.function in RUNNING or case.function.endswith(".accumulate")
    length = values.size if running else max(1, values.size // max(1, exact.size))
    bound = _allowed(case, length, computed, gpu)
    with np.errstate(all="ignore"):
        exact = np.where(np.abs(exact) > np.finfo(ours.dtype).max, exact * np.inf, exact)
    if ours.dtype.kind == "c":
        # If a complex number has an infinite or NaN part, it is not defined which part of a
        # quotient is NaN.
        open_ends = ~np.isfinite(exact) & ~np.isfinite(ours)
        ours, exact = np.where(open_ends, 0, ours), np.where(open_ends, 0, exact)
    worst, message = 0.0, ""
    for mine, other in _parts(ours, exact):
        finite = np.isfinite(other)
        with np.errstate(all="ignore"):
            off = np.abs(mine - other) / (unit * np.maximum(size, np.finfo(unit_dtype).tiny / unit))
        off = np.where(finite, off, np.inf)
        off[(mine == other) | (np.isnan(mine) & np.isnan(other))] = 0
        at = int(np.argmax(off))
        worst = max(worst, float(off.ravel()[at]))
        if off.ravel()[at] > bound and not message:
            message = (
                f"element {at} is {mine.ravel()[at]!r}, exactly {other.ravel()[at]!r}, "
                f"{off.ravel()[at]:.4g} units apart where {bound:g} are allowed"
            )
    return Verdict(worst, message)


def _parts(ours: Array, exact: Array) -> list[tuple[Array, Array]]:
    wide = np.longdouble
    if ours.dtype.kind == "c":
        return [
            (np.atleast_1d(ours.real).astype(wide), np.atleast_1d(exact.real).astype(wide)),
            (np.atleast_1d(ours.imag).astype(wide), np.atleast_1d(exact.imag).astype(wide)),
        ]
    return [(np.atleast_1d(ours).astype(wide), np.atleast_1d(exact).astype(wide))]


def _magnitudes(case: Case, wide: Array, options: dict[str, Any]) -> Array:
    """Return the reduction of the elements' magnitudes, which is the unit of errors."""
    sizes = np.abs(wide)
    multiplies = case.function in PRODUCTS or case.function.split(".")[0] in ("multiply", "divide")
    sizes = np.where(np.isfinite(sizes), sizes, 1 if multiplies else 0)
    plain = {name: value for name, value in options.items() if name != "ddof"}
    if "initial" in plain:
        plain["initial"] = abs(plain["initial"])
    found: Array
    name, _, method = case.function.partition(".")
    if case.function in _SPREADS:
        # The error has two parts: that of the mean (for a variance, its square), and the rounding
        # of the distances.
        spread = np.asarray(_method(case, np)(wide, **options))
        centre = np.asarray(np.mean(sizes, **plain))
        if case.function.endswith("var"):
            centre = centre * centre * 1e-3
        found = np.where(np.isfinite(spread), spread, 0) + centre
    elif multiplies:
        found = np.abs(_method(case, np)(sizes, **plain))
    elif method and name not in ("add", "subtract"):
        found = np.abs(_method(case, np)(wide, **options)) + 1.0
    elif method:
        sums = np.add.accumulate if method == "accumulate" else np.add.reduce
        found = sums(sizes, **plain)
    else:
        found = _method(case, np)(sizes, **plain)
    return np.atleast_1d(found)


def _allowed(case: Case, length: int, computed: Any, gpu: bool) -> float:
    name, _, method = case.function.partition(".")
    allowed: float
    if not method:
        row = {"cumsum": "sum", "nancumsum": "sum", "cumprod": "prod", "nancumprod": "prod"}
        allowed = tolerance(row.get(name, name), length, computed.kind == "c")
        # A running total adds one element after the other, and each one adds a rounding.
        return allowed + length if name in RUNNING else allowed
    letter = letter_of(computed)
    allowed, _ = ufuncs.BY_NAME[name].tolerance(letter, letter, gpu=gpu)
    return (allowed + 1) * (length + 1)
