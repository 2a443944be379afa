import abc

import numpy as np
import optuna


class Objective(abc.ABC):
    """The base class of the lab's objectives."""

    folds = 3

    def __init__(self, x, y):
        self.x, self.y = x, y
        self._cache = {}

    def __call__(self, trial):
        scores = []
        for fold in range(self.folds):
            scores.append(self.score(trial, self._split(fold)))
            trial.report(scores[-1], fold)
        return float(np.mean(scores))

    def _split(self, fold):
        if fold not in self._cache:
            self._cache[fold] = np.arange(len(self.x)) % self.folds == fold
        return self._cache[fold]

    @abc.abstractmethod
    def score(self, trial, held_out):
        """Return the score of one fold."""


class Ridge(Objective):
    def __init__(self, x, y, *, degree):
        super().__init__(x, y)
        self.degree = degree

    @property
    def features(self):
        return self.x[:, None] ** np.arange(self.degree + 1)

    def score(self, trial, held_out):
        alpha = trial.suggest_float("alpha", 1e-4, 1.0)
        a, b = self.features[~held_out], self.y[~held_out]
        w = np.linalg.solve(a.T @ a + alpha * np.eye(self.degree + 1), a.T @ b)
        return np.abs(self.features[held_out] @ w - self.y[held_out]).mean()


if __name__ == "__main__":
    x = np.linspace(-1, 1, 30)
    objective = Ridge(x, np.tanh(4 * x), degree=3)
    Objective.folds = 5
    study = optuna.create_study()
    for alpha in (0.001, 0.1):
        study.enqueue_trial({"alpha": alpha})
    study.optimize(objective, n_trials=2)
    print(["%.6f" % trial.value for trial in study.trials])
