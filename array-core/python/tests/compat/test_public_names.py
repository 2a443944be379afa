"""Tests how many public callables the package has, and that each has a test of its values."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._core import ufuncs
from arraycore._math import reductions

#: The package must have at least this many distinct callables. The number only rises.
LEAST = 435

MODULES = {
    "": ac, "fft.": ac.fft, "linalg.": ac.linalg, "nn.": ac.nn, "random.": ac.random,
    "special.": ac.special,
}  # fmt: skip
#: Names that no test's text has to contain, because test_reductions.py loops over all of them.
LISTED = set(reductions.__all__)
#: These are classes and not functions of arrays, so they return no values to compare with NumPy's.
NO_VALUES = {"DeviceInfo", "DeviceTime", "Profile", "ProfileRow", "ndarray", "ufunc"}


def public() -> dict[int, tuple[Any, list[str]]]:
    """Return each distinct callable, by its identity, with all its names.

    NumPy's own callables (its scalar types, ``finfo``, ...) and exceptions do not count.
    """
    found: dict[int, tuple[Any, list[str]]] = {}
    for prefix, module in MODULES.items():
        for name in module.__all__:
            value = getattr(module, name)
            of_numpy = str(getattr(value, "__module__", "")).split(".")[0] == "numpy"
            is_error = inspect.isclass(value) and issubclass(value, BaseException)
            if callable(value) and not of_numpy and not is_error:
                found.setdefault(id(value), (value, []))[1].append(prefix + name)
    return found


def test_names_are_listed_once_and_exist() -> None:
    for module in MODULES.values():
        assert len(set(module.__all__)) == len(module.__all__)
        for name in module.__all__:
            assert hasattr(module, name), name


def test_every_callable_is_documented_and_its_values_tested() -> None:
    callables = public()
    print(f"{len(callables)} distinct public callables")
    assert len(callables) >= LEAST
    texts = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    # A test uses a name after a dot (`ac.name`, `m.name`), or as a string in a table of calls.
    used = set(re.findall(r"\.([A-Za-z_]\w*)", texts)) | set(re.findall(r"\"(\w+)\"", texts))
    for value, names in callables.values():
        assert value.__doc__, names
        bare = {name.split(".")[-1] for name in names}
        is_ufunc = isinstance(value, ufuncs.ufunc)  # all of them are tested below
        assert is_ufunc or bare & (used | LISTED | NO_VALUES), f"no test calls {names}"


FLOATS = np.array([0.25, 0.5, 0.75, 0.875], np.float32)
OTHERS = np.array([2.0, 0.5, 3.0, 1.5], np.float32)
WHOLE = np.array([12, 7, 30, 1], np.int32)
DIVISORS = np.array([4, 2, 9, 3], np.int32)
OF_INTEGERS = {
    "bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor", "gcd", "invert", "lcm",
    "left_shift", "right_shift",
}  # fmt: skip
#: Functions that NumPy lacks. Each entry returns arraycore's result and the expected value, which
#: comes from `math`, from an identity, or from the inverse function.
SPECIAL: dict[str, Any] = {
    "erf": lambda x: (ac.special.erf(x), np.vectorize(math.erf)(FLOATS)),
    "erfc": lambda x: (ac.special.erfc(x), np.vectorize(math.erfc)(FLOATS)),
    "erfcx": lambda x: (ac.special.erfcx(x), np.exp(FLOATS**2) * np.vectorize(math.erfc)(FLOATS)),
    "erfinv": lambda x: (ac.special.erfinv(ac.special.erf(x)), FLOATS),
    "erfcinv": lambda x: (ac.special.erfcinv(ac.special.erfc(x)), FLOATS),
    "ndtr": lambda x: (ac.special.ndtr(x), 0.5 + np.vectorize(math.erf)(FLOATS / 2**0.5) / 2),
    "ndtri": lambda x: (ac.special.ndtri(ac.special.ndtr(x)), FLOATS),
    "gamma": lambda x: (ac.special.gamma(x), np.vectorize(math.gamma)(FLOATS)),
    "gammaln": lambda x: (ac.special.gammaln(x), np.vectorize(math.lgamma)(FLOATS)),
    "digamma": lambda x: (ac.special.digamma(x + 1) - ac.special.digamma(x), 1 / FLOATS),
}


def test_zeta_and_polygamma_have_their_known_values() -> None:
    # Equations 23.2.24, 23.2.25 and 6.4.2 of Abramowitz and Stegun, and the identity
    # zeta(s, q) - zeta(s, q + 1) = q**-s.
    np.testing.assert_allclose(ac.special.zeta(ac.array([2.0, 4.0]), 1.0).get(),
                               [math.pi**2 / 6, math.pi**4 / 90], rtol=1e-14)  # fmt: skip
    x = ac.array(FLOATS)
    for s in (1.5, 3.0, 7.0):
        apart = ac.special.zeta(ac.array(np.float32(s)), x) - ac.special.zeta(s, x + 1)
        np.testing.assert_allclose(apart.get(), FLOATS**-s, rtol=2e-5)
    ends = ac.special.zeta(np.array([1, 0.5, 3, 1.5, 3]), np.array([2, 2, -1, -0.5, -1.5])).get()
    assert ends[0] == ends[2] == np.inf
    assert np.isnan(ends[[1, 3]]).all()
    assert np.isfinite(ends[4])
    for n in range(5):
        apart = ac.special.polygamma(n, x + 1) - ac.special.polygamma(n, x)
        np.testing.assert_allclose(
            apart.get(), (-1.0) ** n * math.factorial(n) / FLOATS ** (n + 1), rtol=2e-5
        )
    assert ac.special.polygamma(ac.array([1, 2]), ac.array([1, 2])).dtype == np.float64


@pytest.mark.parametrize("name", sorted(set(ufuncs.BY_NAME)))
def test_every_ufunc_has_numpys_values(name: str) -> None:
    if name in SPECIAL:
        ours, expected = SPECIAL[name](ac.array(FLOATS))
        np.testing.assert_allclose(ours.get(), expected, rtol=2e-5)
        return
    theirs = getattr(np, name)
    operands: list[Any] = [WHOLE, DIVISORS] if name in OF_INTEGERS else [FLOATS, OTHERS]
    if name == "ldexp":
        operands[1] = DIVISORS
    if name == "arccosh":
        operands[0] = OTHERS + 1
    operands = operands[: theirs.nin]
    ours = getattr(ac, name)(*map(ac.array, operands))
    expected = theirs(*operands)
    for one, other in zip(*((each if theirs.nout > 1 else (each,)) for each in (ours, expected)),
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(one.get(), other, rtol=2e-6, atol=1e-7)
