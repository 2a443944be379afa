"""Records two runs of a step, compares them, and replays the second one without Python
(``docs/capture.md``).

    recorder = Recorder()
    for _ in range(2):
        recorder.record(step)  # runs it as usual
    replay = recorder.build()  # raises CaptureError with the reason if it cannot
    replay()  # the same launches again, in one call of array-core
    replay.close()

Arrays stay in the same memory. The arrays that Python holds from the last recorded step contain the
results of the newest replay.
"""

from __future__ import annotations

import gc
import os
import struct
import sys
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._core.ndarray import ndarray
from .._runtime import opcodes, operations, session
from .._runtime.dtypes import DTYPES
from ..random import _distributions

_NO_VALUE = -1
_RAW_WORD = 0xFFFFFFFF
#: The dtype in which the words of a raw kernel's uniforms are compared.
_WORD = np.dtype(np.float32)
#: If one of these libraries caused an error, the message also names the program's line that led to
#: it.
_LIBRARIES = {"arraycore", "chainer", "cupy", "hyperflock", "hyperflock_worker"}
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

T = TypeVar("T")
#: Numbers that the host gives a step: always the same count, in the same order.
Numbers = Sequence[float]


class CaptureError(RuntimeError):
    """Raised for a step that cannot be captured; ``code`` is stable, the sentence is the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class StaleCapture(Exception):
    """Raised when a replay would no longer do what the step does: it must be recorded again."""


class _Place(NamedTuple):
    """How many commands were recorded when a line of Python ended, and whether that line made the
    step impossible to capture.
    """

    commands: int
    refused: bool
    where: str


class _Stream(NamedTuple):
    """A stream of random numbers: its calls before the step, and how many the step made."""

    source: _distributions.Source
    key: tuple[int, int]
    before: int
    calls: int


class _Difference(NamedTuple):
    """A scalar whose bits differ between two recordings.

    A ``dtype`` of None stands for 32 bits of a raw kernel's uniforms.
    """

    dtype: np.dtype[Any] | None
    before: int
    after: int


class _Recording(NamedTuple):
    places: list[_Place]
    numbers: tuple[float, ...]
    streams: list[_Stream]
    origins: list[int]  # of the arrays that it returned


def _line(frame: FrameType) -> str:
    parts = frame.f_code.co_filename.replace(os.sep, "/").split("/")
    return f"{'/'.join(parts[-2:])}:{frame.f_lineno}"


def _where(frame: FrameType) -> str:
    """Return the caller's line; if that is a library's, also the program's line that led to it."""
    outer: FrameType | None = frame
    while outer is not None and outer.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        outer = outer.f_back
    if outer is None or outer is frame:
        return _line(frame)
    return f"{_line(frame)}, called at {_line(outer)}"


class _Watch:
    """A profiler function for ``sys.setprofile`` that notes which line made which commands."""

    def __init__(self) -> None:
        self.places: list[_Place] = []
        self._last = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "return" or not frame.f_code.co_filename.startswith(_PACKAGE):
            return
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename.startswith(_PACKAGE):
            return
        now = session.bridge.call(opcodes.CAPTURE_POSITION, 0, 0)
        if now != self._last:
            self._last = now
            self.places.append(_Place(now >> 1, bool(now & 1), _where(caller)))


def _bits(dtype: np.dtype[Any], value: float) -> int | None:
    """Return the bits of a number as a scalar of a dtype; None if the dtype does not hold it."""
    try:
        with np.errstate(all="ignore"):
            data = np.array(value).astype(dtype).tobytes()
    except (OverflowError, ValueError):
        return None
    return int.from_bytes(data[:8], "little")


def _same(a: float, b: float) -> bool:
    """Return whether two numbers are identical: NaN equals NaN, and -0.0 differs from 0.0."""
    if a == b:
        return bool(a) or struct.pack("<d", a) == struct.pack("<d", b)
    return a != a and b != b


def _origins(result: object) -> list[int]:
    """Return the number of each returned array's storage, or 0 if the step made the storage."""
    if isinstance(result, ndarray):
        return [operations.capture_origin(result)]
    if isinstance(result, dict):
        return [origin for each in result.values() for origin in _origins(each)]
    if isinstance(result, tuple | list):
        return [origin for each in result for origin in _origins(each)]
    held = getattr(result, "array", None)  # a variable of Chainer's
    return _origins(held) if isinstance(held, ndarray) else []


#: This is true while a step is recorded.
_under_way = False


def is_recording() -> bool:
    """Return whether a step is being recorded; at most one is at any time."""
    return _under_way


#: The recorder whose recordings the library keeps. The library keeps the recordings of one step
#: only.
_owner: weakref.ref[Recorder] | None = None
#: While another recorder has recordings that are not a replay yet, this one waits for at most this
#: many calls. Then it drops them.
_MOST_WAITS = 8


