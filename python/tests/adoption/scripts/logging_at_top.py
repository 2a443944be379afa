import logging
import sys
import time

import optuna

logging.basicConfig(
    level=logging.INFO,
    format="%(asctime)s %(name)s %(message)s",
    handlers=[logging.StreamHandler(sys.stderr), logging.FileHandler("train.log")],
)
logger = logging.getLogger(__name__)
optuna.logging.set_verbosity(optuna.logging.WARNING)
START = time.time()
RUN_ID = f"run-{int(START) % 1}"


def objective(trial):
    x = trial.suggest_int("x", 0, 9)
    logger.info("%s: trial %d of %s has x = %d", RUN_ID, trial.number, __name__, x)
    return x * len(RUN_ID) + len(logger.name)


study = optuna.create_study(sampler=optuna.samplers.GridSampler({"x": [0, 5, 9]}, seed=0))
study.optimize(objective, n_trials=3)
logger.info("took %.1f s", time.time() - START)
print(sorted(t.value for t in study.trials))
