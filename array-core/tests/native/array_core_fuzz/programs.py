"""Makes random programs of views, encodes them for the probe, and runs them in NumPy.

The choices depend on the shapes so far, so a program is made while NumPy runs it. ``program.h``
defines the formats of words, results and contents.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from array_core_fuzz.keys import KeyMaker
from array_core_fuzz.steps import DTYPES, MAX_SEED, Array, ErrorKind, IndexKind, StepOp, create

_IS_INTEGER = [dtype.kind in "iu" for dtype in DTYPES]
_ALL = tuple(range(len(DTYPES)))

_MAX_DIMS = 7
_MAX_COUNT = 1500
_MAX_KEYED_DIMS = 5  # so that a key's result has no more axes than a program's arrays


@dataclass
class Batch:
    """Several programs, encoded one after another, and NumPy's results of them."""

    words: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)
    programs: int = 0
    steps: int = 0
    errors: int = 0
    assignments: int = 0


@dataclass
class Totals:
    """The counts of programs, steps, assignments and errors of a run."""

    programs: int = 0
    steps: int = 0
    errors: int = 0
    assignments: int = 0

    def add(self, other: Totals | Batch) -> None:
        """Add the counts of ``other``."""
        self.programs += other.programs
        self.steps += other.steps
        self.errors += other.errors
        self.assignments += other.assignments


class DifferenceError(AssertionError):
    """NumPy and array-core differ; the message holds the program as NumPy code."""


