"""Defines the host of a trial in a volunteer's browser, which calls the module
``_hyperflock_bridge``.

The TypeScript code of Python's thread registers the module before the first attempt. Only the
thread that runs the objective may use it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hyperflock._base.errors import CallError
from hyperflock._trial.host import Artifact
from hyperflock._trial.series import text_of

# The number of tries of a call; each waits for two minutes.
CALL_TRIES = 5
TIMED_OUT = "call_timeout"


class WorkerHost:
    """Sends a trial's calls and files to the agent, as JSON text and bytes.

    Parameters
    ----------
    module
        The module ``_hyperflock_bridge``.
    wait : callable
        Returns the content of an answer. In browsers that share no memory between threads an answer
        is a promise, and this function suspends Python until it is resolved (JSPI).
    """

    def __init__(self, module: Any, wait: Callable[[Any], Any] = lambda answer: answer) -> None:
        self._module = module
        self._wait = wait

    def report(self, step: int, value: float) -> None:
        room = self._module.report(step, value)
        if room is not None:
            self._wait(room)
        self.progress()

    def log(self, step: int, values: Mapping[str, float]) -> None:
        told = {name: text_of(value) for name, value in values.items()}
        row = json.dumps({"step": step, "values": told}, ensure_ascii=False, allow_nan=False)
        room = self._module.log(row)
        if room is not None:
            self._wait(room)
        self.progress()

    def should_prune(self, step: int) -> bool:
        return bool(self._call("should_prune", {"step": step}))

    def suggest(self, name: str, distribution: str) -> str:
        return str(self._call("suggest", {"name": name, "distribution": distribution}))

    def save_checkpoint(
        self, kind: str, step: int | None, content: bytes, logged: int | None = None
    ) -> bool:
        head = {"of": "checkpoint", "format": kind, "step": step, "logged": logged}
        return self._upload(head, content)

    def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
        return self._upload({"of": "artifact", **vars(artifact)}, content)

    def progress(self) -> None:
        self._module.progress()

    def is_leaving(self) -> bool:
        # The threads of a page that was loaded before an update may lack this function.
        leaving = getattr(self._module, "leaving", None)
        return leaving is not None and bool(leaving())

    def _call(self, method: str, payload: dict[str, Any]) -> Any:
        """Call the server and wait for the answer's value.

        A call that was not answered in time is repeated, because a sampler may need minutes. All
        ``suggest`` calls for one parameter get the same answer.
        """
        tries = CALL_TRIES
        while True:
            tries -= 1
            try:
                return self._answer(method, self._module.call(method, json.dumps(payload)))
            except CallError as error:
                if error.code != TIMED_OUT or not tries:
                    raise

    def _upload(self, head: dict[str, Any], content: bytes) -> bool:
        return bool(self._answer("upload", self._module.upload(json.dumps(head), content)))

    def _answer(self, method: str, answer: Any) -> Any:
        text = str(self._wait(answer))
        self.progress()
        try:
            told = json.loads(text)
            if told["ok"]:
                return told.get("value")
            code, message = str(told["error"]["code"]), str(told["error"]["message"])
        except (ValueError, KeyError, TypeError):
            raise CallError(
                f"the answer to '{method}' cannot be read", code="malformed_answer"
            ) from None
        raise CallError(message, code=code)


def find_host() -> WorkerHost:
    """Return the host of the browser's thread that runs this code.

    Raises
    ------
    ImportError
        The code does not run in a browser.
    """
    import _hyperflock_bridge  # type: ignore[import-not-found]

    if not getattr(_hyperflock_bridge, "promises", False):
        return WorkerHost(_hyperflock_bridge)
    from pyodide.ffi import run_sync  # type: ignore[import-not-found]

    return WorkerHost(_hyperflock_bridge, run_sync)
