"""Random numbers on the device, under NumPy's and CuPy's names.

    import arraycore as ac
    rng = ac.random.default_rng(7)
    noise = rng.normal(0, 0.1, (64, 3, 32, 32), dtype="float32")

The functions of the module draw from one :class:`RandomState`. The generator is Philox4x32-10: a
seed gives the same stream on every back end, which is not NumPy's stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._generators import Generator, RandomState, default_rng

__all__ = [
    "Generator",
    "RandomState",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_random_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_random_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "tomaxint",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]

# Pickles contain this module's name, which stays the same in all versions.
Generator.__module__ = RandomState.__module__ = __name__

#: The stream of the module's functions. It is made at its first use, since its seed needs the
#: system's entropy and NumPy's mixing.
_state: RandomState | None = None


def get_random_state() -> RandomState:
    """Return the stream that the module's functions draw from."""
    global _state
    if _state is None:
        _state = RandomState()
    return _state


def set_random_state(rs: RandomState) -> None:
    """Set the stream that the module's functions draw from."""
    global _state
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(rs)}")
    _state = rs


def _drawing(name: str) -> Callable[..., Any]:
    """Return the function that calls a method of the module's stream."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(get_random_state(), name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(RandomState, name).__doc__
    return function


beta = _drawing("beta")
binomial = _drawing("binomial")
bytes = _drawing("bytes")
chisquare = _drawing("chisquare")
choice = _drawing("choice")
dirichlet = _drawing("dirichlet")
exponential = _drawing("exponential")
f = _drawing("f")
gamma = _drawing("gamma")
geometric = _drawing("geometric")
gumbel = _drawing("gumbel")
hypergeometric = _drawing("hypergeometric")
laplace = _drawing("laplace")
logistic = _drawing("logistic")
lognormal = _drawing("lognormal")
logseries = _drawing("logseries")
multinomial = _drawing("multinomial")
multivariate_normal = _drawing("multivariate_normal")
negative_binomial = _drawing("negative_binomial")
noncentral_chisquare = _drawing("noncentral_chisquare")
noncentral_f = _drawing("noncentral_f")
normal = _drawing("normal")
pareto = _drawing("pareto")
permutation = _drawing("permutation")
poisson = _drawing("poisson")
power = _drawing("power")
rand = _drawing("rand")
randint = _drawing("randint")
randn = _drawing("randn")
random = _drawing("random")
random_integers = _drawing("random_integers")
random_sample = _drawing("random_sample")
rayleigh = _drawing("rayleigh")
seed = _drawing("seed")
shuffle = _drawing("shuffle")
standard_cauchy = _drawing("standard_cauchy")
standard_exponential = _drawing("standard_exponential")
standard_gamma = _drawing("standard_gamma")
standard_normal = _drawing("standard_normal")
standard_t = _drawing("standard_t")
tomaxint = _drawing("tomaxint")
triangular = _drawing("triangular")
uniform = _drawing("uniform")
vonmises = _drawing("vonmises")
wald = _drawing("wald")
weibull = _drawing("weibull")
zipf = _drawing("zipf")
ranf = sample = random_sample
