"""Runs an Optuna study whose later trials are worse than the first ones and are pruned; one raises
an error.

It prints the study's trials as one line of JSON.
"""

import json
import math

import optuna

# These points are equally good, so none of them is pruned, in whatever order they end. The second
# one returns inf.
GOOD = [
    {"x": 1.0, "shape": "square"},
    {"x": -1.0, "shape": "square"},
    {"x": 1.0, "shape": "abs", "slope": 1},
    {"x": 0.5, "shape": "abs", "slope": 2},
]
BAD = 3


class UnluckyError(ValueError):
    """The error of the last trial."""


def objective(trial: optuna.Trial) -> float:
    """Descend along a curve whose height depends on the distance of x from 0."""
    x = trial.suggest_float("x", -9.0, 9.0)
    shape = trial.suggest_categorical("shape", ["square", "abs"])
    height = x * x if shape == "square" else trial.suggest_int("slope", 1, 3) * abs(x)
    trial.set_user_attr("seen", f"{trial.user_attrs['origin']} {shape}")
    trial.set_constraint("height", height - 50)
    if x == 9.0:
        raise UnluckyError("nine")
    for step in range(5):
        trial.report(height / (step + 1), step)
        if trial.should_prune():
            raise optuna.TrialPruned(f"at step {step}")
    return math.inf if x == -1.0 else height


def main() -> None:
    """Run the study on devices."""
    import hyperflock.optuna

    study = optuna.create_study(
        study_name="pruned",
        sampler=optuna.samplers.RandomSampler(seed=1),
        # One of the four good trials may still run on one device when the other device gets a bad
        # trial. So three finished trials must suffice for pruning.
        pruner=optuna.pruners.MedianPruner(n_startup_trials=len(GOOD) - 1),
    )
    for params in [*GOOD, *BAD * [{"x": 8.0, "shape": "square"}], {"x": 9.0}]:
        study.enqueue_trial(params, user_attrs={"origin": "by hand"})
    n_trials = len(study.trials)
    hyperflock.optuna.optimize(study, objective, n_trials=n_trials, catch=(UnluckyError,))
    told = [
        {
            "state": trial.state.name,
            "params": trial.params,
            "value": str(trial.value),
            "steps": sorted(trial.intermediate_values),
            "user": trial.user_attrs,
            "constraint": trial.system_attrs["constraints:height"],
        }
        for trial in study.trials
    ]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
