"""Runs random view programs through the package ``arraycore``, on whichever back end is open.

Nothing is read back while a batch of programs runs: array-core knows shapes, strides and errors,
and the elements stay on the device until the end of the batch, when all are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import arraycore as ac
import numpy as np
from arraycore._runtime import session

from array_core_fuzz.keys import read_key
from array_core_fuzz.programs import Batch, DifferenceError, Generator, Totals
from array_core_fuzz.source import numpy_source
from array_core_fuzz.steps import DTYPES, ErrorKind, IndexKind, StepOp, create

PROGRAMS_A_BATCH = 50
_ALIGNMENT = 16
# The dtypes that a browser's GPU computes. The others live on the CPU, so a cast between the two
# groups moves elements.
DEVICE_DTYPES = tuple(
    number for number, dtype in enumerate(DTYPES) if dtype.name not in ("float64", "complex128")
)


@dataclass
class Moved:
    """Counts of the work of array-core while programs ran, before any array was read."""

    #: Bytes that were read from the device, not counting ``size_bytes``.
    bytes_down: int = 0
    cpu_ops: int = 0
    dispatches: int = 0
    #: Bytes that were read to learn a size that depends on data. A read through a key takes four
    #: for each mask on the device; a write does so only if the key has other indices too. ``a[key]
    #: += b`` is a read and a write.
    size_bytes: int = 0

    @classmethod
    def so_far(cls) -> Moved:
        """Return what was counted since the last reset."""
        counted = ac.counters()
        return cls(counted["bytes_down"], counted["cpu_ops"], counted["dispatches"])

    def __sub__(self, before: Moved) -> Moved:
        return Moved(
            self.bytes_down - before.bytes_down,
            self.cpu_ops - before.cpu_ops,
            self.dispatches - before.dispatches,
            self.size_bytes - before.size_bytes,
        )

    def add(self, other: Moved) -> None:
        """Add the counts of ``other``."""
        self.bytes_down += other.bytes_down
        self.cpu_ops += other.cpu_ops
        self.dispatches += other.dispatches
        self.size_bytes += other.size_bytes


def _list(words: Iterator[int]) -> Any:
    length = next(words)
    return None if length < 0 else [next(words) for _ in range(length)]


def _key(words: Iterator[int]) -> tuple[Any, ...]:
    items: list[Any] = []
    for _ in range(next(words)):
        kind = next(words)
        if kind == IndexKind.INTEGER:
            items.append(next(words))
        elif kind == IndexKind.SLICE:
            given, *bounds = (next(words) for _ in range(4))
            items.append(slice(*(b if given >> n & 1 else None for n, b in enumerate(bounds))))
        else:
            items.append(None if kind == IndexKind.NEWAXIS else Ellipsis)
    return tuple(items)


class AstrayError(Exception):
    """A step uses an array that no earlier step has made, because a result differs."""


class Machine:
    """Runs one program, and holds its arrays."""

    def __init__(self) -> None:
        self.arrays: list[ac.ndarray] = []
        self.results: list[int] = []
        self.size_bytes = 0

    def run(self, words: Iterator[int]) -> None:
        """Run the program that the next words encode."""
        for _ in range(next(words)):
            self._step(words)

    def _step(self, words: Iterator[int]) -> None:
        session.drain()  # frees uploads that the previous step no longer needs
        live = ac.counters()["live_bytes"]
        operation = self._operation(next(words), words)
        try:
            made = operation()
        except ValueError:  # AxisError is both this and IndexError
            self.results.append(ErrorKind.VALUE)
        except IndexError:
            self.results.append(ErrorKind.INDEX)
        except TypeError:
            self.results.append(ErrorKind.TYPE)
        else:
            if made is None:
                self.results.append(0)
            else:
                self._record(made, ac.counters()["live_bytes"] > live)

    def _array(self, number: int) -> ac.ndarray:
        if number >= len(self.arrays):
            raise AstrayError
        return self.arrays[number]

    def _record(self, array: ac.ndarray, is_new: bool) -> None:
        shape, strides, flags = array.shape, array.strides, array.flags
        self.results += (0, len(shape), *shape)
        full = array.size > 0
        self.results += [
            stride if full and extent > 1 else 0
            for extent, stride in zip(shape, strides, strict=True)
        ]
        self.results += (flags.c_contiguous + 2 * flags.f_contiguous, int(full and is_new))
        self.arrays.append(array)

    def _key(self, words: Iterator[int], uses: str) -> tuple[tuple[Any, ...], int]:
        """Decode a key; return it, and how many bytes may be read from the device to learn sizes.

        ``uses`` says whether the step reads through the key ("r"), writes ("w") or both ("rw").
        """

        def made(index: Any, host: bool) -> Any:
            return index if host else ac.array(index)

        key = read_key(words, made)
        arrays = [item for item in key if isinstance(item, ac.ndarray | np.ndarray)]
        masks = [item for item in arrays if isinstance(item, ac.ndarray) and item.dtype == bool]
        asking = uses.replace("w", "") if len(arrays) == 1 else uses
        return key, 4 * len(masks) * len(asking)

    def _keyed(self, words: Iterator[int], uses: str, do: Callable[[Any], Any]) -> Any:
        """Return a function that does an operation with a key, and counts bytes read for sizes."""
        key, allowed = self._key(words, uses)

        def run() -> Any:
            before = ac.counters()["bytes_down"]
            try:
                return do(key)
            finally:
                self.size_bytes += min(ac.counters()["bytes_down"] - before, allowed)

        return run

    def _operation(self, op: int, words: Iterator[int]) -> Any:
        """Decode the operation ``op``; return a function that does it."""
        if op == StepOp.CREATE:
            dtype, seed = next(words), next(words)
            elements = create(dtype, seed, _list(words) or [])
            return lambda: ac.array(elements)
        a = self._array(next(words))
        match op:
            case StepOp.INDEX:
                key = _key(words)
                return lambda: a[key]
            case StepOp.TRANSPOSE:
                axes = _list(words)
                return lambda: a.T if axes is None else a.transpose(axes)
            case StepOp.SWAP_AXES:
                axis1, axis2 = next(words), next(words)
                return lambda: a.swapaxes(axis1, axis2)
            case StepOp.MOVE_AXES:
                source, destination = _list(words), _list(words)
                return lambda: ac.moveaxis(a, source, destination)
            case StepOp.RESHAPE:
                shape = _list(words)
                return lambda: a.reshape(shape)
            case StepOp.BROADCAST:
                shape = _list(words)
                return lambda: ac.broadcast_to(a, shape)
            case StepOp.SQUEEZE:
                axes = _list(words)
                return lambda: a.squeeze(axes)
            case StepOp.EXPAND_DIMS:
                axes = _list(words)
                return lambda: ac.expand_dims(a, axes)
            case StepOp.DIAGONAL:
                offset, axis1, axis2 = next(words), next(words), next(words)
                return lambda: a.diagonal(offset, axis1, axis2)
            case StepOp.FLIP:
                axes = _list(words)
                return lambda: ac.flip(a, axes)
            case StepOp.REINTERPRET:
                other = DTYPES[next(words)]
                return lambda: a.view(other)
            case StepOp.ASTYPE:
                other = DTYPES[next(words)]
                return lambda: a.astype(other, order="C")
            case StepOp.ASSIGN:
                value = self._array(next(words))
                return lambda: a.__setitem__(Ellipsis, value)
            case StepOp.TAKE:
                return self._keyed(words, "r", lambda key: a[key])
            case StepOp.PUT:
                value = self._array(next(words))
                return self._keyed(words, "w", lambda key: a.__setitem__(key, value))
            case StepOp.FILL:
                number = next(words)
                return self._keyed(words, "w", lambda key: a.__setitem__(key, number))
            case StepOp.ADD:
                number = next(words)
                return self._keyed(words, "rw", lambda key: _add(a, key, number))
            case StepOp.RAVEL:
                return a.ravel
            case StepOp.COPY:
                return a.copy
            case StepOp.REAL:
                return lambda: a.real
            case StepOp.IMAG:
                return lambda: a.imag
        raise ValueError(f"no operation {op}")


def _add(a: ac.ndarray, key: tuple[Any, ...], number: int) -> None:
    a[key] += number


def _batch(seeds: range, dtypes: Sequence[int], keys: bool) -> tuple[Batch, list[bytes]]:
    """Return the programs of some seeds, and the contents that each one's arrays must have."""
    batch = Batch()
    generator = Generator(batch, dtypes, keys)
    contents: list[bytes] = []
    for seed in seeds:
        begin = len(batch.contents)
        generator.make(seed)
        contents += batch.contents[begin : begin + generator.array_count]
    return batch, contents


