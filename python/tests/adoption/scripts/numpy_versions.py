"""Runs on NumPy 1.26 and 2, as its author had to move from one to the other."""
import numpy as np
import optuna

trapezoid = np.trapezoid if hasattr(np, "trapezoid") else np.trapz
NEW = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 0)
float_type = np.float32
pixels = np.arange(250, dtype=np.uint8)

if NEW:

    def brighter(image, by):
        return np.minimum(image.astype(np.int16) + by, 255)

else:

    def brighter(image, by):
        return np.clip(image + np.int16(by), None, 255)


def objective(trial):
    by = trial.suggest_categorical("by", [0, 3, 100])
    area = trapezoid(brighter(pixels, by) / float_type(255), dx=0.5)
    return float(area)


study = optuna.create_study(sampler=optuna.samplers.GridSampler({"by": [0, 3, 100]}, seed=0))
study.optimize(objective, n_trials=3)
print(sorted((t.params["by"], round(t.value, 3)) for t in study.trials))
