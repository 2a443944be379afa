"""Progress bars on standard error: tqdm's, in a terminal or a notebook, or none.

    bar = Bar(wanted(progress), total=8, desc="digits", unit="trial")
    bar.move(3, running=2)
    bar.close()

May be moved from any thread: the bar itself is touched in the thread that waits (`_loop.tell`).
"""

from __future__ import annotations

import sys
from typing import Any

from hyperflock._transport.background_loop import tell


def wanted(progress: bool | None) -> bool:
    """Whether to show bars: as told, else when standard error is a terminal."""
    return sys.stderr.isatty() if progress is None else progress


def beside(text: str) -> None:
    """Print a line on standard error, out of the way of a bar there; in the thread that waits."""

    def show() -> None:
        if "tqdm.auto" not in sys.modules:  # then there is no bar
            print(text, file=sys.stderr, flush=True)
            return
        from tqdm.auto import tqdm

        tqdm.write(text, file=sys.stderr)

    tell(show)


class Bar:
    """One bar, or none when ``shown`` is false; the rest goes to tqdm."""

    def __init__(self, shown: bool, **options: Any) -> None:
        self._shown = shown
        self._bar: Any = None
        self._best: object = None
        if shown:
            tell(lambda: self._open(options))

    def move(self, position: int, **notes: object) -> None:
        """Go to a position, also back to an earlier one, with notes behind the bar."""
        if self._shown:
            tell(lambda: self._move(position, notes))

    def close(self) -> None:
        """Take it away, or leave it as it is where it was made so."""
        if self._shown:
            tell(self._close)

    def _open(self, options: dict[str, Any]) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(file=sys.stderr, **options)

    def _move(self, position: int, notes: dict[str, object]) -> None:
        if self._bar is None:
            return
        if notes:  # first: what moves the bar may draw it
            self._bar.set_postfix(notes, refresh=False)
        self._bar.update(position - self._bar.n)
        if notes.get("best") != self._best:  # seldom, and worth a look at once
            self._best = notes.get("best")
            self._bar.refresh()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