def _difference(
    seeds: range, dtypes: Sequence[int], keys: bool, totals: Totals, moved: Moved
) -> str | None:
    batch, contents = _batch(seeds, dtypes, keys)
    session.drain()  # so that live bytes only grow meanwhile
    before = Moved.so_far()
    words = iter(batch.words)
    machines = [Machine() for _ in seeds]
    with suppress(AstrayError):
        for machine in machines:
            machine.run(words)
    counted = Moved.so_far() - before
    counted.size_bytes = sum(machine.size_bytes for machine in machines)
    counted.bytes_down -= counted.size_bytes
    moved.add(counted)
    totals.add(batch)
    results = [result for machine in machines for result in machine.results]
    if results != batch.results:
        pairs = enumerate(zip(results, batch.results, strict=False))
        common = min(len(results), len(batch.results))
        at = next((i for i, (got, wanted) in pairs if got != wanted), common)
        return (
            f"results differ at word {at}:\n"
            f"numpy:      ...{batch.results[max(0, at - 12) : at + 12]}...\n"
            f"array-core: ...{results[max(0, at - 12) : at + 12]}..."
        )
    arrays = [array for machine in machines for array in machine.arrays]
    for number, (array, got, wanted) in enumerate(
        zip(arrays, _read_at_once(arrays), contents, strict=True)
    ):
        if got != wanted:
            shown, expected = (
                np.frombuffer(content, array.dtype).reshape(array.shape)
                for content in (got, wanted)
            )
            return f"array {number} ({array.dtype}) is\n{shown}\ninstead of\n{expected}"
    return None


