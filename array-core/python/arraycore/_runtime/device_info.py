"""The device's name and properties, and a timer for its work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from . import operations, session

__all__ = ["DeviceInfo", "DeviceTime", "device_info", "device_timer"]

_TIMER_NANOSECONDS, _FLAGS, _CPU_THREADS = 11, 12, 14  # of ac_counter_name
_HAS_CLOCK, _IS_SOFTWARE = 4, 8  # of ac_device_flag
#: Parts of the names of software devices. Such devices do not always report that they are software.
_SOFTWARE = ("swiftshader", "llvmpipe", "lavapipe", "basic render driver")


@dataclass(frozen=True)
class DeviceInfo:
    """The device that computes.

    Attributes
    ----------
    name : str
        The name that the browser reports, which may say little; ``"cpu"`` for the CPU.
    is_software : bool
        Whether the device is a program on the CPU: its results are correct, but it is slow.
    has_clock : bool
        Whether :func:`device_timer` measures anything.
    cpu_threads : int
        The number of threads, Python's included, that compute large matrix products on the CPU.
    """

    name: str
    is_software: bool
    has_clock: bool
    cpu_threads: int


def device_info() -> DeviceInfo:
    """Return the properties of the device that computes."""
    lines = session.bridge.device_text().split("\n")
    name = " ".join(dict.fromkeys(line for line in lines if line)) or "cpu"
    flags = int(session.bridge.counter(_FLAGS))
    software = bool(flags & _IS_SOFTWARE) or any(mark in name.lower() for mark in _SOFTWARE)
    threads = int(session.bridge.counter(_CPU_THREADS))
    return DeviceInfo(name, software, bool(flags & _HAS_CLOCK), threads)


class DeviceTime:
    """The time that the device took, known once the block of :func:`device_timer` has ended.

    Attributes
    ----------
    nanoseconds : int
        The time by the device's own clock; 0 if it has none, or if nothing was launched.
    """

    def __init__(self) -> None:
        self.nanoseconds = 0

    @property
    def milliseconds(self) -> float:
        """The time in milliseconds."""
        return self.nanoseconds / 1e6

    def __repr__(self) -> str:
        return f"DeviceTime(nanoseconds={self.nanoseconds})"


@contextmanager
def device_timer() -> Iterator[DeviceTime]:
    """Measure the device's time for the launches of a block; wait for them at its end.

    Timers cannot be nested: an inner one would end the outer one.

    Yields
    ------
    DeviceTime

    Raises
    ------
    NotImplementedError
        The back end is the CPU, which has no clock of its own.

    Examples
    --------
    >>> with ac.device_timer() as time:  # doctest: +SKIP
    ...     c = a + b
    >>> time.milliseconds  # doctest: +SKIP
    0.08
    """
    time = DeviceTime()
    operations.timer_begin()
    try:
        yield time
    finally:
        operations.timer_end()
        time.nanoseconds = int(session.bridge.counter(_TIMER_NANOSECONDS))
