"""Samplers that a sampler service of a test makes by name."""

from __future__ import annotations

import optuna
from optuna.trial import FrozenTrial


def make_sampler() -> optuna.samplers.BaseSampler:
    return optuna.samplers.RandomSampler(seed=5)


class Unable(optuna.samplers.RandomSampler):
    """A sampler that can begin no trial."""

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        raise ZeroDivisionError("no trial")
