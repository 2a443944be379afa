"""Runs random programs with and without fusion: equal elements, equal errors, no more memory.

Results are compared bit for bit. If they differ on a device, the program is judged step by step.
For each k, its first k steps run with fusion, and again with only the k-th step computed without
fusion. Both runs compute the k-th step from the same operands, which hold the errors of the earlier
steps. So its floats may differ by as much as its own operations may err. The results of a
comparison, of ``floor`` or of a cast to integers must not differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from arraycore._runtime import session

from array_core_fuzz.fusion_program import Outcome, Part, Program

#: Live bytes with fusion may be at most this many times those without.
LIVE_SHARE = 1.1
#: The error of one operation of a device may be this many units in the last place.
UNITS = 2


class DifferenceError(AssertionError):
    """With fusion, a program gave other elements or errors, or took more memory."""


@dataclass
class Totals:
    """The counts of programs that were compared."""

    programs: int = 0
    steps: int = 0
    errors: int = 0
    dispatches: int = 0
    unfused_dispatches: int = 0
    fused: int = 0
    live_share: float = 0.0  # the largest of any step
    #: The first step that differs, for each program in which all differences are within the allowed
    #: errors.
    inexact: list[str] = field(default_factory=list)

    def add(self, other: Totals) -> None:
        """Add the counts of ``other``."""
        for name in ("programs", "steps", "errors", "dispatches", "unfused_dispatches", "fused"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.live_share = max(self.live_share, other.live_share)
        self.inexact += other.inexact


@dataclass
class _Difference:
    """Two results that differ, and the place where they differ most."""

    result: int
    at: tuple[int, ...]
    fused: npt.NDArray[Any]
    apart: npt.NDArray[Any]
    is_allowed: bool

    def text(self, operands: list[npt.NDArray[Any]]) -> str:
        """Return a text that shows the values and the bits of the differing elements and of the
        operands.
        """
        read = [_at(operand, self.at) for operand in operands]
        return (
            f"result {self.result} at {self.at} is {_shown(_at(self.fused, self.at))} instead of "
            f"{_shown(_at(self.apart, self.at))}, of {', '.join(map(_shown, read)) or 'nothing'}"
        )


def _at(array: npt.NDArray[Any], place: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return the element that broadcasting puts at ``place``; an empty array is returned
    unchanged.
    """
    place = place[len(place) - array.ndim :] if array.ndim else ()
    inside = (min(i, extent - 1) for i, extent in zip(place, array.shape, strict=False))
    return np.asarray(array[tuple(inside)]) if array.size else array


def _shown(element: npt.NDArray[Any]) -> str:
    if element.size > 1:
        return f"{element.dtype}{element.shape}"
    return f"{element.tolist()!r} (0x{element.tobytes()[::-1].hex()})"


def _sizes_at(like: npt.NDArray[Any], outcome: Outcome) -> npt.NDArray[np.float64]:
    """Return for each element the magnitude that its error is relative to.

    It is the largest finite one among the element, its operands and the sizes that the step noted.
    """
    largest = np.zeros(like.shape)
    sizes = [np.abs(each) for each in outcome.operands if each.dtype.kind in "fc"]
    for size in (np.abs(like), *sizes, *outcome.sizes):
        finite = np.where(np.isfinite(size), size, 0).astype(np.float64)
        try:
            largest = np.maximum(largest, np.broadcast_to(finite, like.shape))
        except ValueError:  # the step made a view, so the shapes differ
            largest = np.maximum(largest, finite.max(initial=0))
    return largest


def _difference(
    number: int, fused: npt.NDArray[Any], apart: npt.NDArray[Any], outcome: Outcome
) -> _Difference | None:
    """Return None for equal arrays; else where they differ most, and whether this difference is
    allowed.
    """
    fused, apart = np.asarray(fused), np.asarray(apart)
    if fused.tobytes() == apart.tobytes():
        return None
    if fused.dtype.kind not in "fc":
        at = np.argwhere(fused != apart)[0]
        return _Difference(number, tuple(map(int, at)), fused, apart, False)
    with np.errstate(all="ignore"):
        same = (fused == apart) | (np.isnan(fused) & np.isnan(apart))
        parts = np.finfo(fused.dtype)
        distance = np.abs(fused.astype(complex) - apart.astype(complex))
        allowed = UNITS * outcome.operations * float(parts.eps) * _sizes_at(apart, outcome)
        allowed = np.maximum(allowed, float(parts.tiny))  # 0 may replace a subnormal number
        excess = np.where(same, 0, np.where(np.isfinite(distance), distance / allowed, np.inf))
    at = np.unravel_index(int(np.argmax(excess)), excess.shape) if excess.size else ()
    place = tuple(map(int, at))
    return _Difference(number, place, fused, apart, bool(np.all(excess <= 1)))


