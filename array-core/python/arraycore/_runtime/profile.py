"""Measures what array-core does in a block: a table of operations, and a trace for a viewer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from . import opcodes, operations, session
from .device_info import DeviceInfo, device_info

__all__ = ["Profile", "ProfileRow", "profile"]

_CPU_TRACK, _DEVICE_TRACK = 1, 2


@dataclass(frozen=True)
class ProfileRow:
    """The time and data of one operation, for all of its calls together.

    Attributes
    ----------
    name : str
        The kernel's name, or all names if operations were fused. ``upload``, ``read`` and ``zeros``
        copy or clear bytes. A name that ends with ``on the CPU`` was computed on the CPU instead of
        the device.
    calls : int
        The number of launches.
    dispatches : int
        The number of dispatches on the device; a large reduction, for example, needs two.
    bytes_up, bytes_down : int
        The bytes that were copied to the memory of arrays, and from it.
    cpu_ms : float
        Milliseconds that Python's thread spent inside array-core. On the CPU this is the
        computation, on a device the launching, and for ``read`` the waiting.
    device_ms : float or None
        Milliseconds by the device's own clock; None if it has none.
    """

    name: str
    calls: int
    dispatches: int
    bytes_up: int
    bytes_down: int
    cpu_ms: float
    device_ms: float | None


class Profile:
    """What a block did. It is complete once the block of :func:`profile` has ended.

    Attributes
    ----------
    device : DeviceInfo
        The device that computed.
    rows : tuple of ProfileRow
        The operations, the slowest first.
    wall_ms : float
        The block's duration by the host's clock, in milliseconds. The part that is not in
        ``cpu_ms`` was spent in Python outside of array-core.
    lost : int
        The number of kernels and spans that are missing in the trace, because there were too many.
    """

    def __init__(self) -> None:
        self.device: DeviceInfo = device_info()
        self.rows: tuple[ProfileRow, ...] = ()
        self.wall_ms = 0.0
        self.lost = 0
        self._spans: list[tuple[str, int, int]] = []  # name, begin and duration in nanoseconds
        self._kernels: list[tuple[str, int, int, int]] = []  # and the span's number, or -1

    @property
    def cpu_ms(self) -> float:
        """The milliseconds that Python's thread spent in array-core's operations."""
        return sum(row.cpu_ms for row in self.rows)

    @property
    def device_ms(self) -> float | None:
        """The milliseconds that the device spent on kernels; None if it has no clock."""
        times = [row.device_ms for row in self.rows if row.device_ms is not None]
        return sum(times) if self.device.has_clock else None

    def table(self, limit: int | None = None) -> str:
        """Return the rows as text, at most ``limit`` of them, and their sums.

        Examples
        --------
        >>> with ac.profile() as p:
        ...     y = (ac.ones((64, 64), "float32") @ ac.ones((64, 64), "float32")).get()
        >>> print(p.table())  # doctest: +SKIP
        """
        shown = self.rows[:limit]
        head = ("operation", "calls", "dispatches", "up", "down", "CPU ms", "device ms")
        rest = self.rows[len(shown) :]
        lines = [head, *(_cells(row) for row in shown)]
        if rest:
            lines.append(_cells(_sum(f"{len(rest)} more", rest, self.device.has_clock)))
        lines.append(_cells(_sum("all", self.rows, self.device.has_clock)))
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        text = "\n".join(
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )
        outside = max(0.0, self.wall_ms - self.cpu_ms)
        text += f"\n{self.wall_ms:.2f} ms on {self.device.name}, {outside:.2f} outside arraycore"
        return text + (f"; {self.lost} events are not in the trace" if self.lost else "")

    def __str__(self) -> str:
        return self.table(20)

    def trace(self) -> dict[str, Any]:
        """Return the trace in Chrome's Trace Event Format, with times in microseconds.

        A viewer (ui.perfetto.dev, chrome://tracing) shows two tracks: array-core's operations on
        Python's thread, and the device's kernels by its own clock. The two clocks have no common
        zero, so the device's track is shifted until no kernel begins before its launch.
        """
        events: list[dict[str, Any]] = [
            _meta("process_name", "arraycore", 0),
            _meta("thread_name", "Python's thread", _CPU_TRACK),
        ]
        events += [_event(name, begin, lasted, _CPU_TRACK) for name, begin, lasted in self._spans]
        if self._kernels and self.device.has_clock:
            events.append(_meta("thread_name", self.device.name, _DEVICE_TRACK))
            shift = max(
                (self._spans[by][1] - begin for _, begin, _, by in self._kernels if by >= 0),
                default=0,
            )
            events += [
                _event(name, begin + shift, lasted, _DEVICE_TRACK)
                for name, begin, lasted, _ in self._kernels
            ]
        return {"traceEvents": events, "displayTimeUnit": "ms"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a JSON file."""
        import json  # few programs write a trace: the package imports faster without it

        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.trace(), file)

    def _take(self, text: str) -> None:
        rows: list[ProfileRow] = []
        for line in text.split("\n"):
            kind, *fields = line.split("\t")
            if kind == "profile":
                duration, left_out, lost = map(int, fields)
                self.wall_ms, self.lost = duration / 1e6, left_out + lost
            elif kind == "row":
                calls, dispatches, up, down, cpu, device = map(int, fields[:6])
                device_ms = device / 1e6 if self.device.has_clock else None
                name = "\t".join(fields[6:])
                rows.append(ProfileRow(name, calls, dispatches, up, down, cpu / 1e6, device_ms))
            elif kind == "span":
                row, begin, lasted = map(int, fields)
                self._spans.append((rows[row].name, begin, lasted))
            elif kind == "kernel":
                row, begin, lasted, by = map(int, fields)
                self._kernels.append((rows[row].name, begin, lasted, by))
        self.rows = tuple(
            sorted(rows, key=lambda row: (row.device_ms or 0.0, row.cpu_ms), reverse=True)
        )


