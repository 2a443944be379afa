"""Compares what was acknowledged with what the database has.

    problems = judge(database, acknowledged, results)

A result counts exactly once: a trial has at most one accepted attempt, each acknowledged result is
stored with the value that was sent, each accepted result was acknowledged, and researchers read the
same values.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fleet import Acknowledged
from owners import Results

Ask = Callable[[str], list[list[str]]]
# The numbers of verdicts and states in the database.
_VERDICTS = ("accepted", "evidence", "recorded")
_FINISHED, _COMPLETE = "1", "1"
_SHOWN = 10


@dataclass(frozen=True)
class _Attempt:
    study: int
    trial: int
    verdict: str
    value: float


def judge(ask: Ask, acknowledged: Iterable[Acknowledged], results: Results) -> list[str]:
    """Return what is wrong, one sentence each.

    Parameters
    ----------
    ask
        Runs SQL and returns rows of texts.
    acknowledged
        What devices were told.
    results
        What researchers have read, by study and trial.
    """
    attempts = _attempts(ask)
    trials = {
        (int(study), int(number)): (state, int(attempt or 0))
        for study, number, state, attempt in ask(
            "SELECT study, number, state, accepted_attempt FROM trials"
        )
    }
    found = [
        *_acknowledged(acknowledged, attempts, trials),
        *_counted_once(attempts, trials),
        *_studies(ask, trials),
        *_read(results, attempts, trials),
    ]
    rest = len(found) - _SHOWN
    return [*found[:_SHOWN], f"{rest} more problems"] if rest > 0 else found


def _attempts(ask: Ask) -> dict[int, _Attempt]:
    rows = ask(
        "SELECT id, study, number, verdict, encode(result_values, 'hex') FROM attempts"
        " WHERE verdict IS NOT NULL"
    )
    found = {}
    for attempt, study, number, verdict, values in rows:
        packed = bytes.fromhex(values)
        value = struct.unpack("<d", packed)[0] if len(packed) == 8 else float("nan")
        found[int(attempt)] = _Attempt(int(study), int(number), _VERDICTS[int(verdict)], value)
    return found


def _acknowledged(
    acknowledged: Iterable[Acknowledged],
    attempts: dict[int, _Attempt],
    trials: dict[tuple[int, int], tuple[str, int]],
) -> Iterable[str]:
    told = set()
    for one in acknowledged:
        told.add(one.attempt)
        stored = attempts.get(one.attempt)
        if stored != _Attempt(one.study, one.trial, one.verdict, one.value):
            yield f"{one} was acknowledged, the database has {stored}"
        if one.verdict == "accepted" and trials.get((one.study, one.trial), ("", 0))[1] != (
            one.attempt
        ):
            yield f"{one} was acknowledged as accepted, but another attempt counts"
    for number, attempt in attempts.items():
        if attempt.verdict == "accepted" and number not in told:
            yield f"attempt {number} was accepted, and its device was never told"


def _counted_once(
    attempts: dict[int, _Attempt], trials: dict[tuple[int, int], tuple[str, int]]
) -> Iterable[str]:
    accepted = Counter(
        (one.study, one.trial) for one in attempts.values() if one.verdict == "accepted"
    )
    for trial, times in accepted.items():
        if times > 1:
            yield f"trial {trial} has {times} accepted results"
    for trial, (state, attempt) in trials.items():
        if state == _COMPLETE and attempts.get(attempt) is None:
            yield f"trial {trial} is complete without a result"


def _studies(ask: Ask, trials: dict[tuple[int, int], tuple[str, int]]) -> Iterable[str]:
    complete = Counter(study for (study, _), (state, _) in trials.items() if state == _COMPLETE)
    for name, state, counted in ask("SELECT study, state, complete FROM study_progress"):
        if state != _FINISHED:
            yield f"study {name} has not finished"
        if int(counted) != complete[int(name)]:
            yield f"study {name} counts {counted} trials and has {complete[int(name)]}"
    for (study, number), (state, _) in trials.items():
        if state != _COMPLETE:
            yield f"trial {number} of study {study} ended in state {state}"


def _read(
    results: Results,
    attempts: dict[int, _Attempt],
    trials: dict[tuple[int, int], tuple[str, int]],
) -> Iterable[str]:
    for study, values in results.items():
        stored = {
            number: attempts[attempt].value
            for (of, number), (_, attempt) in trials.items()
            if of == study and attempt in attempts
        }
        if stored != values:
            wrong = sum(stored.get(number) != value for number, value in values.items())
            yield (
                f"study {study}: the researcher read {len(values)} results, the database has "
                f"{len(stored)}; {wrong} differ"
            )