def _judge_steps(seed: int, steady: bool, steps: list[str]) -> str:
    """Return the first step of a program that gives another result with fusion than without.

    Raises
    ------
    DifferenceError
        A step differs by too much, or no step differs.
    """
    first = ""
    for step in range(1, len(steps) + 1):
        fused, apart = (
            Program(seed, steady=steady, part=Part(step, apart=is_apart)).run()
            for is_apart in (False, True)
        )
        pairs = enumerate(zip(fused.read, apart.read, strict=True))
        found = [
            difference
            for number, (one, other) in pairs
            if one[1] is not None
            and (difference := _difference(number, one[1], other[1], apart)) is not None
        ]
        for difference in sorted(found, key=lambda each: each.is_allowed):
            text = f"program {seed}, step {step} of {len(steps)} ({steps[step - 1]}): " + (
                difference.text(apart.operands)
            )
            if not difference.is_allowed:
                raise DifferenceError(text + "\n" + "\n".join(steps))
            first = first or text
    if not first:
        raise DifferenceError(f"program {seed} differs as a whole, and no step of it does.")
    return first


def _compare(seed: int, apart: Outcome, fused: Outcome, *, steady: bool) -> list[str]:
    """Compare two runs. If they differ by no more than is allowed, return the first step that
    differs.
    """

    def refuse(what: str) -> None:
        raise DifferenceError(f"program {seed}: {what}\n" + "\n".join(fused.steps))

    if apart.steps != fused.steps:
        pairs = zip(apart.steps, fused.steps, strict=False)
        refuse(f"steps differ: {next((p for p in pairs if p[0] != p[1]), None)}")
    same = True
    for one, other in zip(apart.read, fused.read, strict=True):
        if (one[1] is None) != (other[1] is None) or one[0] != other[0]:
            refuse(f"{one} and {other}")
        same = same and (one[1] is None or one[1].tobytes() == other[1].tobytes())
    inexact = [] if same else [_judge_steps(seed, steady, fused.steps)]
    if inexact and not steady:
        raise DifferenceError(f"{inexact[0]}\n" + "\n".join(fused.steps))
    for step, (without, with_fusion) in enumerate(zip(apart.live, fused.live, strict=True)):
        if with_fusion > LIVE_SHARE * without:
            refuse(f"{with_fusion} live bytes instead of {without} after step {step}")
    return inexact


def run_programs(first_seed: int, programs: int, *, steady: bool = False) -> Totals:
    """Compare the programs of ``programs`` consecutive seeds, with fusion and without.

    Parameters
    ----------
    first_seed, programs : int
        The first seed, and the number of programs.
    steady : bool
        Use only operations that do not amplify a device's errors, and allow each of them two units
        in the last place. Otherwise use every operation, and compare bit for bit.

    Raises
    ------
    DifferenceError
        Elements, errors or memory differ.
    """
    totals = Totals()
    before = session.set_fusing(False)
    try:
        for seed in range(first_seed, first_seed + programs):
            session.set_fusing(False)
            apart = Program(seed, steady=steady).run()
            session.set_fusing(True)
            fused = Program(seed, steady=steady).run()
            inexact = _compare(seed, apart, fused, steady=steady)
            shares = (b / a for a, b in zip(apart.live, fused.live, strict=True) if a)
            totals.add(
                Totals(
                    1, len(fused.steps), fused.errors, fused.dispatches, apart.dispatches,
                    fused.fused, max(shares, default=0.0), inexact,
                )
            )  # fmt: skip
    finally:
        session.set_fusing(before)
    return totals