@contextmanager
def profile() -> Iterator[Profile]:
    """Record what the block launches, uploads and reads; wait for the device before and after it.

    A profile does not change which operations the block launches. Outside of profiles it costs
    nothing. During a profile, a device runs each kernel in a pass of its own. So kernels do not
    overlap and the block takes longer, but each kernel's own time is correct. Browsers round a
    device's clock, mostly to 0.1 ms. So the time of a single short kernel is rough, but sums are
    not.

    Yields
    ------
    Profile
        The profile, which is filled when the block ends.

    Raises
    ------
    ValueError
        ``profiled_already``: another profile has not ended.

    Examples
    --------
    >>> with ac.profile() as p:
    ...     total = float(ac.ones(1000, "float32").sum())
    >>> p.save("trace.json")  # doctest: +SKIP
    >>> max(row.calls for row in p.rows) >= 1
    True
    """
    made = Profile()
    session.drain()
    operations.profile_begin()
    try:
        yield made
    except BaseException:
        _end(made, fails=False)
        raise
    _end(made, fails=True)


def _end(made: Profile, *, fails: bool) -> None:
    """End the profile. If the block raised an error, that error is raised and not a later one."""
    status = int(session.bridge.call(opcodes.PROFILE_END, 0, 0))
    if status >= 0 or not fails:
        made._take(session.bridge.profile_text())
    if status < 0 and fails:
        raise session.failure()


def _cells(row: ProfileRow) -> tuple[str, ...]:
    device = "" if row.device_ms is None else f"{row.device_ms:.3f}"
    moved = (str(row.bytes_up or ""), str(row.bytes_down or ""))
    return (row.name, str(row.calls), str(row.dispatches), *moved, f"{row.cpu_ms:.3f}", device)


def _sum(name: str, rows: tuple[ProfileRow, ...], has_clock: bool) -> ProfileRow:
    return ProfileRow(
        name,
        sum(row.calls for row in rows),
        sum(row.dispatches for row in rows),
        sum(row.bytes_up for row in rows),
        sum(row.bytes_down for row in rows),
        sum(row.cpu_ms for row in rows),
        sum(row.device_ms or 0.0 for row in rows) if has_clock else None,
    )


def _event(name: str, begin_ns: int, lasted_ns: int, track: int) -> dict[str, Any]:
    times = {"ts": begin_ns / 1e3, "dur": lasted_ns / 1e3}
    return {"name": name, "cat": "arraycore", "ph": "X", "pid": 1, "tid": track, **times}


def _meta(kind: str, name: str, track: int) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": 1, "tid": track, "args": {"name": name}}
