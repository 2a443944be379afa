"""CuPy's devices, streams and events, of which array-core has one each: operations run in order.

Names and meanings are those of ``cupy.cuda``, which offers these classes.
"""

from __future__ import annotations

import time
from operator import index
from typing import Any

import numpy as np

from . import session

__all__ = ["Device", "Event", "Stream", "get_current_stream", "get_elapsed_time", "synchronize"]


def synchronize() -> None:
    """Wait until the device has done all that was asked of it.

    Four bytes are read for it, since only what is read is waited for.
    """
    session.settle()
    made = session.create((1,), None, np.dtype(np.int32))
    try:
        session.read(made, np.empty(1, np.int32))
    finally:
        session.freed.append(made)


class Device:
    """The device that arrays live on, whose number is 0; as a context it changes nothing.

    Parameters
    ----------
    device : int or Device, optional
        0, or nothing.

    Raises
    ------
    ValueError
        There is no such device.
    """

    __slots__ = ("id",)

    def __init__(self, device: Any = None) -> None:
        number = 0 if device is None else index(device)
        if number != 0:
            raise ValueError(f"There is no device {number}: arraycore has one, whose number is 0.")
        self.id = 0

    def use(self) -> None:
        """Make it the current device, which it is."""

    def synchronize(self) -> None:
        """Wait until it has done all that was asked of it."""
        synchronize()

    @property
    def compute_capability(self) -> str:
        """Not supported: it is a number of CUDA's."""
        raise NotImplementedError(
            "arraycore's device has no compute capability: take arraycore.device_info()."
        )

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __int__(self) -> int:
        return self.id

    def __index__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return hash(Device)

    def __repr__(self) -> str:
        return f"<arraycore.Device {self.id}>"


class Event:
    """A moment in the order of operations.

    Parameters
    ----------
    block, interprocess : bool
        Accepted for compatibility with CuPy; without effect.
    disable_timing : bool
        Whether :meth:`record` shall not wait. The time between two events is measured by the
        host's clock, so an event that takes the time first waits for the device.
    """

    __slots__ = ("_recorded_s", "_timed")

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self._timed = not disable_timing
        self._recorded_s: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Note the moment; where the event takes the time, wait for the device first."""
        if self._timed:
            synchronize()
        self._recorded_s = time.perf_counter()

    def synchronize(self) -> None:
        """Wait until all is done that was asked before the event, and what came after, too."""
        if not self._timed:
            synchronize()

    @property
    def done(self) -> bool:
        """True, once all is done: it is waited for."""
        self.synchronize()
        return True


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Return the milliseconds between two events.

    Raises
    ------
    ValueError
        One of them takes no time, or was not recorded.
    """
    times = []
    for event in (start_event, end_event):
        if event._recorded_s is None or not event._timed:
            raise ValueError("The time between events is known where both were recorded with time.")
        times.append(event._recorded_s)
    return (times[1] - times[0]) * 1e3


class Stream:
    """An order of operations, of which there is one: as a context it changes nothing.

    Parameters
    ----------
    null, non_blocking, ptds : bool
        Accepted for compatibility with CuPy; without effect.

    Attributes
    ----------
    null : Stream
        The order that all operations have.
    """

    __slots__ = ()

    null: Stream
    ptds: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        pass

    def use(self) -> Stream:
        """Make it the current stream, which it is."""
        return self

    def synchronize(self) -> None:
        """Wait until all is done that was asked before."""
        synchronize()

    @property
    def done(self) -> bool:
        """True, once all is done: it is waited for."""
        synchronize()
        return True

    def record(self, event: Event | None = None) -> Event:
        """Record an event, a new one where none is given, and return it."""
        made = Event(disable_timing=True) if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Begin what comes next after an event: it does."""

    def add_callback(self, callback: Any, arg: Any) -> None:
        """Not supported: Python's thread is the only one."""
        raise NotImplementedError(
            "arraycore calls nothing back: call synchronize(), then the function."
        )

    launch_host_func = add_callback

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash(Stream)


Stream.null = Stream.ptds = Stream()


def get_current_stream() -> Stream:
    """Return the one order that operations have."""
    return Stream.null
