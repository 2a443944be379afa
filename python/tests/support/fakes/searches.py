"""Defines the searches of scikit-learn that tests run, and compares their results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from hyperflock._bundle.source.runtime import PACKS, RUNTIME_VERSIONS
from hyperflock.sklearn.points import points_of
from scipy.stats import loguniform, randint
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

IRIS = load_iris(return_X_y=True)
SEARCHES: dict[str, tuple[Any, dict[str, Any]]] = {
    "svc": (SVC(), {"C": loguniform(1e-2, 1e3), "kernel": ["linear", "rbf"]}),
    "forest": (
        RandomForestClassifier(random_state=0),
        {"n_estimators": randint(2, 9), "max_depth": [None, 3]},
    ),
    "boosting": (
        HistGradientBoostingClassifier(random_state=0),
        {"max_iter": randint(2, 9), "learning_rate": loguniform(0.01, 1)},
    ),
    "pipeline": (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        {
            "logisticregression__C": loguniform(0.01, 100),
            "standardscaler__with_mean": [True, False],
        },
    ),
}


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare all that two searches say, apart from times."""
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    for name, expected in theirs.cv_results_.items():
        if name == "params":
            assert ours.cv_results_[name] == expected
        elif "time" not in name:
            np.testing.assert_array_equal(ours.cv_results_[name], expected, err_msg=name)
    for name in ("best_index_", "best_score_", "best_params_"):
        assert getattr(ours, name, None) == getattr(theirs, name, None), name


def candidates_of(grid: Any) -> list[dict[str, Any]]:
    """Return what people read of the candidates of a grid."""
    return points_of(list(ParameterGrid(grid)))


def write_packs(folder: Path) -> Path:
    """Write a list of all packs without their files, for devices that have the packages."""
    folder.mkdir()
    packs = {
        name: {
            "version": pack.version,
            "base": f"/runtime/{name}-0123456789abcdef/",
            "files": [{"name": f"{name}.zip", "bytes": 1, "br": None}],
            "imports": pack.imports,
            "needs": pack.needs,
        }
        for name, pack in PACKS.items()
    }
    listed = {"pyodide": RUNTIME_VERSIONS["pyodide"], "packs": packs}
    (folder / "packs.json").write_text(json.dumps(listed))
    return folder