def _read_at_once(arrays: Sequence[ac.ndarray]) -> list[bytes]:
    """Return each array's elements in C order, after one read from the device."""
    ends = list(accumulate(-(-array.nbytes // _ALIGNMENT) * _ALIGNMENT for array in arrays))
    buffer = ac.zeros(ends[-1], "uint8")
    begins = [0, *ends[:-1]]
    for array, begin in zip(arrays, begins, strict=True):
        place = buffer[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
        place[...] = array
    content = buffer.get().tobytes()
    return [
        content[begin : begin + array.nbytes] for array, begin in zip(arrays, begins, strict=True)
    ]


def run_programs(
    first_seed: int,
    programs: int,
    dtypes: Sequence[int] = DEVICE_DTYPES,
    keys: bool = False,
) -> tuple[Totals, Moved]:
    """Compare the programs of ``programs`` consecutive seeds in arraycore and in NumPy.

    ``keys`` adds steps that index by arrays of integers and masks.

    Raises
    ------
    DifferenceError
        Some program's shapes, strides, flags, errors or contents are not NumPy's.
    """
    totals, moved = Totals(), Moved()
    end = first_seed + programs
    for begin in range(first_seed, end, PROGRAMS_A_BATCH):
        seeds = range(begin, min(begin + PROGRAMS_A_BATCH, end))
        difference = _difference(seeds, dtypes, keys, totals, moved)
        if difference is not None:
            _explain(seeds, dtypes, keys, difference)
    return totals, moved


def _explain(seeds: range, dtypes: Sequence[int], keys: bool, difference: str) -> None:
    """Find the program of the batch that differs and raise with its code."""
    for seed in seeds:
        alone = _difference(range(seed, seed + 1), dtypes, keys, Totals(), Moved())
        if alone is not None:
            batch, _ = _batch(range(seed, seed + 1), dtypes, keys)
            raise DifferenceError(f"program {seed}: {alone}\n\n{numpy_source(batch.words)}")
    raise DifferenceError(f"programs {seeds} differ only when run together: {difference}")
