"""A volunteer in a headless Chromium: opens the join page, taps Start, and reads the page's state.

    volunteer = ChromiumVolunteer(1, engine, say=print)
    volunteer.start("http://127.0.0.1:8780", code)
    volunteer.stop()
    volunteer.wait()

One thread speaks the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/)
through the browser's pipe. The browser ends when the pipe is closed. This also happens when this
process is killed.
"""

from __future__ import annotations

import contextlib
import json
import threading
from typing import Any

from hyperflock._base.errors import HyperflockError
from hyperflock._execution.browser import Browser
from hyperflock._local.engines import Engine
from hyperflock._local.volunteers import Say, Volunteer

_LOOK_S = 0.5
# The page gets this many seconds to return its unfinished trial to the server.
_FAREWELL_S = 1.0
_END_S = 30.0
_LOOK = """(() => {
  const panel = document.querySelector(".panel");
  const text = (selector) => document.querySelector(selector)?.textContent ?? "";
  const start = document.querySelector('[data-action="start"]');
  const phase = panel?.dataset.phase ?? "";
  if (phase === "idle") start?.click();
  return JSON.stringify({
    phase,
    work: [text(".trial-counter"), text(".trial-study strong")].filter(Boolean).join(", "),
    trials: Number(text('[data-contribution="trials"]')) || 0,
    problem: phase === "failed" ? (panel?.innerText ?? "") : "",
  });
})()"""
_STOP = """document.querySelector('[data-action="stop"]')?.click()"""


class _Pipe(Browser):
    """A browser whose page can evaluate JavaScript expressions for this process."""

    @property
    def pid(self) -> int:
        """The process id of the browser's first process."""
        return self._process.pid

    _number = 0
    _session = ""

    def _open(self, url: str) -> None:
        made = self._call("Target.createTarget", {"url": url})
        target = {"targetId": made.get("targetId"), "flatten": True}
        self._session = str(self._call("Target.attachToTarget", target).get("sessionId"))

    def ask(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page; None if it has no value."""
        asked = {"expression": expression, "userGesture": True, "returnByValue": True}
        answer = self._call("Runtime.evaluate", asked)
        return answer.get("result", {}).get("value")

    def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        written, read = self._process.stdin, self._process.stdout
        assert written is not None
        assert read is not None
        written.write(json.dumps(message).encode() + b"\0")
        written.flush()
        while True:
            answer = json.loads(_message(read))
            if answer.get("id") == self._number:
                result = answer.get("result")
                return result if isinstance(result, dict) else {}


def _message(read: Any) -> bytes:
    """Return the next message, which ends with a zero byte."""
    parts = []
    while (byte := read.read(1)) != b"\0":
        if not byte:
            raise BrokenPipeError("the browser has ended")
        parts.append(byte)
    return b"".join(parts)


class ChromiumVolunteer(Volunteer):
    """A volunteer in a browser."""

    def __init__(self, number: int, engine: Engine, say: Say) -> None:
        super().__init__(number, engine.name, say)
        self._path = engine.path
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._browser: _Pipe | None = None

    def start(self, origin: str, code: str) -> None:
        """Open the join page and tap Start.

        Raises
        ------
        HyperflockError
            ``volunteer_failed``: the browser cannot be started.
        """
        try:
            browser = _Pipe(self._path, f"{origin}/join#{code}")
        except OSError as error:
            raise HyperflockError(
                f"a volunteer cannot be started in '{self._path}': {error}", code="volunteer_failed"
            ) from None
        self._browser = browser
        self._thread = threading.Thread(target=self._watch, args=(browser,), daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the browser has not ended yet."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def pid(self) -> int:
        """The process id of the browser's first process."""
        assert self._browser is not None
        return self._browser.pid

    def stop(self) -> None:
        """Ask the thread to end the browser."""
        self._is_ending = True
        self._ending.set()

    def wait(self) -> None:
        """Wait until the browser has ended, and end it by force if it takes too long."""
        if self._thread is None or self._browser is None:
            return
        try:
            self._thread.join(_END_S)
        finally:
            if self._thread.is_alive():
                self._browser.__exit__(None, None, None)

    def _watch(self, browser: _Pipe) -> None:
        status: int | None = None
        try:
            with browser:
                # The pipe breaks when the browser ends by itself.
                with contextlib.suppress(OSError, ValueError):
                    while not self._ending.wait(_LOOK_S):
                        self._look(browser)
                    # Read the page once more, because a trial may have ended since the last time.
                    self._look(browser)
                    browser.ask(_STOP)
                    threading.Event().wait(_FAREWELL_S)
                status = browser.exit_code
        finally:
            self.ended(status)

    def _look(self, browser: _Pipe) -> None:
        text = browser.ask(_LOOK)
        if not isinstance(text, str):
            return  # the page is not there yet
        told = json.loads(text)
        self.hear(told["phase"], told["work"], told["trials"], told["problem"])
