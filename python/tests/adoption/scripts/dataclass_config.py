from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import ClassVar, NamedTuple

import optuna


class Schedule(Enum):
    CONSTANT = "constant"
    COSINE = "cosine"

    def factor(self, t: float) -> float:
        return 1.0 if self is Schedule.CONSTANT else 1.0 - t * t


class Bounds(NamedTuple):
    low: float
    high: float = 5.0

    def clip(self, value: float) -> float:
        return min(max(value, self.low), self.high)


@dataclass
class OptimizerConfig:
    rate: float = 0.1
    schedule: Schedule = Schedule.COSINE
    COUNT: ClassVar[int] = 0


@dataclass(frozen=True)
class Config:
    steps: int = 3
    bounds: Bounds = Bounds(-1.0)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    tags: list[str] = field(default_factory=list)


config = Config()


def objective(trial: optuna.Trial) -> float:
    cfg = replace(config, optimizer=replace(config.optimizer, rate=trial.suggest_float("rate", 0, 1)))
    x = 4.0
    for step in range(cfg.steps):
        x -= cfg.optimizer.rate * cfg.optimizer.schedule.factor(step / cfg.steps) * x
    return cfg.bounds.clip(x) + len(asdict(cfg)) + len(cfg.tags)


if __name__ == "__main__":
    config = Config(steps=7, tags=["a", "b"])
    config.optimizer.schedule = Schedule.CONSTANT
    study = optuna.create_study()
    for rate in (0.1, 0.3):
        study.enqueue_trial({"rate": rate})
    study.optimize(objective, n_trials=2)
    print([round(trial.value, 8) for trial in study.trials])
