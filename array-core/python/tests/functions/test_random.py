"""Tests random numbers: the generator's published words, the distributions, streams and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore.random import _distributions

COUNT = 100_000
#: Kolmogorov's statistic times sqrt(n) exceeds this with a probability of 5e-7.
MOST = 2.75


def erf(x: Any) -> Any:
    return np.vectorize(math.erf)(x)


def deviation(values: Any, distribution: Callable[[Any], Any]) -> float:
    """Return the Kolmogorov-Smirnov statistic of a sample, times the root of its size."""
    ordered = np.sort(np.asarray(values, np.float64).ravel())
    below = distribution(ordered)
    steps = np.arange(ordered.size + 1) / ordered.size
    apart = max(np.max(steps[1:] - below), np.max(below - steps[:-1]))
    return float(apart * math.sqrt(ordered.size))


#: For each method: its arguments, and the cumulative distribution function of its samples.
CONTINUOUS: dict[str, tuple[tuple[Any, ...], Callable[[Any], Any]]] = {
    "uniform": ((-2.0, 5.0), lambda x: (x + 2) / 7),
    "normal": ((1.0, 3.0), lambda x: 0.5 * (1 + erf((x - 1) / (3 * math.sqrt(2))))),
    "standard_normal": ((), lambda x: 0.5 * (1 + erf(x / math.sqrt(2)))),
    "lognormal": ((0.5, 0.25),
                  lambda x: 0.5 * (1 + erf((np.log(x) - 0.5) / (0.25 * math.sqrt(2))))),
    "exponential": ((2.0,), lambda x: 1 - np.exp(-x / 2)),
    "standard_exponential": ((), lambda x: 1 - np.exp(-x)),
    "gumbel": ((1.0, 2.0), lambda x: np.exp(-np.exp(-(x - 1) / 2))),
    "laplace": ((1.0, 2.0), lambda x: np.where(x < 1, np.exp(-abs(x - 1) / 2) / 2,
                                               1 - np.exp(-abs(x - 1) / 2) / 2)),
    "logistic": ((1.0, 2.0), lambda x: 1 / (1 + np.exp(-(x - 1) / 2))),
    "standard_cauchy": ((), lambda x: 0.5 + np.arctan(x) / math.pi),
    "rayleigh": ((2.0,), lambda x: 1 - np.exp(-x * x / 8)),
    "weibull": ((1.5,), lambda x: 1 - np.exp(-(x**1.5))),
    "power": ((3.0,), lambda x: x**3),
    "pareto": ((3.0,), lambda x: 1 - (1 + x) ** -3.0),
    "gamma": ((2.0, 3.0), lambda x: 1 - (1 + x / 3) * np.exp(-x / 3)),
    "standard_gamma": ((0.5,), lambda x: erf(np.sqrt(x))),
    "chisquare": ((4.0,), lambda x: 1 - (1 + x / 2) * np.exp(-x / 2)),
    "beta": ((2.0, 1.0), lambda x: x * x),
    "standard_t": ((2.0,), lambda x: 0.5 + x / (2 * np.sqrt(2 + x * x))),
    "f": ((2.0, 2.0), lambda x: x / (1 + x)),
}  # fmt: skip


#: Methods that draw with the gamma kernel, which a software device takes seconds to compile.
WITH_GAMMA = {"standard_gamma", "chisquare", "beta", "standard_t", "f"}
NAMES = [
    pytest.param(name, marks=[] if name in WITH_GAMMA else pytest.mark.whole) for name in CONTINUOUS
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_samples_follow_their_distribution(name: str, dtype: str) -> None:
    arguments, distribution = CONTINUOUS[name]
    state = ac.random.RandomState(sum(map(ord, name)))
    drawn = getattr(state, name)(*arguments, size=(COUNT // 100, 100), dtype=dtype)
    assert (drawn.dtype, drawn.shape) == (np.dtype(dtype), (COUNT // 100, 100))
    assert deviation(drawn.get(), distribution) < MOST
    # Neighbouring samples are not correlated.
    ranks = np.argsort(np.argsort(drawn.get().ravel())) / COUNT - 0.5
    for lag in (1, 2, 3, 4):
        assert abs(np.mean(ranks[lag:] * ranks[:-lag])) * 12 * math.sqrt(COUNT) < 5


def test_words_are_the_generators() -> None:
    # This is the test vector of key 0 and counter 0, from the test file of Philox's authors. The
    # C++ tests check the other vectors.
    source = ac.random.RandomState(0)
    source.set_state(((0, 0), 0))
    words = _distributions.bits(source, 4).get()
    assert [hex(word) for word in words] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def test_floats_are_the_words_first_bits() -> None:
    state = ac.random.RandomState(5)
    words = _distributions.bits(state, 1000).get()
    state.seed(5)
    np.testing.assert_array_equal(
        state.rand(1000, dtype="float32").get(),
        (words >> 8).astype(np.float32) * np.float32(2**-24),
    )
    state.seed(5)
    wide = (words[::2] >> 5) * 2.0**-27 + (words[1::2] >> 6) * 2.0**-53
    np.testing.assert_array_equal(state.rand(500).get(), wide)
    half = ac.random.RandomState(5).rand(1000, dtype="float16")
    assert half.dtype == np.float16
    assert float(half.get().max()) <= 1


def test_a_seed_gives_the_same_numbers_and_calls_go_on() -> None:
    first, second, other = (ac.random.default_rng(seed) for seed in (7, 7, 8))
    a, b, c = (rng.random(1000).get() for rng in (first, second, other))
    np.testing.assert_array_equal(a, b)
    assert not np.isin(a, c).any()
    d = first.random(1000).get()
    assert not np.isin(a, d).any()
    # With the same seed, a longer array begins with the numbers of a shorter one.
    np.testing.assert_array_equal(second.random(1003).get()[:1000], d)
    state = ac.random.RandomState([1, 2, 3])
    kept = state.get_state()
    e = state.normal(size=50).get()
    state.set_state(kept)
    np.testing.assert_array_equal(state.normal(size=50).get(), e)
    children = ac.random.default_rng(7).spawn(2)
    assert not np.isin(children[0].random(100).get(), children[1].random(100).get()).any()
    assert ac.random.default_rng(first) is first
    np.testing.assert_array_equal(ac.random.Generator(7).random(1000).get(), a)
    assert not np.isin(
        ac.random.RandomState().rand(100).get(), ac.random.RandomState().rand(100).get()
    ).any()


def test_functions_draw_from_the_stream_that_is_set() -> None:
    before = ac.random.get_random_state()
    try:
        ac.random.seed(11)
        expected = ac.random.RandomState(11)
        for name, arguments in {
            "rand": (3, 2), "randn": (4,), "random": (5,), "random_sample": ((2, 2),), "ranf": (3,),
            "sample": (3,), "randint": (0, 9, 20), "random_integers": (1, 6, 20),
            "permutation": (10,), "poisson": (3.0, 9), "dirichlet": ([1.0, 2.0], 3),
            "choice": (5, 7), "binomial": (4, 0.5, 9), "geometric": (0.5, 9),
        }.items():  # fmt: skip
            method = {"ranf": "random_sample", "sample": "random_sample"}.get(name, name)
            ours = getattr(ac.random, name)(*arguments)
            np.testing.assert_array_equal(ours.get(), getattr(expected, method)(*arguments).get())
        for name in CONTINUOUS:
            arguments = CONTINUOUS[name][0]
            ours = getattr(ac.random, name)(*arguments, size=5)
            np.testing.assert_array_equal(
                ours.get(), getattr(expected, name)(*arguments, size=5).get()
            )
        a, b = ac.arange(20), ac.arange(20)
        ac.random.shuffle(a)
        expected.shuffle(b)
        np.testing.assert_array_equal(a.get(), b.get())
        other = ac.random.RandomState(3)
        ac.random.set_random_state(other)
        assert ac.random.get_random_state() is other
    finally:
        ac.random.set_random_state(before)
    with pytest.raises(TypeError, match="RandomState"):
        ac.random.set_random_state(7)  # type: ignore[arg-type]


@pytest.mark.whole
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_integers_are_even(dtype: str) -> None:
    rng = ac.random.default_rng(2)
    high = 2 if dtype == "bool" else 6
    drawn = rng.integers(0, high, COUNT, dtype)
    assert drawn.dtype == np.dtype(dtype)
    counted = np.bincount(drawn.get().astype(np.int64), minlength=high)
    expected = COUNT / high
    assert len(counted) == high
    assert np.sum((counted - expected) ** 2 / expected) < 40  # chi-square of 5 degrees: p < 2e-7


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (-5, 6, "int64"), (-128, 128, "int8"), (0, 2**32, "uint32"), (0, 2**64, "uint64"),
        (-(2**63), 2**63, "int64"), (-(10**12), 10**12 + 7, "int64"), (5, 6, "int32"),
        (0, 2**32 + 1, "int64"), (2**63, 2**63 + 3 * 2**61, "uint64"),
    ],
)  # fmt: skip
def test_integers_fill_their_span(low: int, high: int, dtype: str) -> None:
    drawn = ac.random.default_rng(4).integers(low, high, 20_000, dtype).get()
    exact = [int(value) - low for value in drawn]
    span = high - low
    assert min(exact) >= 0
    assert max(exact) < span
    if span > 1000:
        # Divided by the span, the drawn integers must be uniform in [0, 1).
        assert deviation([value / span for value in exact], lambda x: x) < MOST
    else:
        assert set(exact) == set(range(span))
    closed = ac.random.default_rng(4).integers(low, high - 1, 20_000, dtype, endpoint=True)
    np.testing.assert_array_equal(closed.get(), drawn)


def test_binomial_counts_its_draws() -> None:
    state = ac.random.RandomState(9)
    for trials, chance in ((1, 0.3), (10, 0.3), (1, 0.0), (7, 1.0), (0, 0.5), (1000, 0.01)):
        drawn = state.binomial(trials, chance, COUNT // 10, dtype="int32").get()
        mean, variance = trials * chance, trials * chance * (1 - chance)
        assert abs(drawn.mean() - mean) <= 6 * math.sqrt(variance / drawn.size)
        assert drawn.min() >= 0
        assert drawn.max() <= trials
        assert abs(drawn.var() - variance) <= 0.1 * variance
    waits = state.geometric(0.25, COUNT).get()
    assert waits.min() == 1
    for k in (1, 2, 5):
        assert abs(np.mean(waits == k) - 0.25 * 0.75 ** (k - 1)) < 0.006
    assert (state.geometric(1.0, 10).get() == 1).all()


def test_parameters_may_be_arrays() -> None:
    state = ac.random.RandomState(1)
    loc, scale = ac.array([0, 100], "float32"), ac.array([[1], [5]], "float32")
    drawn = state.normal(loc, scale, (2000, 2, 2), "float32").get()
    np.testing.assert_allclose(drawn.mean(0), [[0, 100], [0, 100]], atol=0.6)
    np.testing.assert_allclose(drawn.std(0), [[1, 1], [5, 5]], rtol=0.1)
    assert state.uniform(loc, 200.0).shape == (2,)
    for name in ("uniform", "gumbel", "laplace", "logistic", "lognormal"):
        assert getattr(state, name)(loc, scale + loc).shape == (2, 2)
    for name in ("exponential", "rayleigh", "weibull"):
        assert getattr(state, name)(scale).shape == (2, 1)
    assert state.gamma(2.0, scale).shape == (2, 1)
    shapes = ac.array([0.5, 2, 30], "float32")
    drawn = state.gamma(shapes, 2.0, (4000, 3), "float32").get()
    np.testing.assert_allclose(drawn.mean(0), [1, 4, 60], rtol=0.15)
    np.testing.assert_allclose(drawn.var(0), [2, 8, 120], rtol=0.2)
    for name in ("chisquare", "standard_t"):
        assert getattr(state, name)(shapes).shape == (3,)
    for name in ("beta", "f"):
        assert getattr(state, name)(shapes, scale).shape == (2, 3)
    assert state.pareto(scale).shape == state.power(scale).shape == (2, 1)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_poisson_counts_arrivals(dtype: str) -> None:
    state = ac.random.RandomState(3)
    for mean in (0.0, 0.3, 4.0, 11.9, 12.1, 50.0, 3000.0):
        drawn = state.poisson(mean, COUNT // 5, dtype).get()
        assert drawn.dtype == np.dtype(dtype)
        assert drawn.min() >= 0
        assert abs(drawn.mean() - mean) <= 6 * math.sqrt(mean / drawn.size)
        assert abs(drawn.var() - mean) <= 0.06 * mean
    for mean in (4.0, 20.0):
        drawn = state.poisson(mean, COUNT, dtype).get()
        counted = np.bincount(drawn, minlength=60)[:60]
        chances = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(60)]
        expected = COUNT * np.array(chances)
        common = expected > 20
        # Chi-square with at most 26 degrees of freedom exceeds 80 with a probability of 2e-7.
        assert np.sum(((counted - expected) ** 2 / expected)[common]) < 80
    means = ac.array([1.0, 100.0], "float32")
    assert state.poisson(means, (50, 2), dtype).get().mean(0).round(-1).tolist() == [0, 100]


def test_shares_sum_to_one() -> None:
    state = ac.random.RandomState(2)
    shares = state.dirichlet([1.0, 2.0, 5.0], 5000, "float32").get()
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(shares.mean(0), [1 / 8, 2 / 8, 5 / 8], atol=0.02)
    assert state.dirichlet(ac.ones(4)).shape == (4,)
    assert state.dirichlet([1.0, 1.0], (2, 3)).shape == (2, 3, 2)


def test_orders_are_permutations_and_even() -> None:
    rng = ac.random.default_rng(6)
    order = rng.permutation(1000).get()
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    table = np.arange(12).reshape(4, 3)
    mixed = rng.permutation(ac.array(table)).get()
    assert sorted(map(tuple, mixed)) == sorted(map(tuple, table))
    columns = rng.permutation(ac.array(table), axis=1).get()
    assert sorted(map(tuple, columns.T)) == sorted(map(tuple, table.T))
    rows = rng.permuted(ac.array(np.tile(np.arange(50), (20, 1))), axis=1).get()
    np.testing.assert_array_equal(np.sort(rows, 1), np.tile(np.arange(50), (20, 1)))
    assert len({tuple(row) for row in rows}) == 20
    assert sorted(rng.permuted(ac.arange(9)).tolist()) == list(range(9))
    # All 6 orders are equally frequent.
    orders = rng.permuted(ac.array(np.tile(np.arange(3), (6000, 1))), axis=1).get()
    counted = np.unique(orders @ [9, 3, 1], return_counts=True)[1]
    assert counted.size == 6
    assert np.sum((counted - 1000) ** 2 / 1000) < 40
    a = ac.array(np.arange(30).reshape(10, 3))
    rng.shuffle(a)
    assert sorted(map(tuple, a.tolist())) == [(k, k + 1, k + 2) for k in range(0, 30, 3)]


def test_choices_are_made() -> None:
    rng = ac.random.default_rng(12)
    drawn = rng.choice(4, (100, 100)).get()
    assert np.abs(np.bincount(drawn.ravel()) - 2500).max() < 300
    assert sorted(rng.choice(10, 10, replace=False).tolist()) == list(range(10))
    values = ac.array([5, 6, 7], "float32")
    assert set(rng.choice(values, 100).tolist()) == {5, 6, 7}
    assert rng.choice(values).shape == ()
    shares = np.bincount(rng.choice(3, COUNT, p=[0.5, 0.0, 0.5]).get(), minlength=3) / COUNT
    np.testing.assert_allclose(shares, [0.5, 0, 0.5], atol=0.01)
    for _ in range(20):
        assert sorted(rng.choice(3, 2, replace=False, p=[0.5, 0.0, 0.5]).tolist()) == [0, 2]
    table = ac.array(np.arange(12).reshape(3, 4))
    assert rng.choice(table, (2, 5), axis=1).shape == (3, 2, 5)
    assert ac.random.RandomState(0).choice(5, 3).shape == (3,)


def test_drawing_crosses_nothing() -> None:
    state = ac.random.RandomState(1)
    state.rand(2)
    before = ac.counters()
    for dtype in ("float32", "float16"):
        state.uniform(-1, 1, 1000, dtype)
        state.normal(0, 1, 1000, dtype)
    state.randint(0, 10, 1000)
    state.randint(0, 2**40, 100)
    state.binomial(1, 0.5, 1000)
    state.gamma(2.0, 1.0, 100, "float32")
    state.permutation(100)
    state.choice(10, 100)
    after = ac.counters()
    for name in ("bytes_up", "bytes_down", "cpu_ops", "sync_waits"):
        assert after[name] == before[name], name


def test_results_go_to_out() -> None:
    rng = ac.random.default_rng(1)
    out = ac.zeros((3, 4), "float32")
    assert rng.random(out=out) is out
    assert float(out.get().min()) > 0
    with pytest.raises(ValueError, match="size must match"):
        rng.random(5, out=out)
    assert rng.random((0, 3)).shape == (0, 3)
    assert rng.random().shape == ()


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda r: r.normal(0, -1), ValueError),
        (lambda r: r.exponential(-1.0, 3), ValueError),
        (lambda r: r.gamma(-1.0), ValueError),
        (lambda r: r.pareto(0.0), ValueError),
        (lambda r: r.power(-1.0), ValueError),
        (lambda r: r.beta(0.0, 1.0), ValueError),
        (lambda r: r.binomial(1, 1.5), ValueError),
        (lambda r: r.binomial(-1, 0.5), ValueError),
        (lambda r: r.geometric(0.0), ValueError),
        (lambda r: r.randint(5, 5), ValueError),
        (lambda r: r.randint(0, 300, 5, "int8"), ValueError),
        (lambda r: r.randint(-1, 3, 5, "uint8"), ValueError),
        (lambda r: r.randint(0, 3, 5, "float32"), TypeError),
        (lambda r: r.randint(0, 3, -1), ValueError),
        (lambda r: r.rand(3, dtype="int32"), TypeError),
        (lambda r: r.choice(0, 2), ValueError),
        (lambda r: r.choice(3, 4, replace=False), ValueError),
        (lambda r: r.choice(3, 2, p=[0.5, 0.5]), ValueError),
        (lambda r: r.choice(3, 2, p=[0.5, 0.5, 0.5]), ValueError),
        (lambda r: r.choice(3, 2, p=[-0.5, 1.0, 0.5]), ValueError),
        (lambda r: r.choice(3, 3, replace=False, p=[0.0, 0.5, 0.5]), ValueError),
        (lambda r: r.choice(ac.zeros((2, 2)), 2), ValueError),
        (lambda r: r.shuffle(ac.zeros(())), TypeError),
        (lambda r: r.shuffle([1, 2]), TypeError),
        (lambda r: r.poisson(-1.0), ValueError),
        (lambda r: r.dirichlet([1.0, 0.0]), ValueError),
        (lambda r: r.gamma(ac.ones(3), size=2), ValueError),
        (lambda r: r.binomial([5, -1], 0.5), ValueError),
        (lambda r: r.binomial(5, [0.5, 1.5]), ValueError),
        (lambda r: r.geometric([0.5, 0.0]), ValueError),
        (lambda r: r.randint([1, 5], [3, 5]), ValueError),
        (lambda r: r.randint([1, 5], [3, 500], dtype="int8"), ValueError),
        (lambda r: r.triangular(0.0, 2.0, 1.0), ValueError),
        (lambda r: r.wald(1.0, 0.0), ValueError),
        (lambda r: r.zipf(0.5), ValueError),
        (lambda r: r.multivariate_normal([0.0], [[1.0, 0.0], [0.0, 1.0]]), ValueError),
        (lambda r: r.multinomial(3, [0.9, 0.9, 0.1]), ValueError),
        (lambda r: r.choice(3, 2, p=ac.ones(3)), ValueError),
    ],
)
def test_bad_arguments_are_refused(call: Callable[[Any], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call(ac.random.RandomState(0))
