"""Runs a case in arraycore, judges the result by NumPy's, and notes where the case ran."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import arraycore as ac
import numpy as np
from arraycore._core import ufuncs
from arraycore._runtime import session

from . import reference, special
from .calls import CallCase, judged
from .cases import MODES, OVERLAPS, Case, Operand
from .judge import Bound, Verdict, compare, flushed
from .values import LETTERS, Array, letter_of

_ON_GPU = set("?bBhHiIqQefF")
CPU_OPS = 5  # ac_counter_name
_RAISED = (TypeError, ValueError, OverflowError, IndexError, NotImplementedError)
_CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 2}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case."""

    case: Case
    #: The back end that computed the case: ``cpu`` or the device's.
    ran: str
    verdict: Verdict
    #: True if a GPU computes the dtypes of the operands, of NumPy's loop and of the results.
    for_gpu: bool
    #: True if a GPU computes the dtypes of the operands.
    operands_for_gpu: bool


class Raised(Exception):
    """NumPy raised, so arraycore must raise an exception of this kind."""

    def __init__(self, error: Exception) -> None:
        super().__init__(type(error).__name__)
        self.kind = next(kind for kind in _RAISED[:4] if isinstance(error, kind))


def run(case: Case, backend: str) -> Outcome:
    """Run one case on the back end that is open."""
    if isinstance(case, CallCase):
        return _run_call(case, backend)
    counter = session.bridge.counter
    session.bridge.set_promotion(MODES.index(case.mode))
    on_cpu = counter(CPU_OPS)
    try:
        made = _called(case, ac, case.operands, ac.array)
        ran = backend if counter(CPU_OPS) == on_cpu else "cpu"
        ours: Any = [each.get() for each in made]
    except _RAISED as error:
        ran, ours = backend, error
    finally:
        session.bridge.set_promotion(0)
    letters = {letter_of(each.dtype) for each in case.operands if each.dtype is not None}
    from_operands = letters <= _ON_GPU
    try:
        loop = _loop(case)
    except Raised as raised:
        good = isinstance(ours, raised.kind)
        message = "" if good else f"NumPy raises {raised}, arraycore gives {ours!r}"
        return Outcome(case, ran, Verdict(0.0, message), from_operands, from_operands)
    if case.out is not None and case.out.dtype is not None:
        letters.add(letter_of(case.out.dtype))
    for_gpu = letters | set(loop) & set(LETTERS) <= _ON_GPU
    if isinstance(ours, Exception):
        verdict = Verdict(np.inf, f"{type(ours).__name__}: {ours}")
    else:
        verdict = _judge(case, loop, ours, ran != "cpu")
    return Outcome(case, ran, verdict, for_gpu, from_operands)


def _run_call(case: CallCase, backend: str) -> Outcome:
    on_cpu = session.bridge.counter(CPU_OPS)
    try:
        made = case.of(ac, ac.array)
        ran = backend if session.bridge.counter(CPU_OPS) == on_cpu else "cpu"
        ours: Any = [each.get() for each in made]
    except _RAISED as error:
        ran, ours = backend, error
    letters = {letter_of(each.dtype) for each in case.operands if each.dtype is not None}
    from_operands = letters <= _ON_GPU
    try:
        right = case.expected()
    except _RAISED[:4] as error:
        raised = Raised(error)
        good = isinstance(ours, raised.kind)
        message = "" if good else f"NumPy raises {raised}, arraycore gives {ours!r}"
        return Outcome(case, ran, Verdict(0.0, message), from_operands, from_operands)
    letters |= {letter_of(each.dtype) for each in right} | set(case.computed)
    for_gpu = letters <= _ON_GPU
    if isinstance(ours, Exception):
        verdict = Verdict(np.inf, f"{type(ours).__name__}: {ours}")
    else:
        verdict = judged(case, ours, right, ran != "cpu")
    return Outcome(case, ran, verdict, for_gpu, from_operands)


def _called(
    case: Case, module: Any, given: tuple[Operand, ...], array: Callable[[Array], Any]
) -> list[Any]:
    """Do the operation in NumPy or arraycore; return results, or the whole array written to."""
    if case.form == "overlap":
        base = array(_base(given[0]))
        written, read = OVERLAPS[case.detail](base)
        operands = (read,) if len(given) == 1 else (written, read)
        _function(case, module)(*operands, out=written)
        return [base]
    operands = tuple(operand.made(module, array) for operand in given)
    options = {
        name: value.made(module, array) if isinstance(value, Operand) else value
        for name, value in case.options.items()
    }
    if case.form == "cast":
        return [operands[0].astype(options["dtype"])]
    if case.form == "operator":
        return _listed(_python(case)(*operands))
    if case.form == "in_place":
        return [_python(case)(*operands)]
    if case.out is None:
        return _listed(_function(case, module)(*operands, **options))
    base = array(_base(case.out))
    target = Operand(_base(case.out), case.out.layout).made(module, lambda _: base)
    if case.form == "assign":
        target[...] = operands[0]
    else:
        _function(case, module)(*operands, out=target, **options)
    return [base]


