"""Compares reductions and generalised functions with NumPy, and with plain Python."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

RNG = np.random.default_rng(7)
X = RNG.integers(-40, 40, (4, 5, 70)).astype("float32")
N = RNG.integers(-40, 40, (6, 300)).astype("int32")
MATRICES = RNG.integers(-5, 5, (3, 1, 4, 5)).astype("float32")
OTHERS = RNG.integers(-5, 5, (2, 5, 6)).astype("float32")


@ac.reduce(identity=0)
def total(a, b):
    return a + b


@ac.reduce
def largest(a, b):
    if a > b:
        return a
    return b


@ac.reduce(identity=1)
def divisor(a, b):
    a, b = abs(a), abs(b)
    while b != 0:
        a, b = b, a % b
    return a


@ac.jit
def squared_difference(x, y):
    return (x - y) ** 2


@ac.reduce(identity=0.0, map=squared_difference)
def distance(a, b):
    return a + b


AXES: list[Any] = [None, 0, 2, -1, (0, 2), (1, 2)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_equal_numpy(axis: Any, keepdims: bool) -> None:
    x = ac.array(X)
    pairs: list[tuple[Any, Any]] = [(total, X.sum), (largest, X.max)]
    for ours, theirs in pairs:
        result = ours(x, axis=axis, keepdims=keepdims)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result.get(), theirs(axis=axis, keepdims=keepdims), rtol=1e-6)
    result = distance(x, x[:1, :, :1], axis=axis, keepdims=keepdims)
    expected = ((X - X[:1, :, :1]) ** 2).sum(axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(result.get(), expected, rtol=1e-5)


def test_a_function_with_loops_combines_elements() -> None:
    np.testing.assert_array_equal(divisor(6 * N, axis=1).get(), np.gcd.reduce(6 * N, axis=1))


@pytest.mark.parametrize("name", ["int8", "uint16", "int64", "float16", "float64", "complex64"])
def test_the_result_has_the_elements_dtype(name: str) -> None:
    values = np.arange(1, 6).astype(name)
    result = total(values)
    assert result.dtype == values.dtype
    np.testing.assert_array_equal(result.get(), values.sum(dtype=name))


@pytest.mark.parametrize("axis", [None, 1])
def test_plain_python_gives_the_same(axis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = [f(X[:2, :, :3], axis=axis) for f in (total, largest)]
    compiled.append(distance(X[:2, :, :3], 1, axis=axis))
    monkeypatch.setenv("ARRAYCORE_JIT", "0")
    plain = [f(X[:2, :, :3], axis=axis) for f in (total, largest)]
    plain.append(distance(X[:2, :, :3], 1, axis=axis))
    for a, b in zip(compiled, plain, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a.get(), b.get(), rtol=1e-6)


@pytest.mark.parametrize("plain", ["0", "1"])
def test_an_empty_reduction_needs_an_identity(plain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARRAYCORE_JIT", plain)
    empty = ac.zeros((3, 0), "float32")
    np.testing.assert_array_equal(total(empty, axis=1).get(), [0, 0, 0])
    assert total(empty, axis=0).shape == (0,)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        largest(empty, axis=1)
    assert caught.value.code == "empty_reduction"  # type: ignore[attr-defined]


def test_calls_of_reductions_are_checked() -> None:
    assert largest(2, 3) == 3
    assert copy.copy(distance).map is distance.map
    for call in (lambda: total(3), lambda: total(X, X, X), lambda: distance(X)):
        with pytest.raises(TypeError) as caught:
            call()
        assert caught.value.code == "jit_arguments"  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="identity"):
        ac.reduce(identity=300)(largest.py_func)(np.arange(3, dtype="uint8"))
    with pytest.raises(ac.CompileError, match="takes two numbers"):
        ac.reduce(lambda_like)(X)


def lambda_like(a):
    return a


# ---- generalised functions


@ac.guvectorize("(m,n),(n,p)->(m,p)")
def matmul(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s


@ac.guvectorize("(n),()->(n)")  # of Numba's documentation
def add_to_each(x, y, res):
    for i in range(x.shape[0]):
        res[i] = x[i] + y


@ac.guvectorize("(n)->(),()")
def moments(x, mean, deviation):
    s = 0
    for i in range(len(x)):
        s += x[i]
    s = s / len(x)  # type: ignore[assignment]
    mean[0] = s
    q = 0.0
    for i in range(len(x)):
        q += (x[i] - s) * (x[i] - s)
    deviation[0] = np.sqrt(q / len(x))


@ac.guvectorize("(n)->(n)")
def running(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] if i == 0 else out[i - 1] + x[i]


@ac.guvectorize("(n)->(),()")
def counted(x, count, most):  # outputs are 0 before they are written
    for i in range(len(x)):
        if x[i] > most[0]:
            most[0] = x[i]
            count[0] = count[0] + 1


@ac.guvectorize("(n),(n)->()")
def positive_dot(x, y, out):
    out[0] = 0
    for i in range(x.size):
        if x[i] < 0:
            continue
        out[0] += x[i] * y[i]


def checked(function: Any, args: tuple[Any, ...], *expected: Any) -> None:
    """Compare the results with NumPy's, compiled and in plain Python."""
    given = [ac.array(a) if isinstance(a, np.ndarray) else a for a in args]
    plain = ac.guvectorize(function.layout, debug=True)(function.py_func)
    for call in (function, plain):
        made = call(*given)
        results = made if isinstance(made, tuple) else (made,)
        for result, wanted in zip(results, expected, strict=True):
            assert result.dtype == wanted.dtype
            np.testing.assert_allclose(result.get(), wanted, rtol=1e-5, atol=1e-5)


