"""Records the order of an owner's trials and answers, and repeats them on plain Optuna.

    with recording() as events:
        hyperflock.optuna.optimize(study, ...)       # with any number of devices
    plain = replayed(events, sampler, pruner, study.study_name)

There may be one owner at a time. Everything happens in the thread that optimizes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeAlias
from unittest.mock import patch

import optuna
from hyperflock._transport.messages import (
    FinishedCall,
    OwnerAnswer,
    OwnerCallItem,
    PointsCall,
    PruneCall,
    SuggestCall,
)
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.study_import import STATES
from optuna.distributions import json_to_distribution
from optuna.pruners import BasePruner
from optuna.samplers import BaseSampler
from optuna.trial import TrialState

# An event: the number of a trial that the owner created, or a call with the owner's answer.
Event: TypeAlias = int | tuple[OwnerCallItem, OwnerAnswer | None]


@contextmanager
def recording() -> Iterator[list[Event]]:
    """Record what owners do, in order."""
    events: list[Event] = []
    ask, answer = Owner.ask, Owner.answer

    def asked(self: Owner) -> int:
        number = ask(self)
        events.append(number)
        return number

    def answered(self: Owner, call: OwnerCallItem) -> OwnerAnswer | None:
        told = answer(self, call)
        events.append((call, told))
        return told

    with patch.object(Owner, "ask", asked), patch.object(Owner, "answer", answered):
        yield events


def replayed(
    events: Sequence[Event], sampler: BaseSampler, pruner: BasePruner, name: str
) -> optuna.Study:
    """Repeat the events on plain Optuna. Fail if an answer differs."""
    study = optuna.create_study(study_name=name, sampler=sampler, pruner=pruner)
    trials: dict[int, optuna.Trial] = {}
    for event in events:
        if isinstance(event, int):
            trials[event] = study.ask()
            assert trials[event].number == event
            continue
        call, answer = event
        trial = trials[call.trial]
        if isinstance(call, PointsCall | PruneCall | FinishedCall):
            for step, value in call.points:
                trial.report(value, step)
        if isinstance(call, SuggestCall):
            value = trial._suggest(call.args.name, json_to_distribution(call.args.distribution))
            assert answer is not None
            assert answer.value == json.dumps(value)
        elif isinstance(call, PruneCall):
            at = call.args.step
            if isinstance(at, int) and at not in study.trials[call.trial].intermediate_values:
                trial.report(math.nan, at)  # no message carries NaN
            assert answer is not None
            assert answer.value == json.dumps(bool(trial.should_prune())), call
        elif isinstance(call, FinishedCall):
            state = STATES[call.args.state]
            values = call.args.values if state is TrialState.COMPLETE else None
            study.tell(call.trial, values, state)
    return study


def answers(events: Sequence[Event]) -> list[tuple[int, int, bool]]:
    """Return what the owner answered to each ``should_prune``, as (trial, step, answer)."""
    return [
        (call.trial, call.args.step, json.loads(answer.value))
        for call, answer in (event for event in events if not isinstance(event, int))
        if isinstance(call, PruneCall) and isinstance(call.args.step, int)
        if answer is not None and isinstance(answer.value, str)
    ]


def turns(events: Sequence[Event]) -> int:
    """Count how often a call came from another trial than the call before."""
    heard = [event[0].trial for event in events if not isinstance(event, int)]
    return sum(one != other for one, other in pairwise(heard))
