"""Loads the probe library of the operation table by ctypes."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

LETTERS = "?bBhHiIqQefdFD"
DTYPES = [np.dtype(letter) for letter in LETTERS]
MODES = {"numpy2": 0, "cupy": 1}


@cache
def library() -> ctypes.CDLL:
    """Return the library; its path is in ``ARRAYCORE_OPS_PROBE``."""
    path = os.environ.get("ARRAYCORE_OPS_PROBE")
    if not path:
        raise RuntimeError("Set ARRAYCORE_OPS_PROBE to libarraycore_ops_probe.so; ./run test does.")
    loaded = ctypes.CDLL(path)
    loaded.probe_name.restype = ctypes.c_char_p
    loaded.probe_error.restype = ctypes.c_char_p
    loaded.probe_run.argtypes = [
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int64,
        ctypes.POINTER(ctypes.c_void_p),
    ]
    return loaded


@dataclass(frozen=True)
class UFunc:
    """A row of the operation table: one ufunc."""

    id: int
    name: str
    operands: int
    results: int

    def resolve(self, mode: str, operands: list[int]) -> str | None:
        """Return the loop for operands of these dtypes, as NumPy writes it, or None if no loop
        fits.
        """
        given = (ctypes.c_int * len(operands))(*operands)
        out = (ctypes.c_int * (self.operands + self.results))()
        if library().probe_resolve(self.id, MODES[mode], given, out) != 0:
            return None
        letters = "".join(LETTERS[number] for number in out)
        return f"{letters[: self.operands]}->{letters[self.operands :]}"

    def loops(self) -> list[str]:
        """Return the ufunc's loops as NumPy writes them, such as ``"ff->f"``."""
        width = self.operands + self.results
        out = (ctypes.c_int * (64 * width))()
        count = library().probe_loops(self.id, out)
        rows = [out[i * width : (i + 1) * width] for i in range(count)]
        texts = ["".join(LETTERS[number] for number in row) for row in rows]
        return [f"{text[: self.operands]}->{text[self.operands :]}" for text in texts]

    def bound(self, loop: int, executor: str = "cpu") -> tuple[float, float]:
        """Return a loop's allowed error in units in the last place, and a floor. Results below the
        floor may have the error that the floor itself may have.
        """
        out = (ctypes.c_float * 2)()
        library().probe_bound(self.id, loop, ["cpu", "gpu"].index(executor), out)
        return out[0], out[1]

    def run(self, loop: int, *operands: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Run loop number ``loop`` on arrays of its dtypes; return the results."""
        signature = self.loops()[loop]
        results = [
            np.zeros(operands[0].shape, np.dtype(letter)) for letter in signature.split("->")[1]
        ]
        arrays = [np.ascontiguousarray(operand) for operand in operands] + results
        pointers = (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
        if library().probe_run(self.id, loop, operands[0].size, pointers) != 0:
            raise RuntimeError(library().probe_error().decode())
        return results


@cache
def table() -> tuple[UFunc, ...]:
    """Return all rows of the operation table."""
    lib = library()
    return tuple(
        UFunc(
            i,
            lib.probe_name(i).decode(),
            lib.probe_operands(i),
            lib.probe_results(i),
        )
        for i in range(lib.probe_ufuncs())
    )
