"""Attacks that use up the device's memory."""

from __future__ import annotations

from typing import Any


def python_memory(trial: Any) -> float:
    """Allocate ever more bytes and keep them."""
    kept = []
    while True:
        kept.append(bytearray(32 << 20))


def numpy_memory(trial: Any) -> float:
    """Ask for one array of nearly 2 GiB, the largest size that NumPy can count in a browser."""
    import numpy as np

    return float(np.zeros(255 << 20, dtype=np.float64)[0])


def webassembly_memory(trial: Any) -> float:
    """Make a separate memory and let it grow past the limit of this thread."""
    import js
    from pyodide.ffi import to_js

    options = to_js({"initial": 1, "maximum": 65_536}, dict_converter=js.Object.fromEntries)
    memory = js.WebAssembly.Memory.new(options)
    # 3 GiB is more than any device gives a trial.
    memory.grow(49_152)
    return 0.0


def array_buffers(trial: Any) -> float:
    """Ask JavaScript for buffers of 1 GiB until there are no more. None is written to."""
    import js

    kept = []
    for _ in range(4_096):
        kept.append(js.ArrayBuffer.new(1 << 30))
    return float(len(kept))
