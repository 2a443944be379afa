"""Decides when a trial's state is saved next.

    saves = SavePace()
    if saves.is_due(30.0, is_leaving=False):
        saves.begin(); ...; saves.end(is_leaving=False)

Only the thread that runs the objective uses this module.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable

# A save that took a second is followed by at least this many seconds without one.
_REST = 20


def checked_interval(interval_s: object) -> float:
    """Return the shortest time between two saves in seconds as a float.

    Raises
    ------
    ValueError
        It is no number of 0 or more.
    """
    seconds = float(interval_s) if isinstance(interval_s, numbers.Real) else math.nan
    if not seconds >= 0:  # NaN is not 0 or more either
        raise ValueError(f"interval_s must be 0 or more seconds, but is {interval_s!r:.100}")
    return seconds


class SavePace:
    """The times of a trial's saves.

    Parameters
    ----------
    clock : callable
        Returns seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._took_s = 0.0
        self._saved_for_leaving = False

    def is_due(self, interval_s: float, is_leaving: bool) -> bool:
        """Return whether it is time to save.

        Parameters
        ----------
        interval_s : float
            The shortest time from the begin of the last save, in seconds. With 0 it is always time.
        is_leaving : bool
            Whether the device may soon be gone. It is then time at once, until a save has ended.
        """
        if not is_leaving:
            self._saved_for_leaving = False
        elif not self._saved_for_leaving:
            return True
        return interval_s <= 0 or self._clock() >= self._began + max(
            interval_s, _REST * self._took_s
        )

    def begin(self) -> None:
        """Record that a save begins."""
        self._began = self._clock()

    def end(self, is_leaving: bool) -> None:
        """Record that the save has ended."""
        self._took_s = self._clock() - self._began
        self._saved_for_leaving = is_leaving
