"""A model with scikit-learn's interface in NumPy: kernel ridge regression, cross-validated."""

import hyperflock
import numpy as np
import optuna


class KernelRidge:
    """Ridge regression on the values of a kernel (Saunders, Gammerman and Vovk, 1998)."""

    def __init__(self, kernel, gamma, alpha):
        self.kernel, self.gamma, self.alpha = kernel, gamma, alpha

    def fit(self, x, y):
        self.x = x
        gram = self._values(x, x)
        self.weights = np.linalg.solve(gram + self.alpha * np.eye(len(x)), y)
        return self

    def score(self, x, y):
        rest = y - self._values(x, self.x) @ self.weights
        return 1.0 - (rest**2).sum() / ((y - y.mean()) ** 2).sum()

    def _values(self, a, b):
        if self.kernel == "linear":
            return a @ b.T
        distances = ((a[:, None] - b[None]) ** 2).sum(axis=2)
        return np.exp(-self.gamma * distances)


def make_data():
    stream = np.random.RandomState(0)
    x = stream.uniform(-2, 2, (90, 2))
    return x, np.sin(3 * x[:, 0]) + x[:, 1] ** 2 + stream.normal(0, 0.1, 90)


def objective(trial):
    kernel = trial.suggest_categorical("kernel", ["linear", "rbf"])
    gamma = trial.suggest_float("gamma", 1e-3, 1e2, log=True) if kernel == "rbf" else 0.0
    alpha = trial.suggest_float("alpha", 1e-4, 1e1, log=True)
    x, y = make_data()
    scores = []
    for fold in range(3):
        left_out = np.arange(len(x)) % 3 == fold
        model = KernelRidge(kernel, gamma, alpha).fit(x[~left_out], y[~left_out])
        scores.append(model.score(x[left_out], y[left_out]))
    return float(np.mean(scores))


if __name__ == "__main__":
    sampler = optuna.samplers.TPESampler(seed=12)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    print(study.best_value, study.best_params)
