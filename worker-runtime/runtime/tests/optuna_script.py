"""A script like those of Optuna's tutorials. All names that it imports at its top must exist in a
browser.
"""

import optuna
import optuna.visualization as vis
from optuna.pruners import MedianPruner
from optuna.samplers import TPESampler


def objective(trial: optuna.Trial) -> float:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optimizer = trial.suggest_categorical("optimizer", ["sgd", "adam"])
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 3)
    trial.set_user_attr("optimizer", optimizer)
    for step in range(2):
        trial.report(rate * layers, step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    assert isinstance(trial, optuna.trial.Trial)
    # A study inside the trial uses Optuna's own sampler, also in a browser.
    inner = optuna.create_study(sampler=TPESampler(seed=1), pruner=MedianPruner())
    inner.optimize(lambda t: (t.suggest_float("x", -1, 1) - rate) ** 2, n_trials=3)
    assert len(inner.trials) == 3
    assert inner.trials[0].state == optuna.trial.TrialState.COMPLETE
    return rate * layers


if __name__ == "__main__":
    study = optuna.create_study(sampler=TPESampler(), pruner=MedianPruner())
    study.optimize(objective, n_trials=100)
    vis.plot_optimization_history(study).show()