def _base(operand: Operand) -> Array:
    assert operand.base is not None
    return operand.base


def _python(case: Case) -> Callable[..., Any]:
    assert case.python is not None
    return case.python


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


def _function(case: Case, module: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(
        ac.special if module is ac and case.function in special.NAMES else module, case.function
    )
    return function


def _as_numpy_takes_them(case: Case) -> tuple[Operand, ...]:
    """Return the operands; Python's numbers replace the scalars that are weak in CuPy's mode."""
    if case.mode == "numpy2":
        return case.operands
    arrays = [_base(each).dtype for each in case.operands if each.base is not None]
    most = max(_CATEGORY[dtype.kind] for dtype in arrays)
    return tuple(
        Operand(scalar=each.scalar.item())
        if each.base is None and each.dtype is not None and _CATEGORY[each.dtype.kind] <= most
        else each
        for each in case.operands
    )


def _loop(case: Case) -> str:
    """Return NumPy's loop, as NumPy writes it. Raise Raised if NumPy raises."""
    if case.form in ("cast", "assign"):
        target = case.options["dtype"] if case.out is None else _base(case.out).dtype
        return f"{letter_of(_base(case.operands[0]).dtype)}->{letter_of(target)}"
    operands = _as_numpy_takes_them(case)
    if case.function in special.NAMES:
        letter = letter_of(_base(operands[0]).dtype)
        return f"{letter}->{letter}"
    function = getattr(np, case.function)
    kinds = [each.dtype if each.dtype is not None else type(each.scalar) for each in operands]
    kinds = [np.dtype(bool) if kind is bool else kind for kind in kinds]
    if all(kind is int or kind == np.dtype(bool) for kind in kinds):
        # NumPy's default integer has a pointer's size; array-core's has 64 bits everywhere.
        kinds = [np.dtype(np.int64) if kind is int else kind for kind in kinds]
    if case.form == "overlap" and len(kinds) == 2:
        kinds[1] = kinds[0]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # The call raises if NumPy refuses the values or a cast.
            _called(case, np, operands, np.copy)
            resolved = function.resolve_dtypes((*kinds, *(None,) * function.nout))
    except _RAISED[:4] as error:
        raise Raised(error) from None
    letters = "".join(letter_of(dtype) for dtype in resolved)
    return f"{letters[: function.nin]}->{letters[function.nin :]}"


@cache
def _bound(function: str, operands: str, gpu: bool) -> Bound:
    try:
        return Bound(*ufuncs.BY_NAME[function].tolerance(*operands, gpu=gpu))
    except TypeError:
        return Bound(0.0)


def _judge(case: Case, loop: str, ours: list[Array], gpu: bool) -> Verdict:
    inputs, outputs = loop.split("->")
    bound = Bound(0.0)
    if case.form not in ("cast", "assign"):
        bound = _bound(case.function, inputs, gpu)
    if case.out is not None and case.out.dtype != np.dtype(outputs[0]):
        # The result is narrowed, so an error of some units becomes one of at most one unit.
        bound = Bound(min(bound.ulp, 1.0), bound.floor)
    choices = [_expected(case, loop, bound.ulp > 0, lambda values: values)]
    if gpu and set(inputs) & set("fF"):
        choices.append(_expected(case, loop, bound.ulp > 0, flushed))
    if len(ours) != len(choices[0]):
        return Verdict(np.inf, f"{len(ours)} results, NumPy {len(choices[0])}")
    worst = Verdict(0.0)
    for number, mine in enumerate(ours):
        right = [choice[number] for choice in choices]
        verdict = compare(case.function, mine, right, bound, gpu)
        if verdict.message or verdict.error_ulp > worst.error_ulp:
            worst = verdict
        if worst.message:
            break
    return worst


def _expected(case: Case, loop: str, rounds: bool, seen: Callable[[Array], Array]) -> list[Array]:
    """Return the right results for ``seen(values)``: the operands as a device may read them."""
    outputs = loop.split("->")[1]
    if case.form == "overlap":
        base = _base(case.operands[0]).copy()
        written, read = OVERLAPS[case.detail](base)
        taken = [read] if len(case.operands) == 1 else [written, read]
        values = [seen(each) for each in taken]
        result = reference.results(case.function, loop, values, rounds)[0]
        np.copyto(written, result, casting="unsafe")
        return [base]
    operands = [
        seen(each.made(np, np.copy)) if each.base is not None else each.scalar
        for each in _as_numpy_takes_them(case)
    ]
    if case.form in ("cast", "assign"):
        results = [reference.cast(operands[0], np.dtype(outputs))]
    else:
        results = reference.results(case.function, loop, operands, rounds)
    if case.form == "in_place":
        return [results[0].astype(_base(case.operands[0]).dtype)]
    where = case.options.get("where")
    mask = where.made(np, np.copy) if where is not None else np.True_
    if case.out is None:
        return [np.where(mask, each, each.dtype.type(0)) for each in results]
    base = _base(case.out).copy()
    target = Operand(base, case.out.layout).made(np, lambda values: values)
    with np.errstate(all="ignore"):
        np.copyto(target, results[0], casting="unsafe", where=mask)
    return [base]
