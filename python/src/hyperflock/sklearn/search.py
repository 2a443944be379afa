"""Searches the parameters of an estimator of scikit-learn on volunteers' devices.

    search = SearchCV(SVC(), {"C": loguniform(1, 100)}, n_iter=20, cv=5, random_state=0)
    search.fit(X, y)
    search.best_params_, search.cv_results_["mean_test_score"], search.predict(X)

The folds are made here, each candidate is a trial on a device, and the best candidate is fitted
again here. The thread that calls `fit` waits for the devices.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import (
    _insert_error_scores,
    _warn_or_raise_about_fit_failures,
)
from sklearn.utils import indexable
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_method_params, _num_samples

from hyperflock._base.errors import HyperflockError
from hyperflock.sklearn.crowd import run_here, run_on_devices
from hyperflock.sklearn.estimators import described
from hyperflock.sklearn.inputs import folds_of, inputs_of
from hyperflock.sklearn.objective import objective_of
from hyperflock.sklearn.outcomes import fit_results
from hyperflock.sklearn.points import points_of
from hyperflock.sklearn.version import differences

if TYPE_CHECKING:
    from hyperflock._client.client import Client

# A trial's attributes have at most 56 KiB. One fold takes about so many bytes of them for its
# times, and for each score.
_MAX_FOLD_BYTES = 48 * 1024
_FOLD_BYTES, _SCORE_BYTES = 120, 40


class SearchCV(BaseSearchCV):  # type: ignore[misc]
    """Searches an estimator's parameters by cross-validation on devices that volunteers lend.

    The interface is that of scikit-learn's `RandomizedSearchCV`, and so are the results: with the
    same ``random_state`` and ``cv``, `cv_results_` has the same scores and ranks. Each candidate is
    a trial of one study, which fits and scores every fold.

    Parameters
    ----------
    estimator
        An estimator, or a pipeline. It travels as its class and its parameters. Classes of your own
        travel as source.
    space
        A dict of parameters with lists of values or distributions of SciPy, or a list of such
        dicts.
    n_iter
        The number of candidates that are drawn. None means every combination of the lists, as in
        `GridSearchCV`.
    scoring
        As in scikit-learn: the name of a score, a function ``scorer(estimator, X, y)``, which
        travels as source, a list or dict of several, or None for the estimator's ``score``.
    refit
        Whether the best candidate is fitted again here, with all data. With several scores: the
        name of the one that decides. Or a function that returns the index of the best candidate
        from `cv_results_`.
    cv
        The number of folds, a splitter, or the folds themselves. They are made here.
    random_state
        Determines which candidates are drawn.
    error_score
        The score of a fold whose fit fails, or ``"raise"``.
    return_train_score
        Whether `cv_results_` also has the scores of the training samples.
    client
        The `Client` that submits. None means ``hyperflock.Client()``.
    local
        Whether to run all fits in this process, one after the other, without a server.
    name
        The study's name. None means a name with the estimator's class.
    options
        More options of `Client.grid`, such as ``{"time_limit_s": 300}``.

    Attributes
    ----------
    cv_results_ : dict
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, \
multimetric_, classes_, n_features_in_, feature_names_in_
        As in `RandomizedSearchCV`.
    study_id_ : int or None
        The id of the study; None for a local run.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: limits
            for name, limits in BaseSearchCV._parameter_constraints.items()
            if name not in ("n_jobs", "pre_dispatch", "verbose")
        },
        "space": [dict, list],
        "n_iter": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "client": "no_validation",
        "local": ["boolean"],
        "name": [str, None],
        "options": [dict, None],
    }

    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_iter: int | None = 10,
        scoring: Any = None,
        refit: bool | str | Callable[..., int] = True,
        cv: Any = None,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        client: Client | None = None,
        local: bool = False,
        name: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.n_iter = n_iter
        self.scoring = scoring
        self.refit = refit
        self.cv = cv
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.client = client
        self.local = local
        self.name = name
        self.options = options

    def fit(self, X: Any, y: Any = None, **params: Any) -> SearchCV:
        """Run the search and wait for its end.

        If this is interrupted, the study goes on at the server. With ``name`` and
        ``options={"once": True}``, the same call finds it again.

        Parameters
        ----------
        X, y
            Samples and targets: arrays, sparse matrices, DataFrames of pandas or lists.
        **params
            Parameters of the estimator's ``fit``, such as ``sample_weight``, and ``groups`` for the
            splitter.

        Raises
        ------
        BundleError, DataError
            Something cannot be sent. Nothing has been sent then.
        FitFailedError
            With ``error_score="raise"``, a fit failed on a device.
        HyperflockError
            ``search_incomplete``: the study was cancelled. Also the errors of `Client.grid`.
        ValueError
            All fits failed, or as in `RandomizedSearchCV`.
        """
        self._validate_params()
        scorers, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        _refuse_routing(params)
        routed = self._get_routed_params_for_fit(params)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = splitter.get_n_splits(X, y, **routed.splitter.split)
        estimator = clone(self.estimator)
        candidates = list(self._candidates())
        for candidate in candidates:
            clone(estimator).set_params(**clone(candidate, safe=False))
        folds = list(splitter.split(X, y, **routed.splitter.split))
        self._check_size(candidates, folds, scorers)
        inputs = (X, y, routed.estimator.fit, routed.scorer.score)
        out = self._results(estimator, candidates, folds, scorers, inputs)
        _warn_or_raise_about_fit_failures(out, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(out, self.error_score)
        results = self._format_results(candidates, self.n_splits_, out)
        self._choose(results, out, refit_metric)
        if self.refit:
            self._refit(estimator, X, y, routed.estimator.fit)
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        self.cv_results_ = results
        return self

    def _candidates(self) -> Iterable[dict[str, Any]]:
        if self.n_iter is None:
            grid: Iterable[dict[str, Any]] = ParameterGrid(self.space)
            return grid
        drawn: Iterable[dict[str, Any]] = ParameterSampler(
            self.space, self.n_iter, random_state=self.random_state
        )
        return drawn

    def _check_size(self, candidates: Sequence[Any], folds: Sequence[Any], scorers: Any) -> None:
        if len(folds) != self.n_splits_:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {self.n_splits_} splits, got {len(folds)}"
            )
        if not candidates or not folds:
            raise ValueError(
                "No fits were performed. Was the CV iterator empty? Were there no candidates?"
            )
        scores = len(getattr(scorers, "_scorers", "1")) * (1 + self.return_train_score)
        most = _MAX_FOLD_BYTES // (_FOLD_BYTES + _SCORE_BYTES * scores)
        if len(folds) > most and not self.local:
            raise HyperflockError(
                f"the search has {len(folds)} folds, but one trial can send the scores of {most}",
                code="too_many",
                field="cv",
            )

    def _results(
        self,
        estimator: Any,
        candidates: Sequence[Mapping[str, Any]],
        folds: Sequence[Any],
        scorers: Any,
        inputs: tuple[Any, Any, Mapping[str, Any], Mapping[str, Any]],
    ) -> list[dict[str, Any]]:
        """Return what `sklearn` would get from its own fits, candidate by candidate."""
        X, y, fit_params, score_params = inputs
        samples = _num_samples(X)
        by_sample = {
            name: value
            for name, value in {**score_params, **fit_params}.items()
            if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == samples
        }
        data, forms = inputs_of(X, y, by_sample)
        data["folds"] = folds_of(folds)
        objective = objective_of(
            {
                "estimator": described(estimator, "the estimator"),
                "candidates": [
                    {name: described(value, f"'{name}' of the space") for name, value in c.items()}
                    for c in candidates
                ],
                "scoring": described(self.scoring, "the scoring"),
                "metric": self.refit if isinstance(self.refit, str) else "",
                "n_folds": len(folds),
                "error_score": self.error_score,
                "train_score": bool(self.return_train_score),
                "inputs": forms,
                "fit_params": {
                    name: described(value, f"'{name}' of fit")
                    for name, value in fit_params.items()
                    if name not in by_sample
                },
                "score_params": sorted(score_params),
                "config": _changed_config(),
            }
        )
        points = points_of(candidates)
        if self.local:
            raises = self.error_score == "raise"
            self.study_id_, outcomes = None, run_here(objective, points, data, raises=raises)
        else:
            for sentence in differences():
                warnings.warn(f"{sentence}, so scores may differ", stacklevel=3)
            self.study_id_, outcomes = run_on_devices(
                self.client,
                objective,
                points,
                data,
                name=self.name or f"SearchCV of {type(estimator).__name__}",
                options=dict(self.options or {}),
            )
        return fit_results(outcomes, folds, getattr(scorers, "_scorers", None), self)

    def _choose(
        self, results: dict[str, Any], out: Sequence[Mapping[str, Any]], metric: Any
    ) -> None:
        """Set what `fit` says of the best candidate."""
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(out[0]["test_scores"])
            metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]

    def _refit(self, estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        """Fit the best candidate to all data, in this process."""
        best = clone(estimator).set_params(**clone(self.best_params_, safe=False))
        started = time.time()
        best.fit(X, *(() if y is None else (y,)), **fit_params)
        self.refit_time_ = time.time() - started
        self.best_estimator_ = best
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def _refuse_routing(params: Mapping[str, Any]) -> None:
    if params and get_config()["enable_metadata_routing"]:
        raise HyperflockError(
            "parameters of fit cannot be routed on devices; set enable_metadata_routing to False",
            code="bad_field",
            field=next(iter(params)),
        )


def _changed_config() -> dict[str, Any]:
    """Return the settings of scikit-learn that change what a fit computes or is given."""
    config = get_config()
    return {name: config[name] for name in ("assume_finite", "transform_output")}
