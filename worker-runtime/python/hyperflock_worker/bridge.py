"""What a running attempt may ask of its surroundings: report, call, progress.

In a browser the TypeScript python thread registers the module ``_hyperflock_bridge``; on CPython
(local runs, tests) ``LocalBridge`` answers. Used on the thread that runs the objective, and only
there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from hyperflock_worker.drawing import draw

# Each waits for two minutes.
CALL_TRIES = 5
TIMED_OUT = "call_timeout"


class Bridge(Protocol):
    """The four functions of ``_hyperflock_bridge``."""

    def call(self, method: str, payload_json: str) -> str:
        """Ask and wait; answers ``{"ok": true, "value"}`` or ``{"ok": false, "error"}`` as JSON."""
        ...

    def upload(self, head_json: str, content: bytes) -> str:
        """Bring bytes to the server; waits, and answers as ``call`` does.

        The head says what they are: ``{"of": "checkpoint", "format", "step"}``, or
        ``{"of": "artifact", "id", "name", "type", "store"}``.
        """
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
    """Answers without a server: nothing is pruned, reports are kept, suggestions drawn by chance.

    Parameters
    ----------
    seed : int
        Decides what is drawn.

    Attributes
    ----------
    reports : the points reported so far, as ``(step, value)``.
    uploads : what was saved so far, as ``(head, content)``.
    steps : how often progress was made.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)
        self.uploads: list[tuple[dict[str, Any], bytes]] = []
        self.reports: list[tuple[int, float]] = []
        self.steps = 0

    @property
    def checkpoints(self) -> list[tuple[str, int, bytes]]:
        """The checkpoints among the uploads, as ``(format, step or -1, content)``."""
        return [
            (head["format"], -1 if head["step"] is None else head["step"], content)
            for head, content in self.uploads
            if head["of"] == "checkpoint"
        ]

    def call(self, method: str, payload_json: str) -> str:
        if method == "should_prune":
            return '{"ok": true, "value": false}'
        if method == "suggest":
            value = draw(json.loads(payload_json)["distribution"], self._random)
            return json.dumps({"ok": True, "value": json.dumps(value)})
        error = {"code": "unknown_method", "message": f"a local run has no call '{method}'"}
        return json.dumps({"ok": False, "error": error})

    def upload(self, head_json: str, content: bytes) -> str:
        self.uploads.append((json.loads(head_json), bytes(content)))
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

    def upload(self, head_json: str, content: bytes) -> str:
        return str(self._wait(self._module.upload(head_json, content)))

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

    A question that was not answered in time is asked again: a sampler may think for minutes, and
    the server gives every question about a name the same answer.

    Raises
    ------
    CallError
        The answer is an error, or is no answer at all.
    """
    for _ in range(CALL_TRIES - 1):
        try:
            return _value_of(method, current().call(method, json.dumps(payload)))
        except CallError as error:
            if error.code != TIMED_OUT:
                raise
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
    head = {"of": "checkpoint", "format": kind, "step": step if step >= 0 else None}
    return _upload(head, content)


def artifact(identity: str, name: str, mimetype: str, store: str, content: bytes) -> bool:
    """Bring an artifact to the server; whether it has it.

    Parameters
    ----------
    identity : str
        The artifact's id: 1 to 64 of letters, digits, ``_`` and ``-``.
    name, mimetype : str
        The file's own name, and what it is.
    store : str
        By which the researcher's process finds its artifact store; empty: by nothing.
    content : bytes
        What it holds.

    Raises
    ------
    CallError
        As ``call``.
    """
    head = {"of": "artifact", "id": identity, "name": name, "type": mimetype, "store": store}
    return _upload(head, content)


def _upload(head: dict[str, Any], content: bytes) -> bool:
    return bool(_value_of("upload", current().upload(json.dumps(head), content)))


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
