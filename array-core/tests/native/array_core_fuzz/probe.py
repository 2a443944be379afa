"""Calls the C++ probe library (``probe.cc``) through ctypes. Dtypes are passed as numbers."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from array_core_fuzz.steps import DTYPES

CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")

# The numbers of Python's scalar types as operands of ``result_type``.
PYTHON_SCALARS: dict[type, int] = {int: -1, float: -2, complex: -3}

Words = npt.NDArray[np.int64]


class Mode(IntEnum):
    """Promotion modes, numbered as in promotion.h."""

    NUMPY2 = 0
    CUPY = 1


class Overlap(IntEnum):
    """How two views overlap, numbered as in overlap.h."""

    DISJOINT = 0
    SAME = 1
    PARTIAL = 2


class ProbeMissingError(RuntimeError):
    """``ARRAYCORE_PROBE`` does not name the built probe library."""


class ProgramError(RuntimeError):
    """The probe could not read a program, or its answer was larger than expected."""


@cache
def library() -> ctypes.CDLL:
    """Load the library that ``ARRAYCORE_PROBE`` names."""
    path = os.environ.get("ARRAYCORE_PROBE", "")
    if not os.path.isfile(path):
        raise ProbeMissingError(
            f"ARRAYCORE_PROBE is {path!r}; build the CMake target arraycore_probe and set "
            "ARRAYCORE_PROBE to lib/libarraycore_probe.so of that build"
        )
    lib = ctypes.CDLL(path)
    i32, i64, address, text = (ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p)
    lib.probe_promote.argtypes = [i32, i32]
    lib.probe_result_type.argtypes = [i32, address, i64, address, i64]
    lib.probe_can_cast.argtypes = [i32, i32, i32]
    lib.probe_check_fits.argtypes = [i32, ctypes.c_uint64, i32, i32, text, i64]
    lib.probe_cast.argtypes = [i32, address, i64, i32, address, i64, i64]
    lib.probe_cast.restype = None
    lib.probe_broadcast_shapes.argtypes = [address, i64, i64, address, text, i64]
    lib.probe_overlap.argtypes = [address, i64, i64, i64, address]
    lib.probe_overlap.restype = None
    lib.probe_run.argtypes = [address, i64, i64, address, address, address]
    lib.probe_message.argtypes = [address, i64, text, i64]
    lib.probe_message.restype = None
    return lib


def number(dtype: npt.DTypeLike) -> int:
    """Return the probe's number of a dtype."""
    return DTYPES.index(np.dtype(dtype))


def words_of(values: Sequence[int]) -> Words:
    """Return integers as an int64 array, which is how the probe reads words."""
    return np.array(values, dtype=np.int64)


def promote(a: npt.DTypeLike, b: npt.DTypeLike) -> np.dtype[Any]:
    """Return the common dtype of two dtypes, by array-core."""
    return DTYPES[int(library().probe_promote(number(a), number(b)))]


def result_type(
    mode: Mode, arrays: Sequence[npt.DTypeLike], scalars: Sequence[npt.DTypeLike | type]
) -> np.dtype[Any]:
    """Return the common dtype of arrays and scalars; int, float and complex are Python's."""
    array_words = words_of([number(dtype) for dtype in arrays])
    scalar_words = words_of(
        [
            PYTHON_SCALARS[scalar]
            if isinstance(scalar, type) and scalar in PYTHON_SCALARS
            else number(scalar)
            for scalar in scalars
        ]
    )
    answer = library().probe_result_type(
        mode, array_words.ctypes.data, len(arrays), scalar_words.ctypes.data, len(scalars)
    )
    return DTYPES[int(answer)]


def can_cast(source: npt.DTypeLike, target: npt.DTypeLike, casting: str) -> bool:
    """Return whether a casting rule allows a cast, by array-core."""
    answer = library().probe_can_cast(number(source), number(target), CASTINGS.index(casting))
    return bool(answer)


def check_fits(value: int, dtype: npt.DTypeLike) -> tuple[int, str]:
    """Return the error's kind (0: none) and message for a Python int that must fit a dtype."""
    text = ctypes.create_string_buffer(200)
    magnitude = abs(value)
    kind = library().probe_check_fits(
        int(value < 0),
        magnitude & (2**64 - 1),
        int(magnitude >= 2**64),
        number(dtype),
        text,
        len(text),
    )
    return int(kind), text.value.decode()


def cast(source: npt.NDArray[Any], target: npt.NDArray[Any]) -> None:
    """Fill a one-dimensional array from another of the same length by the IR's conversion."""
    library().probe_cast(
        number(source.dtype),
        source.ctypes.data,
        source.strides[0],
        number(target.dtype),
        target.ctypes.data,
        target.strides[0],
        len(source),
    )


def broadcast_shapes(shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...] | None, str]:
    """Return the common shape, or None and the error's message."""
    words = words_of([word for shape in shapes for word in (len(shape), *shape)])
    result = np.zeros(33, dtype=np.int64)
    text = ctypes.create_string_buffer(1000)
    kind = library().probe_broadcast_shapes(
        words.ctypes.data, len(words), len(shapes), result.ctypes.data, text, len(text)
    )
    if kind:
        return None, text.value.decode()
    return tuple(result[1 : 1 + result[0]].tolist()), ""


def overlaps(words: Sequence[int], pairs: int, max_work: int) -> list[Overlap]:
    """Return how each of several pairs of views overlaps; ``words`` are as in probe.cc."""
    encoded = words_of(words)
    answers = np.zeros(pairs, dtype=np.uint8)
    library().probe_overlap(encoded.ctypes.data, len(encoded), pairs, max_work, answers.ctypes.data)
    return [Overlap(answer) for answer in answers.tolist()]


class Runner:
    """Runs batches of programs, and reuses its buffers for the next batch."""

    def __init__(self) -> None:
        self._library = library()
        self._results = np.zeros(1 << 18, dtype=np.int64)
        self._contents = np.zeros(1 << 24, dtype=np.uint8)

    def run(self, words: Words, programs: int) -> tuple[Words, bytes]:
        """Return results and contents (program.h) of all programs, one after another."""
        sizes = words_of([len(self._results), len(self._contents)])
        status = self._library.probe_run(
            words.ctypes.data,
            len(words),
            programs,
            self._results.ctypes.data,
            self._contents.ctypes.data,
            sizes.ctypes.data,
        )
        if status:
            raise ProgramError("the probe could not run a batch of programs")
        return self._results[: sizes[0]].copy(), self._contents[: sizes[1]].tobytes()


def message(program: Sequence[int]) -> str:
    """Return the message of a program's last error."""
    words = words_of(program)
    text = ctypes.create_string_buffer(1000)
    library().probe_message(words.ctypes.data, len(words), text, len(text))
    return text.value.decode()
