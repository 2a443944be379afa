"""``cupy.testing.random``: seeds all generators before a test and restores them afterwards."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from arraycore import random as ours

_SEED = 100
_kept: list[Any] = []


def do_setup(deterministic: bool = True) -> None:
    """Save the states of Python's, NumPy's and arraycore's generators, and seed them.

    Parameters
    ----------
    deterministic : bool
        Whether the seed is fixed.
    """
    _kept.append((random.getstate(), np.random.get_state(), ours.get_random_state()))
    seed = _SEED if deterministic else None
    random.seed(seed)
    np.random.seed(seed)
    ours.set_random_state(ours.RandomState(seed))


def do_teardown() -> None:
    """Restore the states that the last :func:`do_setup` saved."""
    of_python, of_numpy, of_ours = _kept.pop()
    random.setstate(of_python)
    np.random.set_state(of_numpy)
    ours.set_random_state(of_ours)
