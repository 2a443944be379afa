"""Compares functions that `vectorize` compiles with the same functions in plain Python on NumPy's
scalars.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-redefinition
from __future__ import annotations

import cmath
import copy
import importlib
import math
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import numpy.typing as npt
import pytest

FACTOR = 3
LIMIT = np.float32(1.5)


def column(*values: Any, dtype: str) -> npt.NDArray[Any]:
    return np.array(values, dtype)


F32 = column(-2.5, -1, -0.0, 0, 0.3, 1, 1.75, 40, dtype="float32")
F64 = column(-2.5, -1, 0, 0.3, 1, 1.75, 40, dtype="float64")
SPECIAL = column(-np.inf, -1, np.nan, 0, 1, np.inf, dtype="float32")
I32 = column(-7, -3, -1, 0, 1, 2, 5, 9, dtype="int32")
POSITIVE = column(1, 2, 3, 4, 7, 10, dtype="int32")


def plain(function: Any, *args: Any) -> list[npt.NDArray[Any]]:
    """Return the results of the Python function for each element, as NumPy's."""
    arrays = [np.asarray(a) for a in args if isinstance(a, np.ndarray)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    spread = [np.broadcast_to(a, shape) if isinstance(a, np.ndarray) else a for a in args]
    rows = []
    with np.errstate(all="ignore"):
        for index in np.ndindex(shape):
            row = function.py_func(*(a[index] if isinstance(a, np.ndarray) else a for a in spread))
            rows.append(row if isinstance(row, tuple) else (row,))
    return [np.array(each).reshape(shape) for each in zip(*rows, strict=True)]


def check(function: Any, *args: Any, dtypes: str | None = None, rtol: float = 0) -> None:
    """Compare every result with plain Python's; ``dtypes`` are the expected ones."""
    given = function(*(ac.array(a) if isinstance(a, np.ndarray) else a for a in args))
    results = given if isinstance(given, tuple) else (given,)
    expected = plain(function, *args)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.get(), wanted, rtol=rtol, atol=rtol)
    if dtypes is not None:
        assert " ".join(result.dtype.name for result in results) == dtypes


@ac.vectorize
def integer_division(a, b):
    return a // b, a % b, a // -b, a % -b


@ac.vectorize
def true_division(a, b):
    return a / b, a / 2, 7 / b


@ac.vectorize
def powers(x):
    return x**2, x**3, x**1


@ac.vectorize
def whole_powers(x, n):
    return x**n, 2**n, x**5


@ac.vectorize
def chained(x):
    return -1 < x <= 1, 0 <= x < 2 < 3, not x > 0


@ac.vectorize
def circuits(x):
    return x and 5 * x, x or 7, x != 0 and 1 / x > 0.5, x < 0 or x > 1


@ac.vectorize
def conditions(x):
    if x < -1:
        y = x * x
    elif x < 1:
        y = x + 10
    else:
        y = -x
    return y if y > 0 else 0


@ac.vectorize
def early(x):
    for i in range(10):
        if i > x:
            return i
        if i == 7:
            break
    return -1


@ac.vectorize
def loops(x):
    total = 0
    for i in range(2, 11, 3):
        for j in range(i, 0, -2):
            if j == 4:
                continue
            total += x * j
    n = 0
    while total > 1 and n < 30:
        total = total / 2
        n += 1
    return total, n


@ac.vectorize
def counters(n):
    i = -1
    for i in range(n):
        i += 100  # the next pass does not see this
    s = 0
    for k in range(5, n, n - 5 if n > 5 else 1):
        s += k
    return i, s


@ac.vectorize
def squares_of_counters(x):
    s = 0
    for i in range(50_000):
        if i > 49_997:
            s += i * i  # over 32 bits
    return s + x


@ac.jit
def half(x):
    return x * 0.5


@ac.jit
def clamp(x, low, high):
    if x < low:
        return low
    return high if x > high else half(x) + half(x)


@ac.vectorize
def calls(x):
    return clamp(x, -1, 1), clamp(half(x), 0, FACTOR)


@ac.vectorize
def frozen(x):
    return x * FACTOR + LIMIT - math.pi + np.float32(2)


@ac.vectorize
def shadowed(x):
    FACTOR = x + 1
    abs = FACTOR * 2
    return abs + FACTOR


