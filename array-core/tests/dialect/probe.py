"""Calls the dialect's compiler and the reference interpreter by ctypes (``probe.cc``).

The library's path is in the environment variable ``ARRAYCORE_DIALECT_PROBE``.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

TEXTS = {
    "elementwise": (
        "in_params", "out_params", "operation", "name", "preamble", "loop_prep", "after_loop",
    ),
    "reduction": (
        "in_params", "out_params", "map_expr", "name", "preamble", "reduce_expr", "post_map_expr",
        "identity", "reduce_type",
    ),
}  # fmt: skip
SCALAR, ABSENT = "scalar", "absent"
VALUE_ERROR, TYPE_ERROR, NOT_IMPLEMENTED, COMPILE_ERROR = 1, 2, 5, 6


class KernelError(Exception):
    """The compiler or the interpreter refused; ``kind`` is array-core's ErrorKind."""

    def __init__(self, kind: int, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def _library() -> ctypes.CDLL:
    path = os.environ.get("ARRAYCORE_DIALECT_PROBE")
    if not path:
        raise RuntimeError(
            "ARRAYCORE_DIALECT_PROBE names no library: build arraycore_dialect_probe"
        )
    library = ctypes.CDLL(path)
    library.dialect_answer.restype = ctypes.c_char_p
    return library


LIBRARY = _library()


def _check(code: int) -> str:
    answer = LIBRARY.dialect_answer().decode()
    if code:
        raise KernelError(code, answer)
    return str(answer)


def compile_kernel(
    kind: str, texts: Mapping[str, str], in_types: Sequence[str], out_types: Sequence[str]
) -> str:
    """Compile and verify a kernel; return its IR as text. A type is the name of a dtype, SCALAR or
    ABSENT.
    """
    values = [texts.get(name, "").encode() for name in TEXTS[kind]]
    array = (ctypes.c_char_p * len(values))(*values)
    return _check(
        LIBRARY.dialect_compile(
            int(kind == "reduction"),
            array,
            " ".join(in_types).encode(),
            " ".join(out_types).encode(),
        )
    )


def run_kernel(
    loop: Sequence[int], reduced: int, arguments: Sequence[np.ndarray[Any, Any] | np.generic]
) -> None:
    """Run the kernel that was compiled last. Scalars are NumPy scalars of the parameter's dtype."""
    count = len(arguments)
    data = (ctypes.c_void_p * count)()
    ndim = (ctypes.c_int * count)()
    shapes: list[int] = []
    strides: list[int] = []
    kept = []
    for k, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            array = argument
            ndim[k] = array.ndim
            shapes += array.shape
            strides += array.strides
        else:
            array = np.array(argument)
            ndim[k] = -1
        kept.append(array)
        data[k] = array.ctypes.data
    numbers = ctypes.c_int64 * max(len(shapes), 1)
    extents = (ctypes.c_int64 * max(len(loop), 1))(*loop)
    _check(
        LIBRARY.dialect_run(
            len(loop), extents, ctypes.c_uint32(reduced), count, data, ndim,
            numbers(*shapes), numbers(*strides),
        )
    )  # fmt: skip
