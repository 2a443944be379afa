"""The objective of a `SearchCV`: it fits and scores one candidate on every fold.

This file travels to devices as source, together with the value of `SEARCH` (objective.py). A device
has another version of scikit-learn, so the code uses names that all versions have. It is not
imported by its name, neither here nor there.
"""

from __future__ import annotations

import json
import math
import sys
import time
import traceback
from importlib import import_module
from typing import Any

import numpy as np

# What one search sets: estimator, candidates, scoring, metric, n_folds, error_score, train_score,
# inputs, fit_params, score_params and config.
SEARCH: dict[str, Any] = {}
# The classes that scikit-learn hides until one of its modules is imported.
EXPERIMENTAL = {
    "IterativeImputer": "enable_iterative_imputer",
    "HalvingGridSearchCV": "enable_halving_search_cv",
    "HalvingRandomSearchCV": "enable_halving_search_cv",
}
# The longest traceback that a result contains, in characters.
MAX_TRACEBACK = 3000


def objective(trial: Any) -> dict[str, float]:
    """Fit and score the trial's candidate on every fold, and return its mean test score."""
    from sklearn import config_context

    saved = trial.resume()
    folds = json.loads(saved["folds"]) if saved else []
    with config_context(**SEARCH["config"]):
        inputs = {name: input_of(trial.data[name], told) for name, told in SEARCH["inputs"].items()}
        for number in range(len(folds), SEARCH["n_folds"]):
            split = [trial.data["folds"][f"{part}-{number}"] for part in ("train", "test")]
            folds.append(fold(trial.params["candidate"], inputs, *split))
            means = means_of(folds)
            trial.report(means.get(metric_of(means), math.nan), number + 1)
            if trial.checkpoint_due():
                trial.checkpoint({"folds": json.dumps(folds)})
    trial.set_user_attr("folds", [told_of(one) for one in folds])
    if all(one["error"] for one in folds):
        raise RuntimeError(f"all {len(folds)} fits failed; the first one:\n{folds[0]['error']}")
    means = means_of(folds)
    # A value must be finite. Without a finite score the candidate is the worst one.
    value = means.get(metric_of(means), -sys.float_info.max)
    return {"value": value, **{f"mean_test_{k}": v for k, v in means.items()}}


def fold(candidate: int, inputs: dict[str, Any], train: Any, test: Any) -> dict[str, Any]:
    """Fit and score a candidate on one fold."""
    from sklearn.base import clone
    from sklearn.metrics import check_scoring
    from sklearn.utils.metaestimators import _safe_split

    raises = SEARCH["error_score"] == "raise"
    estimator = clone(built(SEARCH["estimator"]))
    estimator.set_params(**{k: built(v) for k, v in SEARCH["candidates"][candidate].items()})
    scorer = check_scoring(estimator, built(SEARCH["scoring"]), raise_exc=raises)
    x, y = inputs["X"], inputs.get("y")
    x_train, y_train = _safe_split(estimator, x, y, train)
    x_test, y_test = _safe_split(estimator, x, y, test, train)
    told: dict[str, Any] = {"test": {}, "train": {}, "several": False, "error": ""}
    fit_params = {name: built(value) for name, value in SEARCH["fit_params"].items()}
    by_sample = inputs.get("fit_params", {})
    fit_params |= {name: values[train] for name, values in by_sample.items()}
    started = time.perf_counter()
    try:
        estimator.fit(x_train, *(() if y is None else (y_train,)), **fit_params)
    except Exception:
        if raises:
            raise
        told["error"] = traceback.format_exc()[-MAX_TRACEBACK:]
    told["fit_time"] = time.perf_counter() - started
    if not told["error"]:
        started = time.perf_counter()
        given = {name: by_sample[name][test] for name in SEARCH["score_params"]}
        told["test"], told["several"] = scores(scorer, estimator, x_test, y_test, given)
        told["score_time"] = time.perf_counter() - started
        if SEARCH["train_score"]:
            given = {name: by_sample[name][train] for name in SEARCH["score_params"]}
            told["train"], _ = scores(scorer, estimator, x_train, y_train, given)
    return {"score_time": 0.0, **told}


def scores(
    scorer: Any, estimator: Any, x: Any, y: Any, given: dict[str, Any]
) -> tuple[dict[str, float], bool]:
    """Return the scores by name, and whether the scorer returned several.

    If a scorer raises, its score is the error score.
    """
    from warnings import warn

    instead = SEARCH["error_score"]
    try:
        found = scorer(estimator, x, *(() if y is None else (y,)), **given)
    except Exception:
        if instead == "raise":
            raise
        warn(f"Scoring failed:\n{traceback.format_exc()}", stacklevel=2)
        return {"score": instead}, False
    several = isinstance(found, dict)
    named = found if several else {"score": found}
    # A scorer of several metrics returns the traceback of one that raised.
    named = {name: instead if isinstance(value, str) else value for name, value in named.items()}
    return {name: number_of(value, name) for name, value in named.items()}, several


def number_of(value: Any, name: str) -> float:
    """Return a score as a number.

    Raises
    ------
    ValueError
        It is none. The sentence is scikit-learn's.
    """
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, int | float):
        raise ValueError(
            f"scoring must return a number, got {value!r} ({type(value)}) instead. (scorer={name})"
        )
    return float(value)


def means_of(folds: list[dict[str, Any]]) -> dict[str, float]:
    """Return the mean of each finite test score."""
    found: dict[str, list[float]] = {}
    for one in folds:
        for name, value in one["test"].items():
            if math.isfinite(value):
                found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in found.items()}


def metric_of(means: dict[str, float]) -> str:
    """Return the metric that the search refits by, or else the first one."""
    return SEARCH["metric"] if SEARCH["metric"] in means else next(iter(means), "")


def told_of(one: dict[str, Any]) -> dict[str, Any]:
    """Return a fold with texts in place of numbers that JSON lacks."""
    return {
        **one,
        **{
            part: {
                name: value if math.isfinite(value) else str(value)
                for name, value in one[part].items()
            }
            for part in ("test", "train")
        },
    }


def input_of(value: Any, told: dict[str, Any]) -> Any:
    """Return an input of `fit` in the form that it had on the researcher's machine."""
    if told["form"] == "objects":
        made = np.empty(told["shape"], dtype=object)
        made.ravel()[:] = value
        return made
    if told["form"] == "sparse":
        sparse = import_module("scipy.sparse")
        parts = (value["data"], value["indices"], value["indptr"])
        return getattr(sparse, told["class"])(parts, shape=tuple(value["shape"].tolist()))
    return value


def built(told: Any) -> Any:
    """Return the value that estimators.py has described."""
    kind, *parts = told
    if kind == "value":
        return parts[0]
    if kind in ("list", "tuple"):
        items = [built(item) for item in parts[0]]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {key: built(item) for key, item in parts[0]}
    if kind == "name":
        return named(*parts)
    if kind == "scorer":
        function, sign, response, options = parts
        make = named("sklearn.metrics", "make_scorer")
        return make(
            built(function),
            response_method=response,
            greater_is_better=sign > 0,
            **{name: built(value) for name, value in options.items()},
        )
    cls, params, output = parts
    made = built(cls)(**{name: built(value) for name, value in params.items()})
    return made.set_output(**output) if output else made


def named(module: str, name: str) -> Any:
    """Return a class or a function of scikit-learn."""
    if name in EXPERIMENTAL:
        import_module(f"sklearn.experimental.{EXPERIMENTAL[name]}")
    return getattr(import_module(module), name)
