"""Tests that functions have every parameter of NumPy's functions, at the same place.

A parameter that arraycore does not take is there too, and raises NotImplementedError with an
alternative; ``docs/surface.md`` lists these.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session
from arraycore._runtime.parameters import PARAMETERS

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "surface.md"
Parameter = inspect.Parameter

MODULES = {"": (ac, np), "linalg.": (ac.linalg, np.linalg), "fft.": (ac.fft, np.fft)}
CLASSES = {
    "ndarray.": (ac.ndarray, np.ndarray),
    "Generator.": (ac.random.Generator, np.random.Generator),
    "RandomState.": (ac.random.RandomState, np.random.RandomState),
}
#: Functions whose signature in NumPy is not what NumPy takes: `arange(stop)`, and two results as
#: two operands.
OTHERWISE = {"arange": {"start_or_stop"}, "frexp": {"out"}}

#: The parameters of functions that only CuPy has, from its documentation.
CUPYS = {
    "ElementwiseKernel": ["in_params", "out_params", "operation", "name", "reduce_dims",
                          "preamble", "no_return", "return_tuple"],
    "ReductionKernel": ["in_params", "out_params", "map_expr", "reduce_expr", "post_map_expr",
                        "identity", "name", "reduce_type", "reduce_dims", "preamble", "options"],
    "asnumpy": ["a", "stream", "order", "out", "blocking"],
    "get_array_module": [],
    "memoize": ["for_each_device"],
    "clear_memo": [],
    "fuse": ["kernel_name"],
}  # fmt: skip


def pairs() -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each public function that NumPy has too, arraycore's and NumPy's."""
    for prefix, (mine, numpys) in {**MODULES, **CLASSES}.items():
        names = getattr(mine, "__all__", None) or dir(mine)
        for name in names:
            theirs = getattr(numpys, name, None)
            ours = getattr(mine, name, None)
            if name.startswith("_") or not callable(theirs) or not callable(ours):
                continue
            if not isinstance(ours, type | ac.ufunc) and not isinstance(theirs, type):
                yield prefix + name, ours, theirs
    for method in ("__call__", "reduce", "accumulate", "reduceat", "outer", "at"):
        yield f"ufunc.{method}", getattr(ac.add, method), getattr(np.add, method)


def parameters(function: Any) -> dict[str, Parameter] | None:
    """Return a function's parameters but for ``self``; None if it does not tell them."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return {each.name: each for each in found if each.name != "self"}


def missing(name: str, ours: Any, theirs: Any) -> list[str]:
    """Return what a caller of NumPy's function could pass, but not to arraycore's."""
    wanted, there = parameters(theirs), parameters(ours)
    if wanted is None or name.startswith("ufunc.__call__"):
        return []
    assert there is not None, name
    takes_all = {each.kind for each in there.values()}
    wrong = []
    by_position = [
        p for p in there.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    # `self` of a function that is also a method is the first parameter here.
    place = 1 if name.startswith("ndarray.") and next(iter(there), "") == "a" else 0
    for parameter in wanted.values():
        kind = parameter.kind
        if kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        if parameter.name in OTHERWISE.get(name, ()):
            place += 1
            continue
        mine = there.get(parameter.name)
        if kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            if Parameter.VAR_POSITIONAL in takes_all:
                pass
            elif place >= len(by_position):
                wrong.append(f"{parameter.name} by position")
            elif kind == Parameter.POSITIONAL_OR_KEYWORD and by_position[place] is not mine:
                wrong.append(f"{parameter.name} at place {place}")
            elif is_required(by_position[place]) and not is_required(parameter):
                wrong.append(f"a default of {parameter.name}")
            place += 1
        by_name = mine is not None and mine.kind != Parameter.POSITIONAL_ONLY
        if kind != Parameter.POSITIONAL_ONLY and Parameter.VAR_KEYWORD not in takes_all:
            wrong += [] if by_name else [f"{parameter.name} by name"]
    return wrong


def is_required(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


def test_every_parameter_of_numpys_is_there() -> None:
    listed = list(pairs())
    assert len(listed) > 400
    wrong = {name: missing(name, ours, theirs) for name, ours, theirs in listed}
    assert {name: lacks for name, lacks in wrong.items() if lacks} == {}


def test_the_audit_finds_what_is_missing() -> None:
    def theirs(a: Any, axis: int = 0, *, out: Any = None) -> None: ...
    def without(a: Any) -> None: ...
    def swapped(axis: int, a: Any, *, out: Any = None) -> None: ...
    def required(a: Any, axis: int, *, out: Any = None) -> None: ...

    assert missing("f", theirs, theirs) == []
    assert missing("f", without, theirs) == ["axis by position", "axis by name", "out by name"]
    assert missing("f", swapped, theirs) == ["a at place 0", "axis at place 1"]
    assert missing("f", required, theirs) == ["a default of axis"]


def test_every_distribution_of_numpys_is_there() -> None:
    for ours, theirs in (CLASSES["Generator."], CLASSES["RandomState."]):
        names = {name for name in dir(theirs) if not name.startswith("_")}
        assert names - set(dir(ours)) == set()
    module = {name for name in dir(np.random.mtrand) if name in dir(np.random.RandomState)}
    assert {name for name in module if not name.startswith("_")} - set(ac.random.__all__) <= {
        "get_state", "set_state",
    }  # fmt: skip


def test_a_ufunc_is_called_with_numpys_keywords() -> None:
    a = np.arange(6.0).reshape(2, 3)
    names = set(parameters(np.add) or ()) - {"x1", "x2", "out"}
    assert names <= set(parameters(ac.add.__call__) or ())
    ours = ac.add(ac.array(a), 1, where=True, casting="same_kind", order="F", dtype=None,
                  subok=True, signature=None)  # fmt: skip
    assert ours.flags.f_contiguous
    np.testing.assert_array_equal(ours.get(), a + 1)
    assert ac.negative(ac.array(a).T, order="C").flags.c_contiguous
    assert ac.negative(ac.array(a).T, order="A").flags.f_contiguous
    with pytest.raises(ValueError, match="order must be one of"):
        ac.negative(ac.array(a), order="Q")


#: One call for each refused parameter.
REFUSED = {
    "einsum_call": lambda: ac.einsum_path("i,i", [1], [2], einsum_call=True),
    "like": lambda: ac.zeros(3, like=np.zeros(3)),
    "signature": lambda: ac.add(ac.ones(2), 1, signature="dd->d"),
}


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_a_refused_parameter_tells_what_to_do(name: str) -> None:
    with pytest.raises(NotImplementedError, match=re.escape(PARAMETERS[name])) as raised:
        REFUSED[name]()
    assert getattr(raised.value, "code", None) == "unknown_parameter"


def test_the_document_lists_the_refused_parameters() -> None:
    if not DOCUMENT.exists():
        pytest.skip("docs/surface.md is not mounted here")
    rows = dict(re.findall(r"^\| `(\w+)=` \| (.*) \|$", DOCUMENT.read_text(), re.M))
    assert rows == PARAMETERS


def test_cupys_own_functions_have_its_parameters() -> None:
    ac.install_cupy()
    before = session.set_promotion("numpy")
    try:
        import cupy
    finally:
        session.set_promotion(before)
    for name, wanted in CUPYS.items():
        there = parameters(getattr(cupy, name))
        assert there is not None
        takes_all = any(each.kind == Parameter.VAR_KEYWORD for each in there.values())
        assert takes_all or set(wanted) <= set(there), name
