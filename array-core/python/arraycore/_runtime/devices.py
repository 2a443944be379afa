"""CuPy's devices, streams and events. array-core has one device and one stream.

Names and meanings are those of ``cupy.cuda``, which exports these classes.
"""

from __future__ import annotations

import time
from operator import index
from typing import Any

import numpy as np

from . import session
from .errors import coded

__all__ = ["Device", "Event", "Stream", "get_current_stream", "get_elapsed_time", "synchronize"]


def synchronize() -> None:
    """Wait until the device has finished all operations.

    Four bytes are read, since a read is the only way to wait.
    """
    session.settle()
    made = session.create((1,), None, np.dtype(np.int32))
    try:
        session.read(made, np.empty(1, np.int32))
    finally:
        session.freed.append(made)


class Device:
    """The device that arrays live on. Its number is 0; as a context manager it does nothing.

    Parameters
    ----------
    device : int or Device, optional
        0, a device, or None.

    Raises
    ------
    ValueError
        There is no such device.
    """

    __slots__ = ("id",)

    def __init__(self, device: Any = None) -> None:
        number = 0 if device is None else index(device)
        if number != 0:
            message = f"There is no device {number}: arraycore has one, whose number is 0."
            raise coded(ValueError(message), "unknown_device")
        self.id = 0

    def use(self) -> None:
        """Do nothing: the only device is always the current one."""

    def synchronize(self) -> None:
        """Wait until the device has finished all operations."""
        synchronize()

    @property
    def compute_capability(self) -> str:
        """Raise NotImplementedError: only CUDA's devices have a compute capability."""
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


def check_device(device: Any) -> None:
    """Raise ValueError if ``device`` is neither None nor the one device, or its number."""
    if device is not None:
        Device(device)


class Event:
    """A point in the order of operations.

    Parameters
    ----------
    block, interprocess : bool
        Accepted for compatibility with CuPy; without effect.
    disable_timing : bool
        Whether :meth:`record` does not wait. The host's clock measures the time between two events,
        so an event with timing waits for the device when it is recorded.
    """

    __slots__ = ("_recorded_s", "_timed")

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self._timed = not disable_timing
        self._recorded_s: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Record the current time; an event with timing waits for the device first."""
        if self._timed:
            synchronize()
        self._recorded_s = time.perf_counter()

    def synchronize(self) -> None:
        """Wait for all operations, those after the event included."""
        if not self._timed:
            synchronize()

    @property
    def done(self) -> bool:
        """Always True: reading the property waits until all operations are done."""
        self.synchronize()
        return True


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Return the milliseconds between two events.

    Raises
    ------
    ValueError
        An event has no timing, or was not recorded.
    """
    times = []
    for event in (start_event, end_event):
        if event._recorded_s is None or not event._timed:
            message = "The time between events is known where both were recorded with time."
            raise coded(ValueError(message), "event_without_time")
        times.append(event._recorded_s)
    return (times[1] - times[0]) * 1e3


class Stream:
    """A stand-in for CuPy's stream. There is only one stream, because operations run in the order
    of their calls. As a context manager it does nothing.

    Parameters
    ----------
    null, non_blocking, ptds : bool
        Accepted for compatibility with CuPy; without effect.

    Attributes
    ----------
    null : Stream
        The only stream.
    """

    __slots__ = ()

    null: Stream
    ptds: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        pass

    def use(self) -> Stream:
        """Return the stream: the only one is always the current one."""
        return self

    def synchronize(self) -> None:
        """Wait until all operations are done."""
        synchronize()

    @property
    def done(self) -> bool:
        """Always True: reading the property waits until all operations are done."""
        synchronize()
        return True

    def record(self, event: Event | None = None) -> Event:
        """Record an event, by default a new one, and return it."""
        made = Event(disable_timing=True) if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Do nothing: operations always run after the events before them."""

    def add_callback(self, callback: Any, arg: Any) -> None:
        """Raise NotImplementedError: there is no thread that could call back."""
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
    """Return the only stream."""
    return Stream.null
