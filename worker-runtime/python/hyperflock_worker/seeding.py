"""One place that seeds the random generators of an attempt, here and in local runs alike."""

from __future__ import annotations

import random

import numpy as np


def seed_everything(seed: int) -> None:
    """Seed ``random`` and NumPy's global generator, in this order.

    Parameters
    ----------
    seed : int
        Unsigned 32-bit number, as NumPy's legacy generator takes it.
    """
    random.seed(seed)
    np.random.seed(seed)