class Recorder:
    """Records steps and makes a replay of the last two. Only one recorder records at a time; see
    :meth:`waits`.

    Parameters
    ----------
    numbers : callable, optional
        Returns the numbers that the host passes to the last step, or to the next replay. Their
        count and order are constant. A scalar that differs between two steps must be one of them,
        in its own dtype, or the position of a draw in a stream of random numbers.
    """

    def __init__(self, numbers: Callable[[], Numbers] | None = None) -> None:
        self._numbers = numbers or tuple
        self._recordings: list[_Recording] = []
        self._waited = 0

    def waits(self) -> bool:
        """Return whether this recorder waits, because another one has recordings but no replay.

        Two steps that alternate are recorded one after the other. After some calls the recordings
        of a step that no longer runs are dropped.
        """
        owner = _owner() if _owner is not None else None
        if owner is None or owner is self or not owner._recordings:
            return False
        self._waited += 1
        if self._waited <= _MOST_WAITS:
            return True
        owner.forget()
        return False

    def record(self, step: Callable[[], T]) -> T:
        """Run the step, record its launches, and return its result."""
        global _owner, _under_way
        self._waited = 0
        watch, profiler = _Watch(), sys.getprofile()
        collects = gc.isenabled()
        drawn: list[_distributions.Source] = []
        calls: dict[int, int] = {}
        session.drain()
        operations.capture_begin()
        _owner, _under_way = weakref.ref(self), True
        try:
            # A garbage collection during the step could change what the step launches.
            gc.disable()
            _distributions.drawing = drawn
            sys.setprofile(watch)
            try:
                result = step()
            finally:
                sys.setprofile(profiler)
                _distributions.drawing = None
                if collects:
                    gc.enable()
            gc.collect(0)  # arrays that the step dropped are freed within it
            session.drain()
            operations.capture_end()
            origins = _origins(result)
        except BaseException:
            self.forget()
            raise
        finally:
            _under_way = False
        for source in drawn:
            calls[id(source)] = calls.get(id(source), 0) + 1
        streams = {id(source): source for source in drawn}
        recording = _Recording(
            watch.places,
            tuple(self._numbers()),
            [
                _Stream(source, source._key, source._calls - calls[key], calls[key])
                for key, source in streams.items()
            ],
            origins,
        )
        earlier = [r for r in self._recordings if len(r.numbers) == len(recording.numbers)]
        self._recordings = [*earlier[-1:], recording]
        return result

    def check(self) -> None:
        """Raise if the newest recording cannot be replayed.

        Raises
        ------
        CaptureError
            The step did something that no replay can do.
        """
        if operations.capture_position() & 1:
            self._compare()

    @property
    def recordings(self) -> int:
        """The number of recorded steps: 0, 1 or 2."""
        return len(self._recordings)

    def forget(self) -> None:
        """Drop all recordings."""
        self._recordings = []
        operations.capture_abort()

    def build(self) -> Replay:
        """Return the replay of the two newest recordings, and drop these.

        Raises
        ------
        CaptureError
            The recordings differ, and the message says where; or there is no memory for the arrays
            that live within a step.
        """
        differences = self._compare()
        before, after = self._recordings
        if any(after.origins) and after.origins != before.origins:
            raise CaptureError(
                "capture_arrays",
                "The step returns an array that an earlier step made, which no replay writes: "
                "return a copy of it.",
            )
        streams = _common_streams(before, after)
        known: dict[_Value, int] = {}
        numbers = []
        for each in differences:
            value = _Value(each.dtype or _WORD, _explained(each, before, after, streams))
            found = bool(value.given)
            numbers.append(known.setdefault(value, len(known)) if found else _NO_VALUE)
        try:
            number = operations.capture_build(numbers)
        except (ValueError, MemoryError) as error:
            raise self._refused(error) from None
        self._recordings = []
        return Replay(number, self._numbers, list(known), before, after)

    def _compare(self) -> list[_Difference]:
        try:
            told = ndarray._adopt(operations.capture_compare()).get()
        except ValueError as error:
            raise self._refused(error) from None
        return [
            _Difference(
                None if row[2] == _RAW_WORD else DTYPES[int(row[2])],
                int(row[3]) | int(row[4]) << 32,
                int(row[5]) | int(row[6]) << 32,
            )
            for row in told
        ]

    def _refused(self, error: Exception) -> CaptureError:
        """Return the error together with the line of Python that launched the refused command."""
        code = str(getattr(error, "code", "capture_none"))
        command = session.bridge.call(opcodes.CAPTURE_BLAME, 0, 0)
        places = self._recordings[-1].places if self._recordings else []
        where = next((p.where for p in places if p.commands > command or p.refused), None)
        return CaptureError(code, str(error) + (f" ({where})" if where else ""))


class _Value(NamedTuple):
    """A value of a replay: its dtype and all its possible sources, which must agree."""

    dtype: np.dtype[Any]
    given: tuple[_Given, ...]


class _Given(NamedTuple):
    """The source of a scalar: a number of the host (``stream`` None), or a draw of a stream."""

    stream: int | None
    place: int


def _common_streams(before: _Recording, after: _Recording) -> list[tuple[_Stream, _Stream]]:
    earlier = {id(stream.source): stream for stream in before.streams}
    pairs = [(earlier.get(id(stream.source)), stream) for stream in after.streams]
    return [(a, b) for a, b in pairs if a is not None and a.calls == b.calls]