def test_outer_axes_broadcast() -> None:
    checked(matmul, (MATRICES, OTHERS), MATRICES @ OTHERS)
    checked(matmul, (MATRICES[0, 0], OTHERS[0]), MATRICES[0, 0] @ OTHERS[0])
    checked(matmul, (MATRICES[:, 0].transpose(0, 2, 1)[:, ::2], MATRICES), np.matmul(
        MATRICES[:, 0].transpose(0, 2, 1)[:, ::2], MATRICES))  # fmt: skip


def test_cores_without_axes_are_numbers() -> None:
    row = X[0]
    checked(add_to_each, (row, np.float32(3)), row + 3)
    checked(add_to_each, (row, 3), row + 3)
    checked(add_to_each, (row[0], row[:, 1]), row[0] + row[:, 1:2])
    checked(add_to_each, (N[0], row[:, 0]), N[0] + row[:, :1])
    checked(moments, (X,), X.mean(-1), X.std(-1))
    checked(moments, (X[0, 0],), X[0, 0].mean(), X[0, 0].std())


def test_outputs_are_read_after_they_are_written() -> None:
    checked(running, (X,), X.cumsum(-1))
    checked(running, (N.astype("int64"),), N.cumsum(-1, dtype="int64"))
    rising = np.maximum.accumulate(np.maximum(X[0], 0), -1)
    steps = (np.diff(rising, axis=-1, prepend=0) > 0).sum(-1, dtype="int64")
    checked(counted, (X[0],), steps, rising[..., -1])
    checked(positive_dot, (X[0], X[1]), (np.maximum(X[0], 0) * X[1]).sum(-1))


def test_an_empty_outer_axis_has_no_results() -> None:
    assert matmul(MATRICES[:0], OTHERS).shape == (0, 2, 4, 6)


@pytest.mark.parametrize(
    "layout", ["", "(n)", "(n)->(m)", "(n)->n", "n->()", "(n),->()", "(n)->()->()", "(1)->()", "->"]
)
def test_other_layouts_are_refused(layout: str) -> None:
    with pytest.raises(ValueError, match="layout") as caught:
        ac.guvectorize(layout)(running.py_func)
    assert caught.value.code == "jit_layout"  # type: ignore[attr-defined]


def test_shapes_that_do_not_fit_are_refused() -> None:
    for call, words in [
        (lambda: matmul(MATRICES, MATRICES), "the axis 'n' is 5 and 4 long"),
        (lambda: matmul(MATRICES, X[0, 0]), "argument 2 has 1 axes"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert caught.value.code == "jit_shapes"  # type: ignore[attr-defined]


def unwritten(x, out):
    if x[0] > 0:
        return


def of_input(x, out):
    x[0] = 1


def result(x, out):
    out[0] = 1
    return x[0]


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (unwritten, "jit_return"), (of_input, "jit_index"),
        (result, "jit_return"), (lambda_like, "jit_statement"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_wrong_functions_are_refused(function: Callable[..., Any], code: str) -> None:
    with pytest.raises(ac.CompileError, match="Remedy: ") as caught:
        ac.guvectorize("(n)->(n)")(function)(X)
    assert caught.value.code == code  # type: ignore[attr-defined]
