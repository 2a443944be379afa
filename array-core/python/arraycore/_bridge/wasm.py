"""The bridge to the WebAssembly module that is loaded next to Pyodide.

Most of the module's functions are called directly. JavaScript functions copy memory between
Python's heap and the module's (worker-runtime/src/python/arraycore/arraycore_host.ts).
"""

from __future__ import annotations

import importlib
from array import array
from typing import Any


class WasmBridge:
    """The bridge that calls functions of the JavaScript module ``_arraycore_host``."""

    name = "wasm"

    def __init__(self) -> None:
        host = importlib.import_module("_arraycore_host")
        self._create, self._read = host.create, host.read
        self._describe, self._free = host.describe, host.free
        self.open = host.open
        self.item = host.item
        self.close = host.close
        self.reset = host.reset
        self.error = host.error
        self.set_promotion = host.set_promotion
        self.ufunc_number = host.ufunc_number
        self.unary = host.unary
        self.binary = host.binary
        self.binary_scalar = host.binary_scalar
        self.call = host.call
        self.kernel = host.kernel
        self.counter = host.counter
        self.device_text = host.device_text
        self.profile_text = host.profile_text

    def create(self, dtype: int, shape: tuple[int, ...], elements: Any | None) -> int:
        return int(self._create(dtype, ",".join(map(str, shape)), elements))

    def read(self, array_: int, target: Any) -> int:
        return int(self._read(array_, target))

    def describe(self, array_: int) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
        text = self._describe(array_)
        if not text:
            return None
        dtype, ndim, *rest = map(int, text.split(","))
        return dtype, tuple(rest[:ndim]), tuple(rest[ndim:])

    def free(self, arrays: list[int]) -> int:
        return int(self._free(array("i", arrays)))
