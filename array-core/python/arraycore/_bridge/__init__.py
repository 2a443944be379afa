"""The bridge to array-core: WebAssembly under Pyodide, ctypes on ordinary CPython."""

from __future__ import annotations

import sys

from .interface import FREE_IDS, Bridge

__all__ = ["FREE_IDS", "Bridge", "connect"]


def connect() -> Bridge:
    """Return the bridge for this interpreter.

    Raises
    ------
    ImportError
        The library (or, under Pyodide, the host's module) was not found.
    """
    if sys.platform == "emscripten":
        from .wasm import WasmBridge

        return WasmBridge()
    from .native import NativeBridge, library_path

    return NativeBridge(library_path())
