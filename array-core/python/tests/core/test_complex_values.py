"""Tests complex functions next to infinities, NaN, signed zeros and overflow.

The values are those of annex G of the C standard, and for finite operands those of Python's cmath.
"""

from __future__ import annotations

import cmath
import itertools
import math
from fractions import Fraction
from typing import Any

import arraycore as ac
import numpy as np
import pytest

INF, NAN, PI = math.inf, math.nan, math.pi
DTYPES = ("complex64", "complex128")

# Operand and result of the first quadrant. The others follow by symmetry. A sign that the standard
# leaves open is one of SIGNLESS.
VALUES: dict[str, list[tuple[complex, complex]]] = {
    "exp": [
        (complex(0, 0), complex(1, 0)), (complex(1, INF), complex(NAN, NAN)),
        (complex(1, NAN), complex(NAN, NAN)), (complex(INF, 0), complex(INF, 0)),
        (complex(-INF, 1), complex(0, 0)), (complex(INF, 1), complex(INF, INF)),
        (complex(-INF, INF), complex(0, 0)), (complex(INF, INF), complex(INF, NAN)),
        (complex(-INF, NAN), complex(0, 0)), (complex(INF, NAN), complex(INF, NAN)),
        (complex(NAN, 0), complex(NAN, 0)), (complex(NAN, 1), complex(NAN, NAN)),
        (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "sinh": [
        (complex(0, 0), complex(0, 0)), (complex(0, INF), complex(0, NAN)),
        (complex(0, NAN), complex(0, NAN)), (complex(1, INF), complex(NAN, NAN)),
        (complex(1, NAN), complex(NAN, NAN)), (complex(INF, 0), complex(INF, 0)),
        (complex(INF, 1), complex(INF, INF)), (complex(INF, INF), complex(INF, NAN)),
        (complex(INF, NAN), complex(INF, NAN)), (complex(NAN, 0), complex(NAN, 0)),
        (complex(NAN, 1), complex(NAN, NAN)), (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "cosh": [
        (complex(0, 0), complex(1, 0)), (complex(0, INF), complex(NAN, 0)),
        (complex(0, NAN), complex(NAN, 0)), (complex(1, INF), complex(NAN, NAN)),
        (complex(1, NAN), complex(NAN, NAN)), (complex(INF, 0), complex(INF, 0)),
        (complex(INF, 1), complex(INF, INF)), (complex(INF, INF), complex(INF, NAN)),
        (complex(INF, NAN), complex(INF, NAN)), (complex(NAN, 0), complex(NAN, 0)),
        (complex(NAN, 1), complex(NAN, NAN)), (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "tanh": [
        (complex(0, 0), complex(0, 0)), (complex(0, INF), complex(0, NAN)),
        (complex(1, INF), complex(NAN, NAN)), (complex(0, NAN), complex(0, NAN)),
        (complex(1, NAN), complex(NAN, NAN)), (complex(INF, 1), complex(1, 0)),
        (complex(INF, INF), complex(1, 0)), (complex(INF, NAN), complex(1, 0)),
        (complex(NAN, 0), complex(NAN, 0)), (complex(NAN, 1), complex(NAN, NAN)),
        (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "sqrt": [
        (complex(0, 0), complex(0, 0)), (complex(1, INF), complex(INF, INF)),
        (complex(NAN, INF), complex(INF, INF)), (complex(-INF, INF), complex(INF, INF)),
        (complex(1, NAN), complex(NAN, NAN)), (complex(-INF, 1), complex(0, INF)),
        (complex(INF, 1), complex(INF, 0)), (complex(INF, NAN), complex(INF, NAN)),
        (complex(NAN, 1), complex(NAN, NAN)), (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "log": [
        (complex(-0.0, 0), complex(-INF, PI)), (complex(0, 0), complex(-INF, 0)),
        (complex(1, INF), complex(INF, PI / 2)), (complex(1, NAN), complex(NAN, NAN)),
        (complex(-INF, 1), complex(INF, PI)), (complex(INF, 1), complex(INF, 0)),
        (complex(-INF, INF), complex(INF, 3 * PI / 4)), (complex(INF, INF), complex(INF, PI / 4)),
        (complex(INF, NAN), complex(INF, NAN)), (complex(NAN, 1), complex(NAN, NAN)),
        (complex(NAN, INF), complex(INF, NAN)), (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "arccos": [
        (complex(0, 0), complex(PI / 2, -0.0)), (complex(0, NAN), complex(PI / 2, NAN)),
        (complex(1, INF), complex(PI / 2, -INF)), (complex(1, NAN), complex(NAN, NAN)),
        (complex(-INF, 1), complex(PI, -INF)), (complex(INF, 1), complex(0, -INF)),
        (complex(-INF, INF), complex(3 * PI / 4, -INF)), (complex(INF, INF), complex(PI / 4, -INF)),
        (complex(NAN, 1), complex(NAN, NAN)), (complex(NAN, INF), complex(NAN, -INF)),
        (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "arccosh": [
        (complex(0, 0), complex(0, PI / 2)), (complex(1, INF), complex(INF, PI / 2)),
        (complex(1, NAN), complex(NAN, NAN)), (complex(-INF, 1), complex(INF, PI)),
        (complex(INF, 1), complex(INF, 0)), (complex(-INF, INF), complex(INF, 3 * PI / 4)),
        (complex(INF, INF), complex(INF, PI / 4)), (complex(INF, NAN), complex(INF, NAN)),
        (complex(NAN, 1), complex(NAN, NAN)), (complex(NAN, INF), complex(INF, NAN)),
        (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "arcsinh": [
        (complex(0, 0), complex(0, 0)), (complex(1, INF), complex(INF, PI / 2)),
        (complex(1, NAN), complex(NAN, NAN)), (complex(INF, 1), complex(INF, 0)),
        (complex(INF, INF), complex(INF, PI / 4)), (complex(INF, NAN), complex(INF, NAN)),
        (complex(NAN, 0), complex(NAN, 0)), (complex(NAN, 1), complex(NAN, NAN)),
        (complex(NAN, INF), complex(INF, NAN)), (complex(NAN, NAN), complex(NAN, NAN)),
    ],
    "arctanh": [
        (complex(0, 0), complex(0, 0)), (complex(0, NAN), complex(0, NAN)),
        (complex(1, 0), complex(INF, 0)), (complex(1, INF), complex(0, PI / 2)),
        (complex(2, NAN), complex(NAN, NAN)), (complex(INF, 1), complex(0, PI / 2)),
        (complex(INF, INF), complex(0, PI / 2)), (complex(INF, NAN), complex(0, NAN)),
        (complex(NAN, 1), complex(NAN, NAN)), (complex(NAN, INF), complex(0, PI / 2)),
        (complex(NAN, NAN), complex(NAN, NAN)),
    ],
}  # fmt: skip
#: Parts whose sign the standard leaves open: a function, its operand, and the part of its result.
SIGNLESS = {
    ("exp", "(inf+infj)", 0), ("exp", "(-inf+infj)", 0), ("exp", "(-inf+nanj)", 0),
    ("exp", "(-inf+infj)", 1), ("exp", "(-inf+nanj)", 1), ("exp", "(inf+nanj)", 0),
    ("sinh", "infj", 0), ("sinh", "nanj", 0), ("sinh", "(inf+infj)", 0), ("sinh", "(inf+nanj)", 0),
    ("cosh", "infj", 1), ("cosh", "nanj", 1), ("cosh", "(nan+0j)", 1), ("tanh", "(inf+infj)", 1),
    ("tanh", "(inf+nanj)", 1), ("arctanh", "(nan+infj)", 0), ("arcsinh", "(nan+infj)", 0),
    ("tanh", "infj", 0), ("tanh", "nanj", 0),
}  # fmt: skip
ODD = {"sinh", "tanh", "arcsinh", "arctanh"}


def close(got: Any, wanted: float, signless: bool, dtype: str) -> bool:
    if math.isnan(wanted):
        return bool(np.isnan(got))
    if signless:
        return bool(abs(got) == abs(wanted))
    if wanted == 0 or math.isinf(wanted):
        return bool(got == wanted and np.signbit(got) == np.signbit(wanted))
    return bool(abs(got - wanted) <= (2e-6 if dtype == "complex64" else 1e-14) * abs(wanted))


def quadrants(name: str) -> list[tuple[complex, complex, str]]:
    """Return operands of all quadrants, their results, and the listed operand they follow from."""
    made = []
    for z, f in VALUES[name]:
        made.append((z, f, str(z)))
        made.append((z.conjugate(), f.conjugate(), str(z)))
        if name in ODD:
            made += [(-z, -f, str(z)), (-(z.conjugate()), -(f.conjugate()), str(z))]
        if name == "cosh":
            made += [(-z, f, str(z)), (-(z.conjugate()), f.conjugate(), str(z))]
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_the_c_standard(name: str, dtype: str) -> None:
    cases = quadrants(name)
    results = getattr(ac, name)(ac.array(np.array([z for z, _, _ in cases], dtype))).get()
    for (z, wanted, listed), got in zip(cases, results, strict=True):
        for part, (mine, theirs) in enumerate(((got.real, wanted.real), (got.imag, wanted.imag))):
            signless = (name, listed, part) in SIGNLESS
            assert close(mine, theirs, signless, dtype), f"{name}({z}) is {got}, not {wanted}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "other"),
    [("sin", "sinh"), ("tan", "tanh"), ("arcsin", "arcsinh"), ("arctan", "arctanh")],
)
def test_circular_functions_are_hyperbolic_ones_turned(name: str, other: str, dtype: str) -> None:
    z = np.array([z for z, _, _ in quadrants(other)], dtype)
    turned = np.empty_like(z)
    turned.real, turned.imag = -z.imag, z.real
    mine, theirs = getattr(ac, name)(ac.array(z)), getattr(ac, other)(ac.array(turned))
    np.testing.assert_array_equal(mine.real.get(), theirs.imag.get())
    np.testing.assert_array_equal(mine.imag.get(), -theirs.real.get())


NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan",
         "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", *NAMES,
])  # fmt: skip
def test_finite_operands_of_every_size_have_pythons_values(name: str, dtype: str) -> None:
    parts = (0.0, -0.0, 0.5, -0.75, 1.5, -3.0, 11.5, 100.0, -100.0, 1e4, 3e37, -3e38)
    cases, wanted = [], []
    for re, im in itertools.product(parts, parts):
        z = complex(np.array(complex(re, im), dtype).item())
        try:
            value = getattr(cmath, NAMES.get(name, name))(z)
        except (OverflowError, ValueError):
            continue  # not a finite number
        largest = max(abs(value.real), abs(value.imag))
        if largest > float(np.finfo(dtype).max):
            continue
        cases.append(z)
        wanted.append(value)
    got = getattr(ac, name)(ac.array(np.array(cases, dtype))).get()
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    # float32 cannot hold a quotient of two large angles: sines of such angles have errors of their
    # own on a device.
    for z, mine, theirs in zip(cases, got, wanted, strict=True):
        if name in ("sin", "cos", "tan") and abs(z.real) > 1e3:
            continue
        if name in ("exp", "sinh", "cosh", "tanh") and abs(z.imag) > 1e3:
            continue
        limit = 200 * eps * abs(theirs) + 4 * tiny
        assert abs(complex(mine) - theirs) <= limit, f"{name}({z}) is {mine}, not {theirs}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_logarithms_next_to_modulus_one_keep_their_real_part(name: str, dtype: str) -> None:
    angles = np.linspace(0, 2 * PI, 101)
    z = np.exp(1j * angles).astype(dtype)
    z = np.concatenate([z, z * z.dtype.type(1.0001), [1 + 1e-20j, 1e-10 + 1j]]).astype(dtype)
    got = getattr(ac, name)(ac.array(z)).real.get()
    per_e = {"log": 1.0, "log2": math.log(2), "log10": math.log(10)}[name]
    for value, mine in zip(z, got, strict=True):
        re, im = Fraction(float(value.real)), Fraction(float(value.imag))
        exact = math.log1p(float(re * re + im * im - 1)) / 2 / per_e
        # A device may compute the lost digits of a square not at all.
        assert abs(mine - exact) <= 20 * np.finfo(dtype).eps * max(abs(exact), 1e-2), value


def test_a_zeros_sign_has_no_direction() -> None:
    zeros = np.array([complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)], "complex64")
    got = ac.sign(ac.array(zeros)).get()
    assert not np.signbit(got.real).any()
    assert not np.signbit(got.imag).any()
