"""Compares error messages, broadcasting and overlap of views with NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from array_core_fuzz import probe
from array_core_fuzz.probe import Overlap
from array_core_fuzz.steps import IndexKind, StepOp

Array = npt.NDArray[Any]

FLOAT64 = probe.number(np.float64)
COMPLEX64 = probe.number(np.complex64)
INT16 = probe.number(np.int16)
ANY_SLICE = (IndexKind.SLICE, 0, 0, 0, 0)
ZERO_STEP = (IndexKind.SLICE, 4, 0, 0, 0)

MISTAKES: list[tuple[list[int], list[int], Callable[[Array], Any]]] = [
    ([2, 3], [StepOp.INDEX, 0, 1, IndexKind.INTEGER, 5], lambda a: a[5]),
    ([2, 3], [StepOp.INDEX, 0, 2, *ANY_SLICE, IndexKind.INTEGER, -4], lambda a: a[:, -4]),
    ([2], [StepOp.INDEX, 0, 2, *ANY_SLICE, *ANY_SLICE], lambda a: a[:, :]),
    ([2], [StepOp.INDEX, 0, 2, IndexKind.ELLIPSIS, IndexKind.ELLIPSIS], lambda a: a[..., ...]),
    ([2], [StepOp.INDEX, 0, 1, *ZERO_STEP], lambda a: a[::0]),
    ([2, 3], [StepOp.TRANSPOSE, 0, 2, 0, 0], lambda a: a.transpose(0, 0)),
    ([2, 3], [StepOp.TRANSPOSE, 0, 1, 0], lambda a: a.transpose(0)),
    ([2, 3], [StepOp.TRANSPOSE, 0, 2, 0, 5], lambda a: a.transpose(0, 5)),
    ([2, 3], [StepOp.SWAP_AXES, 0, -3, 0], lambda a: a.swapaxes(-3, 0)),
    ([2, 3], [StepOp.SWAP_AXES, 0, 0, 4], lambda a: a.swapaxes(0, 4)),
    ([2, 3], [StepOp.MOVE_AXES, 0, 1, 7, 1, 0], lambda a: np.moveaxis(a, 7, 0)),
    ([2, 3], [StepOp.MOVE_AXES, 0, 1, 0, 1, 7], lambda a: np.moveaxis(a, 0, 7)),
    ([2, 3], [StepOp.MOVE_AXES, 0, 2, 0, 0, 2, 0, 1], lambda a: np.moveaxis(a, (0, 0), (0, 1))),
    ([2, 3], [StepOp.MOVE_AXES, 0, 2, 0, 1, 2, 1, 1], lambda a: np.moveaxis(a, (0, 1), (1, 1))),
    ([2, 3], [StepOp.MOVE_AXES, 0, 2, 0, 1, 1, 0], lambda a: np.moveaxis(a, (0, 1), (0,))),
    ([2, 3], [StepOp.RESHAPE, 0, 1, 4], lambda a: a.reshape(4)),
    ([2, 3], [StepOp.RESHAPE, 0, 0], lambda a: a.reshape(())),
    ([2, 3], [StepOp.RESHAPE, 0, 2, 4, -1], lambda a: a.reshape(4, -1)),
    ([2, 3], [StepOp.RESHAPE, 0, 2, -1, 4], lambda a: a.reshape(-1, 4)),
    ([2, 3], [StepOp.RESHAPE, 0, 3, -1, 4, 5], lambda a: a.reshape(-1, 4, 5)),
    ([2, 3], [StepOp.RESHAPE, 0, 2, -1, -1], lambda a: a.reshape(-1, -1)),
    ([0], [StepOp.RESHAPE, 0, 2, 0, -1], lambda a: a.reshape(0, -1)),
    ([6], [StepOp.RESHAPE, 0, 2, 1 << 62, 4], lambda a: a.reshape(1 << 62, 4)),
    ([3], [StepOp.BROADCAST, 0, 1, 4], lambda a: np.broadcast_to(a, (4,))),
    ([3], [StepOp.BROADCAST, 0, 0], lambda a: np.broadcast_to(a, ())),
    ([2, 3], [StepOp.BROADCAST, 0, 1, 3], lambda a: np.broadcast_to(a, (3,))),
    ([1, 3], [StepOp.BROADCAST, 0, 2, 5, -1], lambda a: np.broadcast_to(a, (5, -1))),
    ([2, 3], [StepOp.SQUEEZE, 0, 1, 0], lambda a: a.squeeze(0)),
    ([1, 1], [StepOp.SQUEEZE, 0, 2, 0, 0], lambda a: a.squeeze((0, 0))),
    ([2, 3], [StepOp.SQUEEZE, 0, 1, 5], lambda a: a.squeeze(5)),
    ([2, 3], [StepOp.EXPAND_DIMS, 0, 1, 5], lambda a: np.expand_dims(a, 5)),
    ([2, 3], [StepOp.EXPAND_DIMS, 0, 2, 0, 0], lambda a: np.expand_dims(a, (0, 0))),
    ([3], [StepOp.DIAGONAL, 0, 0, 0, 1], lambda a: a.diagonal()),
    ([2, 3], [StepOp.DIAGONAL, 0, 0, 1, 1], lambda a: a.diagonal(0, 1, 1)),
    ([2, 3], [StepOp.DIAGONAL, 0, 0, 3, 1], lambda a: a.diagonal(0, 3, 1)),
    ([2, 3], [StepOp.DIAGONAL, 0, 0, 0, 5], lambda a: a.diagonal(0, 0, 5)),
    ([2, 3], [StepOp.FLIP, 0, 1, 5], lambda a: np.flip(a, 5)),
    ([2, 3], [StepOp.FLIP, 0, 2, 0, 0], lambda a: np.flip(a, (0, 0))),
    ([], [StepOp.REINTERPRET, 0, INT16], lambda a: a.view(np.int16)),
    ([3], [StepOp.REINTERPRET, 0, probe.number(np.complex128)], lambda a: a.view(np.complex128)),
]


@pytest.mark.parametrize(("shape", "step", "mistake"), MISTAKES)
def test_mistakes_are_named_in_numpys_words(
    shape: list[int], step: list[int], mistake: Callable[[Array], Any]
) -> None:
    with pytest.raises((ValueError, IndexError)) as expected:
        mistake(np.zeros(shape))
    program = [2, StepOp.CREATE, FLOAT64, 0, len(shape), *shape, *step]
    assert probe.message(program) == str(expected.value)


def test_a_view_that_cannot_be_reinterpreted_is_named_in_numpys_words() -> None:
    create = [3, StepOp.CREATE, FLOAT64, 0, 2, 2, 4, StepOp.TRANSPOSE, 0, -1]
    with pytest.raises(ValueError, match="last axis must be contiguous") as expected:
        np.zeros((2, 4)).T.view(np.int16)
    assert probe.message([*create, StepOp.REINTERPRET, 1, INT16]) == str(expected.value)


def test_assignment_of_another_shape_is_named_in_numpys_words() -> None:
    program = [3, StepOp.CREATE, FLOAT64, 0, 2, 2, 3, StepOp.CREATE, FLOAT64, 0, 1, 4]
    array = np.zeros((2, 3))
    with pytest.raises(ValueError, match="could not broadcast") as expected:
        array[...] = np.zeros(4)
    assert probe.message([*program, StepOp.ASSIGN, 0, 1]) == str(expected.value)


def test_more_than_32_axes_are_refused() -> None:
    create = [2, StepOp.CREATE, FLOAT64, 0, 1, 2]
    fits = [*create, StepOp.INDEX, 0, 31, *[IndexKind.NEWAXIS] * 31]
    assert probe.message(fits) == ""
    over = [*create, StepOp.INDEX, 0, 32, *[IndexKind.NEWAXIS] * 32]
    assert probe.message(over) == (
        "number of dimensions must be within [0, 32], indexing result would have 33"
    )


def test_random_shapes_broadcast_as_in_numpy() -> None:
    choose = random.Random(5)
    failures = 0
    for _ in range(5000):
        common = [choose.choice([0, 1, 2, 3]) for _ in range(choose.randrange(5))]
        shapes = [
            tuple(
                choose.choice([1, extent, extent, extent, 2])
                for extent in common[choose.randrange(len(common) + 1) :]
            )
            for _ in range(choose.randrange(1, 5))
        ]
        result, message = probe.broadcast_shapes(shapes)
        try:
            assert result == np.broadcast_shapes(*shapes)
        except ValueError:
            failures += 1
            assert result is None
            texts = [str(shape).replace(" ", "") for shape in shapes]
            assert message == (
                f"operands could not be broadcast together with shapes {' '.join(texts)}"
            )
    assert 100 < failures < 4900


def test_ufuncs_words_for_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ValueError, match="could not be broadcast") as expected:
        np.zeros((2, 3)) + np.zeros(4)
    assert probe.broadcast_shapes([(2, 3), (4,)])[1] == str(expected.value).strip()


def _random_view(base: Array, choose: random.Random) -> Array:
    view = base
    for _ in range(choose.randrange(1, 4)):
        index = tuple(
            slice(choose.randrange(extent), None, choose.choice([1, 1, 2, 3, -1, -2]))
            for extent in view.shape
            if extent
        )
        view = view[index]
        if choose.random() < 0.3:
            view = view.T
    return view


def _words(base: Array, view: Array) -> list[int]:
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return [offset, view.ndim, *view.shape, *view.strides, view.itemsize]


@dataclass
class Pairs:
    """Random pairs of views of one array, and whether they overlap according to NumPy."""

    words: list[int] = field(default_factory=list)
    shared: list[bool] = field(default_factory=list)
    same: list[bool] = field(default_factory=list)

    def add(self, base: Array, a: Array, b: Array) -> None:
        """Add a pair, with the answer of NumPy's exact search."""
        words = _words(base, a), _words(base, b)
        self.words += words[0] + words[1]
        self.shared.append(np.shares_memory(a, b))
        strides = [
            [step for extent, step in zip(v.shape, v.strides, strict=True) if extent > 1]
            for v in (a, b)
        ]
        alike = a.shape == b.shape and strides[0] == strides[1] and words[0][0] == words[1][0]
        self.same.append(self.shared[-1] and alike)


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    choose = random.Random(3)
    made = Pairs()
    for _ in range(4000):
        shape = [choose.randrange(1, 9) for _ in range(choose.randrange(1, 4))]
        base = np.zeros(shape, choose.choice(["u1", "i2", "f4", "c16"]))
        a, b = _random_view(base, choose), _random_view(base, choose)
        made.add(base, a, a[...] if choose.random() < 0.1 else b)
    return made


def test_overlap_is_exact_where_numpys_exact_search_is(pairs: Pairs) -> None:
    answers = probe.overlaps(pairs.words, len(pairs.shared), max_work=1_000_000)
    assert [answer != Overlap.DISJOINT for answer in answers] == pairs.shared
    assert [answer == Overlap.SAME for answer in answers] == pairs.same
    assert 400 < sum(pairs.shared) < 3600
    assert sum(pairs.same) > 200


def test_a_search_given_up_only_ever_adds_overlap(pairs: Pairs) -> None:
    answers = probe.overlaps(pairs.words, len(pairs.shared), max_work=0)
    told = [answer != Overlap.DISJOINT for answer in answers]
    assert all(told[i] for i, shared in enumerate(pairs.shared) if shared)
    assert sum(told) > sum(pairs.shared)
