"""Runs batches of programs in NumPy and in array-core's C++, and says where they first differ."""

from __future__ import annotations

import array

import numpy as np

from array_core_fuzz.probe import Runner
from array_core_fuzz.programs import Batch, DifferenceError, Generator, Totals
from array_core_fuzz.source import numpy_source

PROGRAMS_A_BATCH = 250


def _batch(seeds: range) -> Batch:
    batch = Batch()
    generator = Generator(batch)
    for seed in seeds:
        generator.make(seed)
    return batch


def _difference(batch: Batch, runner: Runner) -> str | None:
    words = np.frombuffer(array.array("q", batch.words), dtype=np.int64)
    results, contents = runner.run(words, batch.programs)
    expected = np.frombuffer(array.array("q", batch.results), dtype=np.int64)
    if not np.array_equal(results, expected):
        common = min(len(results), len(expected))
        differs = np.flatnonzero(results[:common] != expected[:common])
        at = int(differs[0]) if len(differs) else common
        return (
            f"results differ at word {at} of {len(expected)}:\n"
            f"numpy:      ...{expected[max(0, at - 12) : at + 12].tolist()}...\n"
            f"array-core: ...{results[max(0, at - 12) : at + 12].tolist()}..."
        )
    wanted = b"".join(batch.contents)
    if contents != wanted:
        pairs = zip(contents, wanted, strict=False)
        at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(contents), len(wanted)))
        return f"contents differ at byte {at} of {len(wanted)} ({len(contents)} by array-core)"
    return None


def run_programs(first_seed: int, programs: int) -> Totals:
    """Compare the programs of ``programs`` consecutive seeds.

    Raises
    ------
    DifferenceError
        Some program's shapes, strides, flags, errors or contents are not NumPy's.
    """
    runner = Runner()
    totals = Totals()
    end = first_seed + programs
    for begin in range(first_seed, end, PROGRAMS_A_BATCH):
        seeds = range(begin, min(begin + PROGRAMS_A_BATCH, end))
        batch = _batch(seeds)
        if _difference(batch, runner) is not None:
            _explain(seeds, runner)
        totals.add(batch)
    return totals


def _explain(seeds: range, runner: Runner) -> None:
    """Find the program of the batch that differs and raise with its code."""
    for seed in seeds:
        batch = _batch(range(seed, seed + 1))
        difference = _difference(batch, runner)
        if difference is not None:
            raise DifferenceError(f"program {seed}: {difference}\n\n{numpy_source(batch.words)}")
    raise DifferenceError(f"programs {seeds} differ only when run together")