def _explained(
    each: _Difference,
    before: _Recording,
    after: _Recording,
    streams: list[tuple[_Stream, _Stream]],
) -> tuple[_Given, ...]:
    """Return all sources that had the scalar's value in both steps."""
    dtype = each.dtype or _WORD
    given = [
        _Given(None, index)
        for index, (a, b) in enumerate(zip(before.numbers, after.numbers, strict=True))
        if _bits(dtype, a) == each.before and _bits(dtype, b) == each.after
    ]
    if each.dtype in (None, np.dtype(np.uint32)):
        for stream, (first, second) in enumerate(streams):
            draw = each.before - (first.before & 0xFFFFFFFF)
            if 0 <= draw < first.calls and (second.before + draw) & 0xFFFFFFFF == each.after:
                given.append(_Given(stream, draw))
    return tuple(given)


def _kept(number: int, before: float, after: float) -> list[tuple[np.dtype[Any], int]]:
    """Return the dtypes in which ``before`` and ``after`` have the same bits, each with these bits.

    Only those dtypes are returned for which a launch has a scalar of this dtype and these bits that
    replays keep.
    """
    kept = []
    for place, dtype in enumerate((*DTYPES, _WORD)):  # the last: a raw kernel's words
        bits = _bits(dtype, after)
        if bits is None or bits != _bits(dtype, before):
            continue
        if operations.capture_keeps(number, place, bits):
            kept.append((dtype, bits))
    return kept


class Replay:
    """A recorded step that runs again each time it is called; :meth:`Recorder.build` makes it.

    Attributes
    ----------
    commands : int
        The number of launches and uploads of a step.
    nbytes : int
        The bytes of memory for arrays that live within a step.
    carried : int
        The number of arrays that each step computes from those of the step before.
    """

    def __init__(
        self,
        number: int,
        numbers: Callable[[], Numbers],
        values: list[_Value],
        before: _Recording,
        after: _Recording,
    ) -> None:
        self._number = number
        self._numbers = numbers
        self._values = values
        streams = _common_streams(before, after)
        self._streams = [second for _, second in streams]
        # A replay uses the current value of a number that differed between the steps. The
        # comparison found every scalar that depends on it, except where both values were rounded to
        # the same bits.
        self._constant: dict[int, float] = {}
        self._rounded: list[tuple[int, np.dtype[Any], int]] = []
        for index, (a, b) in enumerate(zip(before.numbers, after.numbers, strict=True)):
            if _same(a, b):
                self._constant[index] = b
            else:
                self._rounded += [(index, *kept) for kept in _kept(number, a, b)]
        self.commands = operations.capture_about(number, opcodes.CAPTURE_COMMANDS)
        self.nbytes = operations.capture_about(number, opcodes.CAPTURE_KIB) * 1024
        self.carried = operations.capture_about(number, opcodes.CAPTURE_CARRIED)

    def __call__(self) -> None:
        """Run the step.

        Raises
        ------
        StaleCapture
            A number changed that was the same in both recorded steps, or the same after rounding to
            a dtype; two numbers that were equal differ; or a stream was seeded. Nothing has run.
        KeyboardInterrupt
            Ctrl-C was pressed while the device was busy. If :attr:`interrupted` is true the step
            has begun, and :meth:`resume` runs the rest.
        """
        words = self._words(tuple(self._numbers()))
        operations.capture_play(self._number, words)
        for stream in self._streams:
            stream.source._calls += stream.calls

    def _words(self, numbers: tuple[float, ...]) -> list[int]:
        for index, value in self._constant.items():
            if not _same(numbers[index], value):
                raise StaleCapture
        for index, dtype, kept in self._rounded:
            if _bits(dtype, numbers[index]) != kept:
                raise StaleCapture
        for stream in self._streams:
            if stream.source._key != stream.key:
                raise StaleCapture
        words: list[int] = []
        for dtype, given in self._values:
            bits = {self._bits_of(dtype, each, numbers) for each in given}
            if len(bits) != 1 or None in bits:
                raise StaleCapture
            word = bits.pop() or 0
            words += (word & 0xFFFFFFFF, word >> 32)
        return words

    def _bits_of(
        self, dtype: np.dtype[Any], given: _Given, numbers: tuple[float, ...]
    ) -> int | None:
        if given.stream is not None:
            stream = self._streams[given.stream]
            if stream.source._calls >> 32 != stream.before >> 32:
                return None
            return (stream.source._calls + given.place) & 0xFFFFFFFF
        return _bits(dtype, numbers[given.place])

    @property
    def interrupted(self) -> bool:
        """Whether the last call was interrupted within the step and can be resumed."""
        try:
            return bool(operations.capture_about(self._number, opcodes.CAPTURE_INTERRUPTED))
        except ValueError:  # the library was reset meanwhile
            return False

    def resume(self) -> None:
        """Run the rest of a step that was interrupted."""
        operations.capture_resume(self._number)
        for stream in self._streams:
            stream.source._calls += stream.calls

    def close(self) -> None:
        """Free the replay's memory; arrays of the recorded step that Python holds remain."""
        operations.capture_close(self._number)
