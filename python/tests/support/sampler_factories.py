"""Defines samplers that the sampler service of a test creates by their names."""

from __future__ import annotations

import optuna
from optuna.trial import FrozenTrial


def make_sampler() -> optuna.samplers.BaseSampler:
    return optuna.samplers.RandomSampler(seed=5)


class Unable(optuna.samplers.RandomSampler):
    """A sampler that fails before every trial."""

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        raise ZeroDivisionError("no trial")
