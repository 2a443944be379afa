"""What a running attempt may ask of its surroundings: report, call, progress.

In a browser the TypeScript python thread registers the module ``_hyperflock_bridge``; on CPython
(local runs, tests) ``LocalBridge`` answers. Used on the thread that runs the objective, and only
there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol


class Bridge(Protocol):
    """The four functions of ``_hyperflock_bridge``."""

    def call(self, method: str, payload_json: str) -> str:
        """Ask and wait; answers ``{"ok": true, "value"}`` or ``{"ok": false, "error"}`` as JSON."""
        ...

    def checkpoint(self, kind: str, step: int, content: bytes) -> str:
        """Save what the trial needs to go on; waits, and answers as ``call`` does."""
        ...

    def report(self, step: int, value: float) -> None:
        """Hand over one point of the curve; it is buffered and sent in batches."""
        ...

    def progress(self) -> None:
        """Move the liveness counter."""
        ...


class CallError(RuntimeError):
    """A call to the server was answered with an error; ``code`` is its stable code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class LocalBridge:
    """Answers without a server: nothing is pruned, reports are kept.

    Attributes
    ----------
    reports : the points reported so far, as ``(step, value)``.
    checkpoints : what was saved so far, as ``(format, step, content)``.
    steps : how often progress was made.
    """

    def __init__(self) -> None:
        self.checkpoints: list[tuple[str, int, bytes]] = []
        self.reports: list[tuple[int, float]] = []
        self.steps = 0

    def call(self, method: str, payload_json: str) -> str:
        if method == "should_prune":
            return '{"ok": true, "value": false}'
        error = {"code": "unknown_method", "message": f"a local run has no call '{method}'"}
        return json.dumps({"ok": False, "error": error})

    def checkpoint(self, kind: str, step: int, content: bytes) -> str:
        self.checkpoints.append((kind, step, bytes(content)))
        return '{"ok": true, "value": true}'

    def report(self, step: int, value: float) -> None:
        self.reports.append((step, value))

    def progress(self) -> None:
        self.steps += 1


class PromisingBridge:
    """A bridge whose answers are promises: Python stands still for them, the browser's thread not.

    For browsers that share no memory between threads but let WebAssembly wait (JSPI).
    """

    def __init__(self, module: Any, wait: Callable[[Any], Any]) -> None:
        self._module = module
        self._wait = wait

    def call(self, method: str, payload_json: str) -> str:
        return str(self._wait(self._module.call(method, payload_json)))

    def checkpoint(self, kind: str, step: int, content: bytes) -> str:
        return str(self._wait(self._module.checkpoint(kind, step, content)))

    def report(self, step: int, value: float) -> None:
        room = self._module.report(step, value)
        if room is not None:
            self._wait(room)

    def progress(self) -> None:
        self._module.progress()


def _find() -> Bridge:
    try:
        import _hyperflock_bridge  # type: ignore[import-not-found]
    except ImportError:
        return LocalBridge()
    if getattr(_hyperflock_bridge, "promises", False):
        from pyodide.ffi import run_sync  # type: ignore[import-not-found]

        return PromisingBridge(_hyperflock_bridge, run_sync)
    found: Bridge = _hyperflock_bridge
    return found


_current: Bridge | None = None


def set_bridge(bridge: Bridge | None) -> None:
    """Use this bridge from now on; ``None`` means the surroundings' own."""
    global _current
    _current = bridge


def current() -> Bridge:
    """The bridge in use."""
    global _current
    if _current is None:
        _current = _find()
    return _current


def progress() -> None:
    """Move the liveness counter of the attempt."""
    current().progress()


def report(step: int, value: float) -> None:
    """Hand one point of the curve to the agent."""
    current().report(step, value)


def call(method: str, payload: dict[str, Any]) -> Any:
    """Ask the server and wait for the answer's value.

    Raises
    ------
    CallError
        The answer is an error, or is no answer at all.
    """
    return _value_of(method, current().call(method, json.dumps(payload)))


def checkpoint(kind: str, step: int, content: bytes) -> bool:
    """Save a checkpoint; whether the server has it.

    Parameters
    ----------
    kind : str
        ``tree`` or ``npz``.
    step : int
        The last step that was reported; -1 where there was none.
    content : bytes
        What ``checkpoints.encode`` gave.

    Raises
    ------
    CallError
        As ``call``.
    """
    return bool(_value_of("checkpoint", current().checkpoint(kind, step, content)))


def _value_of(method: str, text: str) -> Any:
    try:
        answer = json.loads(text)
        if answer["ok"]:
            return answer.get("value")
        error = answer["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        raise CallError("malformed_answer", f"the answer to '{method}' cannot be read") from None
    raise CallError(code, message)
