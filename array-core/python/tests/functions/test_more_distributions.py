"""Tests the distributions that are made from others or drawn by NumPy: moments, shapes, seeds.

Each mean and variance is compared with the exact one. The bounds are six standard errors of 40,000
draws; the seeds are fixed, so that a run gives what the last one gave.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

COUNT = 40_000

#: A call of each distribution, its mean and its variance.
MOMENTS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "triangular": (lambda r: r.triangular(1.0, 2.0, 4.0, COUNT), 7 / 3, 7 / 18),
    "negative_binomial": (lambda r: r.negative_binomial(3, 0.4, COUNT), 4.5, 11.25),
    "noncentral_chisquare": (lambda r: r.noncentral_chisquare(3, 2.0, COUNT), 5.0, 14.0),
    "noncentral_f": (lambda r: r.noncentral_f(5, 20, 1.5, COUNT), 20 * 6.5 / (5 * 18),
                     2 * (20 / 5) ** 2 * (6.5**2 + (5 + 3) * 18) / (18**2 * 16)),
    "wald": (lambda r: r.wald(2.0, 4.0, COUNT), 2.0, 2.0),
    "vonmises": (lambda r: ac.cos(r.vonmises(0.0, 2.0, COUNT)), 0.6977746579640079, 0.16422),
    "hypergeometric": (lambda r: r.hypergeometric(15, 5, 8, COUNT), 6.0, 8 * 0.75 * 0.25 * 12 / 19),
    "logseries": (lambda r: r.logseries(0.6, COUNT), 1.637035, 1.412659),
    "zipf": (lambda r: r.zipf(6.0, COUNT), 1.0369277551433709 / 1.0173430619844491, 0.0249434),
    "multinomial": (lambda r: r.multinomial(10, [0.2, 0.3, 0.5], COUNT)[:, 1], 3.0, 2.1),
    "binomial of many": (lambda r: r.binomial(10**6, 0.25, COUNT), 250_000, 187_500),
    "binomial of arrays": (lambda r: r.binomial([[8]] * COUNT, [0.25]), 2.0, 1.5),
    "binomial of one": (lambda r: r.binomial(1, ac.full(COUNT, 0.3)), 0.3, 0.21),
    "geometric": (lambda r: r.geometric(ac.full(COUNT, 0.25)), 4.0, 12.0),
    "randint": (lambda r: r.randint(ac.full(COUNT, -5), 7), 0.5, (12**2 - 1) / 12),
    "randint of long spans": (
        lambda r: r.randint([-(2**62)] * COUNT, [2**62]) / 2.0**62, 0.0, 1 / 3,
    ),
    "multivariate_normal": (
        lambda r: r.multivariate_normal([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]], COUNT).sum(1),
        3.0, 7.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(MOMENTS))
def test_moments_are_the_distributions(name: str) -> None:
    call, mean, variance = MOMENTS[name]
    drawn = call(ac.random.RandomState(19)).get().astype(float).ravel()
    assert drawn.size == COUNT
    error = math.sqrt(variance / COUNT)
    assert abs(drawn.mean() - mean) < 6 * error
    fourth = ((drawn - mean) ** 4).mean()
    assert (
        abs(drawn.var() - variance)
        < 6 * math.sqrt((fourth - variance**2) / COUNT) + 1e-4 * variance
    )


@pytest.mark.parametrize("name", sorted(MOMENTS))
def test_a_seed_gives_the_same_numbers(name: str) -> None:
    call = MOMENTS[name][0]
    one, other = ac.random.RandomState(3), ac.random.RandomState(3)
    np.testing.assert_array_equal(call(one).get(), call(other).get())
    assert not np.array_equal(call(one).get(), call(ac.random.RandomState(3)).get())


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.triangular([0.0, 1.0], [[1.5], [2.0], [2.5]], 3.0),
        lambda r: r.noncentral_chisquare([1.0, 2.0], [[1.0], [0.0], [2.0]]),
        lambda r: r.noncentral_f([1.0, 2.0], [[1.0], [4.0], [2.0]], 1.0),
        lambda r: r.wald([1.0, 2.0], [[1.0], [4.0], [2.0]]),
        lambda r: r.vonmises([1.0, 2.0], [[1.0], [4.0], [2.0]]),
        lambda r: r.hypergeometric([5, 6], [[1], [4], [2]], 3),
        lambda r: r.negative_binomial([5, 6], [[0.5], [0.25], [1.0]]),
        lambda r: r.logseries([[0.5, 0.25]] * 3),
        lambda r: r.zipf([[2.5, 3.25]] * 3),
        lambda r: r.binomial([3, 4], [[0.5], [0.25], [0.0]]),
        lambda r: r.geometric([[0.5, 0.25]] * 3),
        lambda r: r.randint([1, 2], [[5], [6], [7]]),
        lambda r: r.tomaxint((3, 2)),
    ],
)
def test_parameters_broadcast(call: Callable[[Any], Any]) -> None:
    theirs = call(np.random.RandomState(0))
    ours = call(ac.random.RandomState(0))
    assert ours.shape == theirs.shape == (3, 2)
    assert ours.dtype.kind == theirs.dtype.kind


def test_integers_stay_between_their_ends() -> None:
    rng = ac.random.default_rng(1)
    low = np.array([[-100, 0, 7], [-(2**63), 5, 2**62]])
    high = np.array([[-90, 1, 8], [2**63 - 1, 2**40, 2**62 + 3]])
    for _ in range(50):
        drawn = rng.integers(low, high).get()
        assert ((drawn >= low) & (drawn < high)).all()
        ended = rng.integers(low, high, endpoint=True).get()
        assert ((ended >= low) & (ended <= high)).all()
    small = rng.integers(
        ac.array(np.full(2_000, -128)), ac.array(np.full(2_000, 128)), dtype="int8"
    )
    assert small.dtype == np.int8
    assert len(set(small.tolist())) > 200
    top = rng.integers(np.full(500, 2**64 - 3, np.uint64), 2**64 - 1, dtype="uint64", endpoint=True)
    assert set(top.tolist()) == {2**64 - 3, 2**64 - 2, 2**64 - 1}


def test_a_generator_writes_to_out_and_makes_bytes() -> None:
    rng = ac.random.default_rng(5)
    out = ac.zeros((200, 100), np.float32)
    for call in (rng.standard_normal, rng.standard_exponential):
        assert call(out=out) is out
        assert 0.9 < float(out.std()) < 1.1
        with pytest.raises(ValueError, match="size must match"):
            call(3, out=out)
    assert rng.standard_gamma(4.0, out=out) is out
    assert 3.9 < float(out.mean()) < 4.1
    assert rng.permuted(ac.arange(5), out=ac.zeros(5, np.int64)).tolist() != [0] * 5
    assert sorted(rng.choice(5, 5, replace=False, shuffle=False).tolist()) == [0, 1, 2, 3, 4]
    assert len(rng.bytes(7)) == 7
    assert rng.bytes(0) == b""
    assert ac.random.default_rng(5).bytes(9) == ac.random.default_rng(5).bytes(9)
    drawn = rng.multivariate_hypergeometric([3, 4, 5], 6, 100).get()
    assert (drawn.sum(1) == 6).all()
    with pytest.raises(NotImplementedError, match="get_state"):
        rng.bit_generator  # noqa: B018
    with pytest.raises(ValueError, match="method"):
        rng.standard_exponential(3, method="other")
    assert [rng.multivariate_normal([0.0, 1.0], np.eye(2), (3, 4), method=method).shape
            for method in ("svd", "eigh", "cholesky")] == [(3, 4, 2)] * 3  # fmt: skip
    with pytest.raises(ValueError, match="positive-semidefinite"):
        rng.multivariate_normal([0.0, 1.0], -np.eye(2), check_valid="raise")


def test_the_modules_functions_draw_from_its_stream() -> None:
    for name, args in {
        "hypergeometric": (5, 5, 3), "logseries": (0.5,), "multinomial": (3, [0.5, 0.5]),
        "multivariate_normal": ([0.0], [[1.0]]), "negative_binomial": (3, 0.5),
        "noncentral_chisquare": (2, 1), "noncentral_f": (2, 3, 1), "triangular": (0, 1, 2),
        "vonmises": (0, 1), "wald": (1, 1), "zipf": (3,), "bytes": (5,), "tomaxint": (),
    }.items():  # fmt: skip
        ac.random.seed(3)
        drawn = getattr(ac.random, name)(*args)
        expected = getattr(ac.random.RandomState(3), name)(*args)
        assert drawn == expected if name == "bytes" else bool((drawn == expected).all())