class Generator:
    """Makes the program of a seed and runs it in NumPy.

    ``dtypes`` are the dtypes that arrays may have. ``keys`` adds steps that index by arrays, which
    the package can do and the probe cannot.
    """

    def __init__(self, batch: Batch, dtypes: Sequence[int] = _ALL, keys: bool = False) -> None:
        self._batch = batch
        self._cast = dtypes
        # Arrays of these dtypes may hold any bytes. NumPy requires that a bool is 0 or 1.
        self._created = [n for n in dtypes if DTYPES[n].kind != "b"]
        self._rng = random.Random()
        self._random = self._rng.random
        self._choices = (*_STEPS, *_KEY_STEPS) if keys else _STEPS
        self._keys = KeyMaker(self._rng)
        self._arrays: list[Array] = []
        self._dtypes: list[int] = []
        self._storages: list[Array] = []
        self._words: list[int] = []
        self._steps = 0

    @property
    def array_count(self) -> int:
        """How many arrays the newest program made."""
        return len(self._arrays)

    def make(self, seed: int) -> None:
        """Append the program of ``seed`` to the batch."""
        self._rng.seed(seed)
        batch = self._batch
        self._arrays, self._dtypes, self._storages = [], [], []
        self._words = batch.words
        at = len(batch.words)
        batch.words.append(0)
        self._steps = 0
        self._create()
        for _ in range(3 + self._below(7)):
            # The newest array is the source most often, so that programs make views of views.
            # Otherwise an older one is the source, so that assignments combine views of one
            # storage.
            newest = len(self._arrays) - 1
            source = newest if self._random() < 0.7 else self._below(newest + 1)
            self._choices[int(self._random() * len(self._choices))](self, source)
        batch.words[at] = self._steps
        batch.programs += 1
        batch.steps += self._steps
        batch.contents.extend([array.tobytes() for array in self._arrays])
        batch.contents.extend([storage.tobytes() for storage in self._storages])

    # ---- helpers

    def _emit(self, op: StepOp, *words: int) -> None:
        self._steps += 1
        self._words.append(op)
        self._words += words

    def _below(self, bound: int) -> int:
        return int(self._random() * bound)

    def _axis(self, ndim: int) -> int:
        """Return an axis, negative or not; sometimes one that the array does not have."""
        if self._random() < 0.02:
            return ndim + self._below(2) if self._random() < 0.5 else -ndim - 1
        return self._below(2 * ndim) - ndim if ndim else 0

    def _try(self, source: int, operation: Callable[[], Array], dtype: int = -1) -> None:
        """Do an operation in NumPy; record the view of ``source`` that it returns, or its error."""
        try:
            made = operation()
        except ValueError:  # AxisError is both this and IndexError
            self._error(ErrorKind.VALUE)
        except (IndexError, OverflowError):
            # If a C long has 32 bits, NumPy raises OverflowError for a larger index, which is out
            # of bounds.
            self._error(ErrorKind.INDEX)
        else:
            self._record(made, self._dtypes[source] if dtype < 0 else dtype, 0)

    def _error(self, kind: ErrorKind) -> None:
        self._batch.errors += 1
        self._batch.results.append(kind)

    def _record(self, array: Array, dtype: int, is_new: int) -> None:
        shape = array.shape
        results = self._batch.results
        results += (0, len(shape), *shape)
        if array.size:
            strides = array.strides
            results += [
                stride if extent > 1 else 0 for extent, stride in zip(shape, strides, strict=True)
            ]
        else:
            results += [0] * len(shape)
            is_new = 0
        results += (array.flags.num & 3, is_new)
        self._arrays.append(array)
        self._dtypes.append(dtype)

    def _record_new(self, array: Array, dtype: int) -> None:
        self._storages.append(array)
        self._record(array, dtype, 1)

    # ---- steps

    def _create(self) -> None:
        dtype = self._created[self._below(len(self._created))]
        r = self._random()
        ndim = self._below(5) if r < 0.95 else self._below(_MAX_DIMS + 1)
        largest = (40, 40, 12, 6, 5, 3, 3, 3)[ndim]
        shape = [1 + self._below(largest) for _ in range(ndim)]
        if ndim and r < 0.1:
            shape[self._below(ndim)] = self._below(2)
        seed = self._below(MAX_SEED)
        self._emit(StepOp.CREATE, dtype, seed, ndim, *shape)
        self._record_new(create(dtype, seed, shape), dtype)

    def _step_create(self, source: int) -> None:
        self._create()

    def _bound(self, extent: int) -> int:
        r = self._random()
        if r < 0.9:
            return self._below(2 * extent + 3) - extent - 1
        return self._below(1 << 62) if r < 0.95 else -self._below(1 << 62)

    def _index_items(self, shape: tuple[int, ...]) -> tuple[list[int], list[Any]]:
        ndim = len(shape)
        count = self._below(ndim + 1) + (self._random() < 0.02)
        # The position of the ellipsis in the key, or -1. Items after it index the last axes.
        ellipsis = self._below(count + 1) if self._random() < 0.4 else -1
        words: list[int] = []
        items: list[Any] = []
        for position in range(count):
            if position == ellipsis:
                words.append(IndexKind.ELLIPSIS)
                items.append(Ellipsis)
            axis = position if ellipsis < 0 or position < ellipsis else ndim - count + position
            extent = shape[axis] if 0 <= axis < ndim else 2
            if self._random() < 0.15 and ndim < _MAX_DIMS:
                words.append(IndexKind.NEWAXIS)
                items.append(None)
            if self._random() < 0.3:
                at = self._below(2 * extent) - extent
                if self._random() < 0.02:
                    at = self._bound(extent)
                words += (IndexKind.INTEGER, at)
                items.append(at)
                continue
            r = self._random()
            start = self._bound(extent) if r < 0.5 else None
            stop = self._bound(extent) if 0.25 < r < 0.75 else None
            step = None
            r = self._random()
            if r < 0.6:
                step = (-1, 2, -2, 3, -3, 1)[int(r * 10)]
            elif r < 0.62:
                step = (0, 1 << 62, -(1 << 62), -(1 << 63))[int(r * 10000) % 4]
            given = (start is not None) + 2 * (stop is not None) + 4 * (step is not None)
            words += (IndexKind.SLICE, given, start or 0, stop or 0, step or 0)
            items.append(slice(start, stop, step))
        if ellipsis == count:
            words.append(IndexKind.ELLIPSIS)
            items.append(Ellipsis)
            if self._random() < 0.02:
                words.append(IndexKind.ELLIPSIS)
                items.append(Ellipsis)
        return words, items

    def _step_index(self, source: int) -> None:
        array = self._arrays[source]
        words, items = self._index_items(array.shape)
        self._emit(StepOp.INDEX, source, len(items), *words)

        def operation() -> Array:
            # Integers for every axis would give a scalar, not a view.
            return array[(*items, Ellipsis)] if Ellipsis not in items else array[tuple(items)]

        self._try(source, operation)

    def _step_transpose(self, source: int) -> None:
        array = self._arrays[source]
        ndim = array.ndim
        if self._random() < 0.3:
            self._emit(StepOp.TRANSPOSE, source, -1)
            self._record(array.T, self._dtypes[source], 0)
            return
        axes = list(range(ndim))
        self._rng.shuffle(axes)
        if self._random() < 0.1 and ndim:
            axes[0] = self._axis(ndim)
        self._emit(StepOp.TRANSPOSE, source, ndim, *axes)
        self._try(source, lambda: array.transpose(axes))

    def _step_swap_axes(self, source: int) -> None:
        array = self._arrays[source]
        axis1, axis2 = self._axis(array.ndim), self._axis(array.ndim)
        self._emit(StepOp.SWAP_AXES, source, axis1, axis2)
        self._try(source, lambda: array.swapaxes(axis1, axis2))

    def _step_move_axes(self, source: int) -> None:
        array = self._arrays[source]
        count = 1 + (self._random() < 0.3)
        first = [self._axis(array.ndim) for _ in range(count)]
        second = [self._axis(array.ndim) for _ in range(count)]
        self._emit(StepOp.MOVE_AXES, source, count, *first, count, *second)
        self._try(source, lambda: np.moveaxis(array, first, second))

    def _factors(self, count: int) -> list[int]:
        """Return a random shape of ``count`` elements."""
        shape: list[int] = []
        for divisor in (2, 3, 2, 5, 2, 3, 7):
            if count % divisor == 0 and count > 1 and self._random() < 0.7:
                shape.append(divisor)
                count //= divisor
        shape.append(count)
        if self._random() < 0.3:
            shape.append(1)
        self._rng.shuffle(shape)
        return shape[: _MAX_DIMS - 1] if len(shape) <= _MAX_DIMS else [count]

    def _step_reshape(self, source: int) -> None:
        array = self._arrays[source]
        r = self._random()
        if r < 0.4 and array.ndim > 1:  # joins or splits neighbours, as views can
            shape = list(array.shape)
            at = self._below(array.ndim - 1)
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
        else:
            shape = self._factors(array.size)
        if self._random() < 0.2 and shape:
            shape[self._below(len(shape))] = -1
        if r > 0.97:
            shape.append(self._below(3) - 1)
        self._emit(StepOp.RESHAPE, source, len(shape), *shape)
        try:
            made = array.reshape(shape)
        except ValueError:
            self._error(ErrorKind.VALUE)
            return
        self._record_maybe_new(source, made)

    def _record_maybe_new(self, source: int, made: Array) -> None:
        dtype = self._dtypes[source]
        if made.size and not np.may_share_memory(made, self._arrays[source]):
            self._record_new(made, dtype)
        else:
            self._record(made, dtype, 0)

    def _step_ravel(self, source: int) -> None:
        self._emit(StepOp.RAVEL, source)
        self._record_maybe_new(source, self._arrays[source].ravel())

    def _step_broadcast(self, source: int) -> None:
        array = self._arrays[source]
        shape = list(array.shape)
        count = array.size
        for axis, extent in enumerate(shape):
            if extent == 1 and self._random() < 0.5:
                shape[axis] = self._below(5)
                count *= shape[axis]
        while self._random() < 0.4 and len(shape) < _MAX_DIMS:
            shape.insert(0, self._below(4))
            count *= shape[0]
        if self._random() < 0.05 and shape:
            shape[self._below(len(shape))] = self._below(4) - 1
        if count > _MAX_COUNT:
            shape = list(array.shape)
        self._emit(StepOp.BROADCAST, source, len(shape), *shape)
        self._try(source, lambda: np.broadcast_to(array, shape))

    def _step_squeeze(self, source: int) -> None:
        array = self._arrays[source]
        if self._random() < 0.4:
            self._emit(StepOp.SQUEEZE, source, -1)
            self._record(array.squeeze(), self._dtypes[source], 0)
            return
        ones = [axis for axis, extent in enumerate(array.shape) if extent == 1]
        axes = [axis for axis in ones if self._random() < 0.7]
        if self._random() < 0.05:
            axes.append(self._axis(array.ndim))
        self._emit(StepOp.SQUEEZE, source, len(axes), *axes)
        self._try(source, lambda: array.squeeze(tuple(axes)))

    def _step_expand_dims(self, source: int) -> None:
        array = self._arrays[source]
        if array.ndim >= _MAX_DIMS - 1:
            self._step_squeeze(source)
            return
        count = 1 + (self._random() < 0.3)
        axes = [self._axis(array.ndim + count) for _ in range(count)]
        self._emit(StepOp.EXPAND_DIMS, source, count, *axes)
        self._try(source, lambda: np.expand_dims(array, axes))

    def _step_diagonal(self, source: int) -> None:
        array = self._arrays[source]
        offset = self._below(9) - 4
        axis1, axis2 = self._axis(array.ndim), self._axis(array.ndim)
        self._emit(StepOp.DIAGONAL, source, offset, axis1, axis2)

        def operation() -> Array:
            made = array.diagonal(offset, axis1, axis2)
            if array.flags.writeable:
                made.flags.writeable = True  # NumPy makes it read-only only as a warning
            return made

        self._try(source, operation)

    def _step_flip(self, source: int) -> None:
        array = self._arrays[source]
        if not array.ndim:  # gives a scalar, not a view
            self._step_index(source)
            return
        if self._random() < 0.3:
            self._emit(StepOp.FLIP, source, -1)
            self._try(source, lambda: np.flip(array))
            return
        axes = [axis for axis in range(array.ndim) if self._random() < 0.6]
        if self._random() < 0.05:
            axes.append(self._axis(array.ndim))
        self._emit(StepOp.FLIP, source, len(axes), *axes)
        self._try(source, lambda: np.flip(array, tuple(axes)))

    def _step_reinterpret(self, source: int) -> None:
        array = self._arrays[source]
        dtype = self._created[self._below(len(self._created))]
        self._emit(StepOp.REINTERPRET, source, dtype)
        self._try(source, lambda: array.view(DTYPES[dtype]), dtype)

    def _step_part(self, source: int) -> None:
        dtype = DTYPES[self._dtypes[source]]
        if dtype.kind != "c":
            self._step_index(source)
            return
        array = self._arrays[source]
        part = DTYPES.index(np.dtype(f"f{dtype.itemsize // 2}"))
        if self._random() < 0.5:
            self._emit(StepOp.REAL, source)
            self._record(array.real, part, 0)
        else:
            self._emit(StepOp.IMAG, source)
            self._record(array.imag, part, 0)

    def _step_copy(self, source: int) -> None:
        self._emit(StepOp.COPY, source)
        self._record_new(self._arrays[source].copy(), self._dtypes[source])

    def _step_astype(self, source: int) -> None:
        if not _IS_INTEGER[self._dtypes[source]]:
            self._step_copy(source)  # test_casts.py has casts of floats
            return
        dtype = self._cast[self._below(len(self._cast))]
        self._emit(StepOp.ASTYPE, source, dtype)
        with np.errstate(over="ignore"):  # to float16
            self._record_new(self._arrays[source].astype(DTYPES[dtype], order="C"), dtype)

    def _step_assign(self, target: int) -> None:
        """Assign ``a[view] = b[view]``, often within one storage."""
        to = self._arrays[target]
        if not to.flags.writeable:
            self._step_copy(target)
            return
        dtype = self._dtypes[target]
        source = self._below(len(self._arrays))
        if self._random() < 0.6 and to.ndim:
            # The source is a shifted, reversed or otherwise different view of the target itself.
            source = len(self._arrays)
            self._step_index(target)
            if source == len(self._arrays):
                return
            if to.ndim == self._arrays[source].ndim and self._random() < 0.6:
                # Both views are cut to the extents that they have in common, so that they overlap
                # and have one shape.
                common = [
                    min(a, b) for a, b in zip(to.shape, self._arrays[source].shape, strict=True)
                ]
                target, source = self._cut(target, common), self._cut(source, common)
                to = self._arrays[target]
        casts = self._dtypes[source] != dtype
        if casts and not (_IS_INTEGER[dtype] and _IS_INTEGER[self._dtypes[source]]):
            source = target
        self._emit(StepOp.ASSIGN, target, source)
        self._batch.assignments += 1
        value = self._arrays[source]
        if to.ndim == 1 and value.ndim and to.strides != value.strides[-1:]:
            # NumPy (2.4) promises an assignment as if from a copy, and forgets to make one here:
            # x = np.arange(12); x[::2] = x[:6] gives x[4] == 1 instead of 2.
            value = value.copy()
        try:
            to[...] = value
        except ValueError:
            self._error(ErrorKind.VALUE)
        else:
            self._batch.results.append(0)

    # ---- steps with keys

    def _step_take(self, source: int) -> None:
        array = self._arrays[source]
        if array.ndim > _MAX_KEYED_DIMS:
            self._step_index(source)
            return
        words, key = self._keys.make(array.shape)
        self._take(source, words, key)

    def _take(self, source: int, words: list[int], key: tuple[Any, ...]) -> None:
        """Record ``source[key]`` in C order. NumPy's own result may have another order."""
        try:
            made = np.asarray(self._arrays[source][key]).copy(order="C")
        except IndexError:
            self._emit(StepOp.TAKE, source, *words)
            self._error(ErrorKind.INDEX)
            return
        if made.size > _MAX_COUNT or made.ndim > _MAX_DIMS:
            self._step_index(source)
            return
        self._emit(StepOp.TAKE, source, *words)
        self._record_new(made, self._dtypes[source])

    def _step_put(self, target: int) -> None:
        """Do ``a[key] = b`` or ``a[key] += number``; b is ``a[key]``, an array or a number."""
        to = self._arrays[target]
        if not to.flags.writeable or to.ndim > _MAX_KEYED_DIMS:
            self._step_copy(target)
            return
        words, key = self._keys.make(to.shape)
        r = self._random()
        integers = _IS_INTEGER[self._dtypes[target]]
        # Some keys get only numbers. If a key picks nothing, NumPy (2.4) accepts values of many
        # shapes that do not broadcast. If all its items are integers, NumPy accepts no array.
        try:
            picked = to[key]
            numbers = picked.size == 0 or picked.ndim == 0
        except IndexError:  # NumPy may check the value's shape before the indices, or after
            numbers = True
        if r < 0.35 or (r < 0.5 and integers) or numbers:
            self._put_number(target, words, key, adds=r >= 0.35 and integers)
            return
        source = self._below(len(self._arrays))
        if r < 0.9:
            count = len(self._arrays)
            self._take(target, words, key)
            source = len(self._arrays) - 1
            if source < count:
                return
            if self._random() < 0.5:
                self._step_flip(source)
                source = len(self._arrays) - 1
        casts = self._dtypes[source] != self._dtypes[target]
        if casts and not (integers and _IS_INTEGER[self._dtypes[source]]):
            source = target
        value = self._arrays[source].copy()
        arrays = [item for item in key if isinstance(item, np.ndarray)]
        if len(arrays) == 1 and arrays[0].dtype == bool and not _fits(value.shape, picked.shape):
            # On a device, the package does not read how many elements the mask selects, so it
            # could not refuse a value of the wrong shape.
            self._put_number(target, words, key, adds=False)
            return
        self._emit(StepOp.PUT, target, source, *words)
        self._write(target, key, value, False)

    def _put_number(self, target: int, words: list[int], key: tuple[Any, ...], adds: bool) -> None:
        value = self._below(100)
        self._emit(StepOp.ADD if adds else StepOp.FILL, target, value, *words)
        with np.errstate(over="ignore"):
            self._write(target, key, self._arrays[target].dtype.type(value), adds)

    def _write(self, target: int, key: tuple[Any, ...], value: Any, adds: bool) -> None:
        self._batch.assignments += 1
        to = self._arrays[target]
        try:
            if adds:
                to[key] += value
            else:
                to[key] = value
        except ValueError:
            self._error(ErrorKind.VALUE)
        except IndexError:
            self._error(ErrorKind.INDEX)
        except TypeError:
            self._error(ErrorKind.TYPE)
        else:
            self._batch.results.append(0)

    def _cut(self, source: int, shape: list[int]) -> int:
        """Record ``source[:n, :m, ...]`` as a new array; return its number."""
        self._emit(StepOp.INDEX, source, len(shape))
        for extent in shape:
            self._words += (IndexKind.SLICE, 2, 0, extent, 0)
        index: tuple[Any, ...] = (*(slice(None, extent) for extent in shape), Ellipsis)
        self._record(self._arrays[source][index], self._dtypes[source], 0)
        return len(self._arrays) - 1


def _fits(value: tuple[int, ...], picked: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(value, picked) == picked
    except ValueError:
        return False


# Each step is drawn at random from this tuple. A kind that stands here more often is drawn more
# often.
_STEPS: tuple[Callable[[Generator, int], None], ...] = (
    *[Generator._step_index] * 7,
    *[Generator._step_assign] * 5,
    *[Generator._step_reshape] * 4,
    *[Generator._step_transpose] * 3,
    *[Generator._step_broadcast] * 2,
    *[Generator._step_flip] * 2,
    *[Generator._step_diagonal] * 2,
    *[Generator._step_reinterpret] * 2,
    Generator._step_swap_axes,
    Generator._step_move_axes,
    Generator._step_ravel,
    Generator._step_squeeze,
    Generator._step_expand_dims,
    Generator._step_part,
    Generator._step_copy,
    Generator._step_astype,
    Generator._step_create,
)
_KEY_STEPS: tuple[Callable[[Generator, int], None], ...] = (
    *[Generator._step_take] * 12,
    *[Generator._step_put] * 12,
)
