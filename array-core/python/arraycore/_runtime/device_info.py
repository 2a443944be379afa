"""What the device itself tells: its name, and how long it worked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from . import operations, session

__all__ = ["DeviceInfo", "DeviceTime", "device_info", "device_timer"]

_TIMER_NANOSECONDS, _FLAGS, _CPU_THREADS = 11, 12, 14  # of ac_counter_name
_HAS_CLOCK, _IS_SOFTWARE = 4, 8  # of ac_device_flag
#: Devices that do not always say themselves that they are programs.
_SOFTWARE = ("swiftshader", "llvmpipe", "lavapipe", "basic render driver")


@dataclass(frozen=True)
class DeviceInfo:
    """What arrays are computed on.

    Attributes
    ----------
    name : str
        As the browser tells it, which may be little; ``"cpu"`` for the CPU.
    is_software : bool
        A program on the CPU that stands in for a GPU: right, and slow.
    has_clock : bool
        Whether :func:`device_timer` measures anything.
    cpu_threads : int
        That compute what the CPU does, Python's own included: large products of matrices.
    """

    name: str
    is_software: bool
    has_clock: bool
    cpu_threads: int


def device_info() -> DeviceInfo:
    """Return what arrays are computed on."""
    lines = session.bridge.device_text().split("\n")
    name = " ".join(dict.fromkeys(line for line in lines if line)) or "cpu"
    flags = int(session.bridge.counter(_FLAGS))
    software = bool(flags & _IS_SOFTWARE) or any(mark in name.lower() for mark in _SOFTWARE)
    threads = int(session.bridge.counter(_CPU_THREADS))
    return DeviceInfo(name, software, bool(flags & _HAS_CLOCK), threads)


class DeviceTime:
    """How long the device worked, known once the block of :func:`device_timer` has ended.

    Attributes
    ----------
    nanoseconds : int
        By the device's own clock; 0 where it has none, or where nothing was launched.
    """

    def __init__(self) -> None:
        self.nanoseconds = 0

    @property
    def milliseconds(self) -> float:
        """The same in milliseconds."""
        return self.nanoseconds / 1e6

    def __repr__(self) -> str:
        return f"DeviceTime(nanoseconds={self.nanoseconds})"


@contextmanager
def device_timer() -> Iterator[DeviceTime]:
    """Measure how long the device takes for what the block launches; wait for it at the end.

    One at a time: an inner timer would end the outer one.

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
