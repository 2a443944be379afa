"""Shows progress bars of tqdm on standard error, in a terminal or a notebook.

    bar = Bar(wanted(progress), total=8, desc="digits", unit="trial")
    bar.move(3, running=2)
    bar.close()

Any thread may move a bar. The bar is drawn in the thread that waits for the coroutine which moves
it (`background_loop.tell`).
"""

from __future__ import annotations

import sys
from typing import Any

from hyperflock._transport.background_loop import tell


def wanted(progress: bool | None) -> bool:
    """Return whether to show bars: the given value, or for None whether standard error is a
    terminal.
    """
    return sys.stderr.isatty() if progress is None else progress


def beside(text: str) -> None:
    """Print a line on standard error above a progress bar, in the thread that waits for the running
    coroutine.
    """

    def show() -> None:
        if "tqdm.auto" not in sys.modules:  # no bar can exist
            print(text, file=sys.stderr, flush=True)
            return
        from tqdm.auto import tqdm

        tqdm.write(text, file=sys.stderr)

    tell(show)


class Bar:
    """A progress bar, or nothing if ``shown`` is false. The options are tqdm's."""

    def __init__(self, shown: bool, **options: Any) -> None:
        self._shown = shown
        self._bar: Any = None
        self._best: object = None
        self._total: object = options.get("total")
        if shown:
            tell(lambda: self._open(options))

    def move(self, position: int, **notes: object) -> None:
        """Move the bar to a position, forwards or backwards, and set the notes that are shown after
        it.
        """
        if self._shown:
            tell(lambda: self._move(position, notes))

    def total(self, total: int) -> None:
        """Set the position at which the bar is full."""
        if self._shown and total != self._total:
            self._total = total
            tell(lambda: self._set_total(total))

    def close(self) -> None:
        """Remove the bar, or leave its last state if it was made with ``leave``."""
        if self._shown:
            tell(self._close)

    def _open(self, options: dict[str, Any]) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(file=sys.stderr, **options)

    def _move(self, position: int, notes: dict[str, object]) -> None:
        if self._bar is None:
            return
        if notes:  # the notes come first, because moving the bar may draw it
            self._bar.set_postfix(notes, refresh=False)
        self._bar.update(position - self._bar.n)
        if notes.get("best") != self._best:  # a new best value is rare, so it is drawn at once
            self._best = notes.get("best")
            self._bar.refresh()

    def _set_total(self, total: int) -> None:
        if self._bar is not None:
            self._bar.total = total

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
