"""Attacks that start threads besides the one that runs the trial, or that end that thread."""

from __future__ import annotations

from typing import Any

from escape import each_refused, started


def workers(trial: Any) -> float:
    """Start workers of every kind: from this origin's scripts, from a blob, from text."""
    import js
    from pyodide.ffi import to_js

    text = "fetch('" + trial.params["sink"] + "/worker')"
    blob = js.URL.createObjectURL(js.Blob.new(to_js([text])))
    own = str(js.location.href)
    ways: dict[str, Any] = {
        "shared": lambda: js.SharedWorker.new(own),
        "service": lambda: js.navigator.serviceWorker.register(own),
        "inherited": lambda: js.Reflect.get(js.globalThis.__proto__, "Worker"),
        "constructor": lambda: js.self.constructor.new(),
    }
    for kind, address in {"own": own, "blob": blob, "data": "data:text/javascript," + text}.items():
        ways[kind] = lambda a=address: js.Worker.new(a)
    return each_refused(ways)


def worklets(trial: Any) -> float:
    """Open other contexts that run scripts: worklets, audio, frames, windows, realms."""
    import js

    return each_refused(
        {
            "worklet": lambda: js.CSS.paintWorklet.addModule("x.js"),
            "audio": lambda: js.AudioContext.new(),
            "document": lambda: js.document.createElement("iframe"),
            "window": lambda: js.window.open("/join"),
            "realm": lambda: js.ShadowRealm.new(),
        }
    )


def processes(trial: Any) -> float:
    """Start Python threads and processes."""
    import multiprocessing
    import os
    import subprocess
    import threading

    def thread() -> Any:
        begun = threading.Thread(target=lambda: None)
        begun.start()
        return begun

    return each_refused(
        {
            "thread": thread,
            "process": lambda: subprocess.run(["ls"], check=True),
            "fork": lambda: os.fork(),
            "pool": lambda: multiprocessing.Pool(1),
            "system": lambda: os.system("true") == 0,
        }
    )


def closes_itself(trial: Any) -> float:
    """End the thread with JavaScript's own functions."""
    import js

    return each_refused(
        {
            "close": lambda: started(js.self.close()),
            "inherited": lambda: started(
                js.DedicatedWorkerGlobalScope.prototype.close.call(js.self)
            ),
            "navigate": lambda: started(js.location.replace("/join")),
        }
    )


def exits(trial: Any) -> float:
    """End Python with sys.exit."""
    import sys

    sys.exit(3)


def exits_at_once(trial: Any) -> float:
    """End Python's process, and with it Pyodide."""
    import os

    os._exit(3)


def aborts(trial: Any) -> float:
    """Abort, as a failed assertion of a library in C does."""
    import os

    os.abort()


def recurses(trial: Any) -> float:
    """Recurse for ever."""

    def deeper(level: int) -> int:
        return deeper(level + 1) + 1

    return float(deeper(0))


def recurses_below(trial: Any) -> float:
    """Recurse through JavaScript, whose calls Python does not count, until the stack is full."""
    import contextlib

    import js
    from pyodide.ffi import create_proxy

    def deeper(*values: Any) -> Any:
        return js.Reflect.apply(proxy, None, js.Array.new())

    proxy = create_proxy(deeper)
    with contextlib.suppress(Exception):
        deeper()
    return 0.0


def throws_later(trial: Any) -> float:
    """Throw from a timer, where nothing catches the error."""
    import js
    from pyodide.ffi import create_proxy

    def throw() -> None:
        raise RuntimeError("thrown later")

    js.setTimeout(create_proxy(throw), 0)
    return 0.0
