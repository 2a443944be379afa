"""Tests that the browser's ``tensordot`` gives the same results as NumPy's, and is used only in
browsers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy._core.numeric as numeric
import pytest
from hyperflock_worker.compat import matrix_products

RANDOM = np.random.RandomState(0)


@pytest.fixture
def einsum_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the arguments of each call of ``einsum``."""
    calls: list[str] = []
    einsum = np.einsum

    def spy(subscripts: str, *operands: Any, out: Any = None) -> object:
        calls.append(subscripts)
        return einsum(subscripts, *operands, out=out)

    monkeypatch.setattr(np, "einsum", spy)
    return calls


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("a_order", "CF")
@pytest.mark.parametrize("b_order", "CF")
def test_large_float_products_equal_dot(
    einsum_calls: list[str], dtype: type, a_order: str, b_order: str
) -> None:
    a = np.array(RANDOM.rand(40, 30), dtype, order=a_order)  # type: ignore[call-overload]
    b = np.array(RANDOM.rand(30, 50), dtype, order=b_order)  # type: ignore[call-overload]
    got = matrix_products.dot(a, b)
    assert einsum_calls == ["ij,kj->ik"]
    assert got.dtype == dtype
    np.testing.assert_allclose(got, np.dot(a, b), rtol=1e-5)


def test_products_beyond_einsums_limit_go_in_slabs(
    einsum_calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = RANDOM.rand(70, 40), RANDOM.rand(40, 30)
    monkeypatch.setattr(matrix_products, "MAX_PRODUCTS", 40 * 30 * 32 + 1)
    np.testing.assert_allclose(matrix_products.dot(a, b), np.dot(a, b), rtol=1e-12)
    assert len(einsum_calls) == 3, "32 + 32 + 6 rows"
    monkeypatch.setattr(matrix_products, "MAX_PRODUCTS", 40 * 30 - 1)
    np.testing.assert_array_equal(matrix_products.dot(a, b), np.dot(a, b))
    assert len(einsum_calls) == 3, "one row alone is too much: left to dot"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (RANDOM.rand(2, 3), RANDOM.rand(3, 2)),
        (RANDOM.rand(40_000), RANDOM.rand(40_000)),
        (np.ones((40, 40), np.int64), np.ones((40, 40), np.int64)),
        (np.ones((40, 40), np.float32), np.ones((40, 40), np.float64)),
        (np.ones((40, 40), np.float16), np.ones((40, 40), np.float16)),
        (RANDOM.rand(2, 40, 40), RANDOM.rand(40, 40)),
        (3.0, RANDOM.rand(40, 40)),
    ],
)
def test_everything_else_is_left_to_dot(einsum_calls: list[str], a: Any, b: Any) -> None:
    got = matrix_products.dot(a, b)
    assert einsum_calls == []
    np.testing.assert_array_equal(got, np.dot(a, b))


def test_wrong_shapes_are_refused_as_before() -> None:
    with pytest.raises(ValueError, match="not aligned"):
        matrix_products.dot(np.ones((200, 200)), np.ones((100, 200)))


def test_tensordot_uses_it_in_a_browser(
    einsum_calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numeric, "dot", numeric.dot)  # undone after the test
    columns, weights = RANDOM.rand(8, 3, 3, 3, 14, 14), RANDOM.rand(4, 3, 3, 3)
    axes = ((1, 2, 3), (1, 2, 3))
    expected = np.tensordot(columns, weights, axes)
    matrix_products.install("linux")
    np.testing.assert_array_equal(np.tensordot(columns, weights, axes), expected)
    assert einsum_calls == []
    matrix_products.install("emscripten")
    np.testing.assert_allclose(np.tensordot(columns, weights, axes), expected, rtol=1e-12)
    assert einsum_calls == ["ij,kj->ik"]