@ac.vectorize
def bools(x, y):
    a = x > 0
    b = y > 0
    return a + b, a * b, a & b, a ^ b, a | b, ~a, a + 1, (a == b) * 2.5


@ac.vectorize
def comparisons(x, y):
    return x < y, x <= y, x == y, x != y, x > y, x >= y, not x < y


@ac.vectorize
def extremes(x, y):
    return min(x, y), max(x, y), np.minimum(x, y), np.maximum(x, y), np.fmin(x, y), np.fmax(x, y)


@ac.vectorize
def bits(a, b):
    return a & b, a | b, a ^ b, ~a, a << 2, a >> 1, (a & 3) << (b & 7)


@ac.vectorize
def wrapped(x):
    y = x * x
    return y + x, y * 3


@ac.vectorize
def rounded(x):
    return int(x), math.floor(x), math.ceil(x), round(x), np.floor(x), abs(x)


@ac.vectorize
def mathematics(x):
    y = math.sqrt(abs(x)) + math.exp(-abs(x)) * math.sin(x)
    return y, math.atan2(x, 2), math.hypot(x, 1), np.tanh(x), math.log(abs(x) + 1, 2), math.erf(x)


@ac.vectorize
def floats_tested(x):
    return math.isnan(x), np.isinf(x), math.isfinite(x), np.where(np.isnan(x), -1, x)


@ac.vectorize
def complex_numbers(x, y):
    z = complex(x, y)
    w = z * z + 1j
    return abs(w), w.real, w.imag, z.conjugate() * z, cmath.exp(z * 0.1)


@ac.vectorize
def mandelbrot(x, y, limit):
    c = complex(x, y)
    z = 0.0j
    for i in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return limit


@ac.vectorize
def swapped(a, b):
    a, b = b, a + b
    c = d = a - b
    c += 1
    return a, b, c, d


@ac.vectorize
def conversions(x):
    return np.float64(x), np.int8(x), float(x), bool(x), np.uint16(abs(x)), np.complex64(x)


@ac.vectorize
def mixed(x, n):
    return x + n, n * 0.5, x * 0.5, x + True, n - 1


@ac.vectorize
def generator(seed):
    state = seed
    inside = 0
    for _ in range(200):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        x = np.float32(state >> np.uint32(8)) * np.float32(2**-24)
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        y = np.float32(state >> np.uint32(8)) * np.float32(2**-24)
        inside += x * x + y * y < 1
    return 4 * inside / 200, state


@ac.vectorize
def newton(x):
    guess = x / 2 + 0.5
    while True:
        better = 0.5 * (guess + x / guess)
        if abs(better - guess) <= 1e-5 * guess:
            return better
        guess = better


@ac.vectorize
def common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


