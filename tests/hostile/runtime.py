"""Attacks that spoil the runtime for the next trial, or that read what the last one left."""

from __future__ import annotations

from typing import Any

from escape import each_refused, inner


def poison_python(trial: Any) -> float:
    """Replace builtins, NumPy, json, the runner and the import system for the next trial."""
    import builtins
    import json
    import os
    import random
    import sys
    import tempfile
    from pathlib import Path

    import hyperflock._trial.metrics
    import numpy as np

    builtins.len = lambda thing: 42  # type: ignore[assignment]
    builtins.hostile = True  # type: ignore[attr-defined]
    json.loads = lambda text: {"hostile": True}
    np.add = lambda *numbers: 666.0  # type: ignore[assignment]
    random.random = lambda: 0.5
    sys.modules["hostile"] = sys
    sys.meta_path.insert(0, None)  # type: ignore[arg-type]
    os.environ["HOSTILE"] = "1"
    Path(tempfile.gettempdir(), "hostile.txt").write_text("hostile")
    Path(Path.home(), "hostile.txt").write_text("hostile")
    hyperflock._trial.metrics.metric = lambda value, what: 666.0
    return 0.0


def poison_modules(trial: Any) -> float:
    """Write into the runtime's own files: the packages, the library, the import path."""
    import sys
    from pathlib import Path

    site = next(path for path in sys.path if path.endswith("/site-packages"))
    Path(site, "hostile_start.pth").write_text("import builtins; builtins.hostile = True")
    Path(site, "sitecustomize.py").write_text("import builtins; builtins.hostile = True")
    Path(site, "six.py").write_text("raise RuntimeError('hostile')")
    for package in ("hyperflock", "hyperflock_worker"):
        for file in Path(site, package).rglob("*.py*"):
            file.write_bytes(b"hostile")
    sys.path.insert(0, "/hostile")
    return 0.0


def poison_javascript(trial: Any) -> float:
    """Replace what JavaScript programs rely on: prototypes, JSON, promises, globals."""
    import js
    from pyodide.ffi import create_proxy

    nothing = create_proxy(lambda *values: None)
    js.Object.prototype.hostile = "hostile"
    js.globalThis.hostile = "hostile"
    js.JSON.stringify = nothing
    js.Promise.prototype.finally_ = nothing
    js.String.prototype.trim = nothing
    js.crypto.subtle.digest = nothing
    js.performance.now = nothing
    return 0.0


def poison_atomics(trial: Any) -> float:
    """Get the block of shared memory by a fake Atomics, and overwrite all of it."""
    import _hyperflock_bridge
    import js
    from pyodide.ffi import create_proxy

    taken: list[Any] = []
    real = js.Atomics.add

    def add(array: Any, index: int, value: int) -> int:
        taken.append(array)
        return real(array, index, value)

    js.Atomics.add = create_proxy(add)
    _hyperflock_bridge.progress()
    js.Atomics.add = real
    if taken:
        whole = js.Int32Array.new(taken[0].buffer)
        whole.fill(0x5A5A5A5A)
        # The same memory has the word that interrupts Python. It is set to 0, because otherwise the
        # trial would be interrupted.
        whole.fill(0, 0, 16)
    return 0.0


def previous_files(trial: Any) -> float:
    """Look for what the last trial left in files, names and variables."""
    import builtins
    import os
    import sys
    import tempfile
    from pathlib import Path

    import js
    import numpy as np

    def files() -> list[str]:
        folders = [tempfile.gettempdir(), Path.home(), *sys.path]
        return [str(path) for folder in folders for path in Path(folder).rglob("neighbour*")]

    return each_refused(
        {
            "files": files,
            "environment": lambda: os.environ.get("NEIGHBOUR"),
            "builtins": lambda: getattr(builtins, "neighbour", None),
            "module": lambda: sys.modules.get("neighbour"),
            "numpy": lambda: hasattr(np, "neighbour"),
            "javascript": lambda: js.globalThis.neighbour,
        }
    )


def previous_memory(trial: Any) -> float:
    """Look for bytes of the last trial in memory that is allocated again."""
    import gc

    import js
    import numpy as np

    # The mark is built at run time, so that the search does not find this code.
    mark = "-".join(["neighbour", "was", "here"]).encode() * 3

    def uninitialised() -> bool:
        return any(mark in np.empty(1 << 22, dtype=np.uint8).tobytes() for _ in range(8))

    def shared() -> bool:
        buffer = js.SharedArrayBuffer.new(1 << 20)
        return mark in js.Uint8Array.new(buffer).to_bytes()

    return each_refused(
        {
            "arrays": uninitialised,
            "shared": shared,
            "heap": lambda: inner("pyodide_js")._module.HEAPU8.to_bytes().count(mark) > 100,
            "objects": lambda: [
                thing for thing in gc.get_objects() if isinstance(thing, list) and mark in thing
            ],
        }
    )


def lingers(trial: Any) -> float:
    """Leave timers and promises that compute and print after the trial."""
    import js
    from pyodide.ffi import create_proxy

    def tick() -> None:
        js.console.log("hostile tick")

    js.setInterval(create_proxy(tick), 50)
    js.console.log("hostile tick")
    return 0.0
