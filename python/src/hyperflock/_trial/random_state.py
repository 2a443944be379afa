"""Where the random generators stand, saved with a checkpoint: who goes on draws the same numbers.

    checkpoints.encode(state, {MEMBER: snapshot()})     # one file more in its zip
    restore(content)                                    # on whatever device goes on

Of ``random``, NumPy's global generator and array-core's, where it is loaded. A checkpoint comes
from another person's device, so each number is checked before a generator gets it. On the thread
that runs the objective.
"""

from __future__ import annotations

import io
import json
import math
import random
import sys
import zipfile
from typing import Any

import numpy as np

MEMBER = "hyperflock_random.json"
_MAX_BYTES = 64 * 1024
# Words of a Mersenne twister.
_WORDS = 624


class RandomStateError(ValueError):
    """What a checkpoint says of the generators is no state of theirs."""


def snapshot() -> str:
    """Where the generators stand, as JSON text."""
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
    """Set the generators as a checkpoint says; one without a word of them leaves them as they are.

    Raises
    ------
    RandomStateError
        What it says is no state. Generators that were set by then stay so.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if MEMBER not in archive.namelist():
                return
            if archive.getinfo(MEMBER).file_size > _MAX_BYTES:
                raise RandomStateError("it is too long")
            told = json.loads(archive.read(MEMBER))
        version, words, gauss = told["python"]
        name, keys, position, has_gauss, cached = told["numpy"]
        ours = told.get("arraycore")
        _check(version == 3 and len(words) == _WORDS + 1 and all(map(_is_word, words)))
        _check(0 <= words[-1] <= _WORDS and (gauss is None or _is_finite(gauss)))
        _check(name == "MT19937" and len(keys) == _WORDS and all(map(_is_word, keys)))
        # NumPy looks at no position: one beyond the words would be read from other memory.
        _check(_is_word(position) and position <= _WORDS)
        _check(has_gauss in (0, 1) and _is_finite(cached))
        random.setstate((version, tuple(words), gauss))
        np.random.set_state((name, np.asarray(keys, np.uint32), position, has_gauss, cached))
        arraycore = sys.modules.get("arraycore")
        if arraycore is not None and ours is not None:
            (first, second), calls = ours
            _check(all(_is_word(part, 64) for part in (first, second, calls)))
            arraycore.random.get_random_state().set_state(((first, second), calls))
    except RandomStateError:
        raise
    except Exception as error:
        # Whatever bytes another device sends: zipfile, zlib and json raise nearly anything.
        raise RandomStateError(f"it cannot be read: {error}") from error


def _check(holds: bool) -> None:
    if not holds:
        raise RandomStateError("it is no generator's state")


def _is_word(value: object, bits: int = 32) -> bool:
    return type(value) is int and 0 <= value < 1 << bits


def _is_finite(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