CASES: dict[str, tuple[Any, tuple[Any, ...], str | None, float]] = {
    "integer_division": (integer_division, (I32, np.int32(3)), "int32 int32 int32 int32", 0),
    "integer_division_of_small": (
        integer_division, (column(-128, -5, 7, 127, dtype="int8"), np.int8(4)),
        "int8 " * 3 + "int8", 0,
    ),
    "float_division_down": (integer_division, (F32, np.float32(0.75)), None, 1e-6),
    "true_division": (true_division, (I32, np.int32(4)), "float64 float64 float64", 0),
    "true_division_of_floats": (true_division, (F32, np.float32(4)), "float32 " * 2 + "float32", 0),
    "powers": (powers, (I32,), "int32 int32 int32", 0),
    "powers_of_floats": (powers, (F64,), "float64 float64 float64", 1e-15),
    "whole_powers": (whole_powers, (I32, column(0, 1, 2, 3, 4, 5, 6, 7, dtype="int32")), None, 0),
    "chained": (chained, (F32,), "bool bool bool", 0),
    "circuits": (circuits, (F32,), None, 1e-6),
    "conditions": (conditions, (F32,), "float32", 0),
    "conditions_of_nan": (conditions, (SPECIAL,), "float32", 0),
    "early": (early, (I32,), "int64", 0),
    "loops": (loops, (F32,), "float32 int64", 1e-6),
    "counters": (counters, (I32,), "int64 int64", 0),
    "squares_of_counters": (squares_of_counters, (column(0, 1, dtype="int64"),), "int64", 0),
    "calls": (calls, (F32,), "float32 float32", 0),
    "frozen": (frozen, (F32,), "float32", 1e-6),
    "shadowed": (shadowed, (F32,), "float32", 0),
    "bools": (bools, (I32, I32[::-1]), None, 0),
    "comparisons_with_nan": (comparisons, (SPECIAL, np.float32(np.nan)), "bool " * 6 + "bool", 0),
    "comparisons": (comparisons, (SPECIAL, np.float32(0)), "bool " * 6 + "bool", 0),
    "comparisons_of_mixed_signs": (
        comparisons,
        (column(-1, 0, 2**62, dtype="int64"), column(2**64 - 1, 0, 2**62, dtype="uint64")), None, 0,
    ),
    "comparisons_with_wide_numbers": (comparisons, (column(0, 255, dtype="uint8"), 300), None, 0),
    "extremes_with_nan": (extremes, (SPECIAL, np.float32(0.5)), None, 0),
    "extremes": (extremes, (I32, I32[::-1].copy()), None, 0),
    "bits": (bits, (I32, I32[::-1].copy()), None, 0),
    "bits_of_small": (bits, (column(1, 100, 200, dtype="uint8"), np.uint8(5)), None, 0),
    "wrapped": (wrapped, (column(-100, 12, 100, dtype="int8"),), "int8 int8", 0),
    "wrapped_wide": (wrapped, (column(2**31 - 1, -(2**31), 70000, dtype="int32"),), None, 0),
    "rounded": (rounded, (column(-2.5, -0.5, 0.5, 1.5, 2.5, 7.25, dtype="float32"),), None, 0),
    "mathematics": (mathematics, (F32,), "float32 " * 5 + "float32", 2e-6),
    "mathematics_of_integers": (mathematics, (I32,), "float64 " * 5 + "float64", 1e-14),
    "floats_tested": (floats_tested, (SPECIAL,), "bool bool bool float32", 0),
    "complex_numbers": (complex_numbers, (F32, F32[::-1].copy()), None, 1e-5),
    "mandelbrot": (
        mandelbrot,
        (F32 / 2, np.linspace(-1, 1, 9, dtype="float32")[:, None], 25),
        "int64", 0,
    ),
    "swapped": (swapped, (I32, F64[:, None]), "float64 float64 float64 float64", 0),
    "conversions": (conversions, (F32,), "float64 int8 float32 bool uint16 complex64", 0),
    "mixed": (mixed, (F32, np.int8(3)), "float32 float64 float32 float32 int8", 0),
    "generator": (generator, (column(1, 2, 77, dtype="uint32"),), None, 1e-15),
    "newton": (newton, (column(0.25, 2, 9, 1000, dtype="float32"),), "float32", 1e-6),
    "common_divisor": (common_divisor, (POSITIVE * 6, np.int32(84)), "int32", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_equals_plain_python(name: str) -> None:
    function, args, dtypes, rtol = CASES[name]
    check(function, *args, dtypes=dtypes, rtol=rtol)


@pytest.mark.parametrize("name", ["float16", "float64", "int64", "uint8", "complex64"])
def test_each_dtype_is_compiled_once(name: str) -> None:
    @ac.vectorize
    def double(x):
        return x + x

    values = np.arange(1, 5).astype(name)
    for _ in range(2):
        result = double(ac.array(values))
        assert result.dtype == values.dtype
        np.testing.assert_array_equal(result.get(), values + values)
    assert len(double._kernels) == 1
    double(ac.array(np.arange(3, dtype="int16")))
    assert len(double._kernels) == 2


def test_python_numbers_have_no_dtype_of_their_own() -> None:
    @ac.vectorize
    def scaled(x, factor):
        return x * factor

    x = ac.array(np.arange(4, dtype="float32"))
    assert scaled(x, 2).dtype == scaled(x, 0.1).dtype == np.float32
    assert scaled(x, np.float64(2)).dtype == np.float64
    assert scaled(x.astype("int32"), 0.5).dtype == np.float64
    assert scaled(x.astype("uint8"), 3).dtype == np.uint8
    np.testing.assert_array_equal(scaled(x, 2**40).get(), np.arange(4, dtype="float32") * 2**40)


def test_numbers_outside_are_frozen_when_the_function_is_compiled() -> None:
    rate = 2

    @ac.vectorize
    def scaled(x):
        return x * rate

    x = ac.array(np.arange(3, dtype="float32"))
    np.testing.assert_array_equal(scaled(x).get(), [0, 2, 4])
    rate = 3
    np.testing.assert_array_equal(scaled(x).get(), [0, 2, 4])
    np.testing.assert_array_equal(scaled(x.astype("int32")).get(), [0, 3, 6])  # compiled now


def test_results_are_written_to_out() -> None:
    @ac.vectorize
    def both(x, y):
        return x + y, x - y

    x = ac.array(np.arange(6, dtype="float32").reshape(2, 3))
    out = ac.zeros((2, 3), "float32"), ac.zeros((2, 6), "float32")[:, ::2]
    assert both(x, x[:1], out=out) is not None
    np.testing.assert_array_equal(out[0].get(), x.get() + x.get()[:1])
    np.testing.assert_array_equal(out[1].get(), x.get() - x.get()[:1])
    with pytest.raises(TypeError) as caught:
        both(x, x, out=out[0])
    assert caught.value.code == "jit_arguments"  # type: ignore[attr-defined]


@pytest.mark.usefixtures("unfused")
def test_a_call_is_one_launch() -> None:
    x = ac.array(np.ones(8, "float32"))
    newton(x)
    before = ac.counters()
    newton(x)
    after = ac.counters()
    assert after["dispatches"] - before["dispatches"] == 1
    assert after["cpu_ops"] == 0


def test_numpy_arrays_and_scalars_are_taken() -> None:
    np.testing.assert_array_equal(mandelbrot(np.zeros(2, "float32"), [1.0, 1.5], 5).get(), [5, 1])
    assert conditions(2.5) == 0
    assert ac.vectorize(debug=True)(conditions.py_func)(np.float32(-2)) == 4
    empty = conditions(ac.zeros((0, 3), "float32"))
    assert empty.shape == (0, 3)


def test_numba_options_are_taken() -> None:
    @ac.vectorize(nopython=True, cache=True)
    def same(x):
        return x

    np.testing.assert_array_equal(same(np.arange(3)).get(), [0, 1, 2])
    with pytest.raises(TypeError, match="forceobj"):
        ac.vectorize(forceobj=True)


@pytest.mark.parametrize("how", ["keyword", "environment"])
def test_debug_mode_runs_plain_python(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def noted(x, y):
        seen.append((type(x), type(y)))
        return (x + y, x > y) if x > 1 else (x, False)

    function: Callable[..., Any] = ac.vectorize(debug=how == "keyword")(noted)
    if how == "environment":
        monkeypatch.setenv("ARRAYCORE_JIT", "0")
    x = np.arange(4, dtype="float32")
    total, larger = function(ac.array(x), 2)
    assert seen == [(np.float32, int)] * 4
    assert (total.dtype, larger.dtype) == (np.float32, np.bool_)
    np.testing.assert_array_equal(total.get(), [0, 1, 4, 5])
    np.testing.assert_array_equal(larger.get(), [False, False, False, True])


def test_a_jitted_function_is_plain_python_when_python_calls_it() -> None:
    assert half(3) == 1.5
    assert half.__name__ == "half"
    assert half.py_func(4) == 2
    assert repr(half) == "<arraycore.jitted 'half'>"


def test_functions_of_a_bundle_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A study's bundle is a zip file, in which a captured function is defined within another one.
    text = """
        import arraycore as ac
        def make():
            def tripled(x):
                return x * RATE
            return tripled
        RATE = 3
        tripled = ac.vectorize(make())
    """
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        archive.writestr("bundled_study.py", textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path / "bundle.zip"))
    study = importlib.import_module("bundled_study")
    np.testing.assert_array_equal(study.tripled(np.arange(3)).get(), [0, 3, 6])


def test_a_copy_has_the_function_and_not_its_kernels() -> None:
    conditions(ac.zeros(2, "float32"))
    copied = copy.copy(conditions)
    assert copied.py_func is conditions.py_func
    assert not copied._kernels


def test_kernels_are_made_again_after_the_library_was_closed() -> None:
    x = np.arange(1, 5, dtype="float32")
    first = newton(ac.array(x)).get()
    ac.close()
    ac.open()
    np.testing.assert_array_equal(newton(ac.array(x)).get(), first)
