"""Saves and restores the states of random generators with a checkpoint.

    checkpoints.encode(state, {MEMBER: snapshot()})     # one more file in its zip
    restore(content)                                    # on the device of the next attempt

The next attempt draws the numbers that this one would have drawn. The generators are those of
``random``, NumPy's global one, and array-core's if it is loaded. A checkpoint comes from another
person's device, so each number is checked before a generator gets it. Only the thread that runs the
objective uses this module.
"""

from __future__ import annotations

import json
import math
import random
import sys
from typing import Any

import numpy as np

from hyperflock._base.errors import CheckpointError
from hyperflock._trial import checkpoints

MEMBER = "hyperflock_random.json"
_MAX_BYTES = 64 * 1024
# The number of words in a Mersenne twister's state.
_WORDS = 624


def seed_everything(seed: int) -> None:
    """Seed ``random`` and NumPy's global generator, in this order.

    Parameters
    ----------
    seed : int
        An unsigned number of 32 bits, as NumPy's legacy generator takes it.
    """
    random.seed(seed)
    np.random.seed(seed)


def snapshot() -> str:
    """Return the states of the generators as JSON text."""
    version, words, gauss = random.getstate()
    name, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    told: dict[str, Any] = {
        "python": [version, list(words), gauss],
        "numpy": [name, np.asarray(keys).tolist(), int(position), int(has_gauss), float(cached)],
    }
    arraycore = sys.modules.get("arraycore")
    if arraycore is not None:
        key, calls = arraycore.random.get_random_state().get_state()
        told["arraycore"] = [[int(part) for part in key], int(calls)]
    return json.dumps(told)


def restore(content: bytes) -> None:
    """Restore the generators from a checkpoint. If it contains no state, they stay as they are.

    Raises
    ------
    CheckpointError
        ``checkpoint_malformed``: the state is invalid. Generators that were restored before keep
        their new state.
    """
    told = checkpoints.read_member(content, MEMBER, _MAX_BYTES)
    if told is None:
        return
    try:
        version, words, gauss = told["python"]
        name, keys, position, has_gauss, cached = told["numpy"]
        ours = told.get("arraycore")
        _check(version == 3 and len(words) == _WORDS + 1 and all(map(_is_word, words)))
        _check(0 <= words[-1] <= _WORDS and (gauss is None or _is_finite(gauss)))
        _check(name == "MT19937" and len(keys) == _WORDS and all(map(_is_word, keys)))
        # NumPy does not check the position. With a position beyond the state's words, it would
        # read other memory.
        _check(_is_word(position) and position <= _WORDS)
        _check(has_gauss in (0, 1) and _is_finite(cached))
        random.setstate((version, tuple(words), gauss))
        np.random.set_state((name, np.asarray(keys, np.uint32), position, has_gauss, cached))
        arraycore = sys.modules.get("arraycore")
        if arraycore is not None and ours is not None:
            (first, second), calls = ours
            _check(all(_is_word(part, 64) for part in (first, second, calls)))
            arraycore.random.get_random_state().set_state(((first, second), calls))
    except Exception as error:
        # Another device sent these bytes, so any error is possible.
        raise CheckpointError(
            f"the checkpoint's {MEMBER} is no generators' state: {error}",
            code="checkpoint_malformed",
        ) from error


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("a number is out of its range")


def _is_word(value: object, bits: int = 32) -> bool:
    return type(value) is int and 0 <= value < 1 << bits


def _is_finite(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
