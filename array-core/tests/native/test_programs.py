"""Tests that random programs of views have NumPy's shapes, strides, flags, errors and contents."""

from __future__ import annotations

import random

import numpy as np
import pytest
from array_core_fuzz import runner
from array_core_fuzz.keys import KeyMaker, read_key
from array_core_fuzz.probe import Runner, Words
from array_core_fuzz.programs import Batch, Generator
from array_core_fuzz.runner import DifferenceError, run_programs
from array_core_fuzz.source import numpy_source

PROGRAMS = 20_000


def test_random_programs_equal_numpy() -> None:
    totals = run_programs(first_seed=0, programs=PROGRAMS)
    assert totals.programs == PROGRAMS
    assert totals.steps > 4 * PROGRAMS
    assert totals.assignments > PROGRAMS // 3
    # Some steps raise errors, but most do not.
    assert 0.01 * totals.steps < totals.errors < 0.2 * totals.steps


def test_a_difference_is_found_and_shown_as_numpy_code(monkeypatch: pytest.MonkeyPatch) -> None:
    class WrongRunner(Runner):
        def run(self, words: Words, programs: int) -> tuple[Words, bytes]:
            results, contents = super().run(words, programs)
            return results, contents[:-1] + bytes([contents[-1] ^ 1])

    monkeypatch.setattr(runner, "Runner", WrongRunner)
    with pytest.raises(DifferenceError, match="import numpy as np"):
        run_programs(first_seed=0, programs=10)


def test_a_programs_code_does_what_the_program_did(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(200):
        batch = Batch()
        Generator(batch).make(seed)
        with np.errstate(over="ignore"):
            exec(numpy_source(batch.words), {})
        printed = [
            line.rsplit(" ", 1)[1]
            for line in capsys.readouterr().out.splitlines()
            if line.startswith("(")
        ]
        contents = b"".join(batch.contents).hex()
        assert contents.startswith("".join(printed)), seed
        assert printed


def test_indices_that_a_device_does_not_look_at_lie_in_bounds() -> None:
    rng = random.Random(0)
    maker = KeyMaker(rng)
    seen = 0
    for _ in range(4_000):
        shape = tuple(rng.randrange(6) for _ in range(rng.randrange(6)))
        words, key = maker.make(shape)
        on_host: list[bool] = []
        read_key(iter(words), lambda _, host, to=on_host: to.append(host))  # type: ignore[misc]
        if any(on_host):
            continue
        message = ""
        try:
            np.empty(shape)[key]
        except IndexError as error:
            message = str(error)
        # An index into an axis of extent 0 is refused without a look at its value.
        assert "out of bounds" not in message or "size 0" in message, (shape, key)
        seen += 1
    assert seen > 1_000


def test_the_same_seed_gives_the_same_program() -> None:
    first, second = Batch(), Batch()
    Generator(first).make(1234)
    Generator(second).make(1234)
    assert first == second
