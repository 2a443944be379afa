"""Runs a grid of scikit-learn's classifiers on volunteers, and compares them with CPython.

    python with_sklearn.py

The objective imports scikit-learn and pandas, which a volunteer's browser fetches for this study.
The exit code is 1, with a sentence, if a mean accuracy differs from the one of the same code here.
"""

import sys
from typing import Any

import pandas
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

NAMES = ("svc", "linear_svc", "forest", "neighbors", "logistic", "frame")


def objective(trial: Any) -> float:
    name = trial.params["name"]
    features, target = load_digits(n_class=4, return_X_y=True)
    estimator: Any
    if name == "svc":
        estimator = SVC(gamma=0.001)
    elif name == "linear_svc":
        estimator = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    elif name == "forest":
        estimator = RandomForestClassifier(10, random_state=0, n_jobs=2)
    elif name == "neighbors":
        estimator = KNeighborsClassifier(3)
    elif name == "logistic":
        estimator = make_pipeline(StandardScaler(), LogisticRegression(max_iter=50))
    else:
        frame = load_breast_cancer(as_frame=True).frame
        means = frame.groupby("target").mean()
        assert isinstance(means, pandas.DataFrame)
        assert means.shape == (2, 30)
        features, target = frame.drop(columns="target").to_numpy(), frame["target"].to_numpy()
        estimator = make_pipeline(StandardScaler(), SVC())
    scores = cross_val_score(estimator, features, target, cv=3)
    for fold, score in enumerate(scores):
        trial.report(float(score), step=fold + 1)
    return float(scores.mean())


if __name__ == "__main__":
    import hyperflock

    client = hyperflock.Client()
    study = client.grid(objective, {"name": list(NAMES)}, direction="maximize", name="packs")
    study.wait()
    wrong = []
    for trial in study.trials:
        there, here = trial.value, hyperflock.run_local(objective, trial.params).value
        print(f"{trial.params['name']}: {there} there, {here} here")
        if there is None or abs(there - here) > 1e-12:
            wrong.append(trial.params["name"])
    if wrong or len(study.trials) != len(NAMES):
        sys.exit(f"other accuracies than in CPython: {', '.join(wrong)}")
