"""Tests that `SearchCV` gives what scikit-learn's own searches give, with its fits in this process.

test_on_devices.py tests the same with devices.
"""

from __future__ import annotations

import pickle
import runpy
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from example_files import EXAMPLES
from fakes.searches import IRIS, SEARCHES, assert_same, candidates_of
from hyperflock import Client, HyperflockError
from hyperflock.sklearn import FitFailedError, SearchCV
from hyperflock.sklearn.outcomes import Outcome, fit_results
from scipy.sparse import csr_matrix
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, RandomizedSearchCV, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import estimator_checks_generator

X, Y = IRIS
SPACE = {"C": loguniform(1e-2, 1e3), "kernel": ["linear", "rbf"]}


def _both(estimator: Any, space: Any, *data: Any, fit: Any = None, **options: Any) -> SearchCV:
    """Run both searches, compare them, and return ours."""
    theirs_of = GridSearchCV if options.get("n_iter", 1) is None else RandomizedSearchCV
    ours = SearchCV(estimator, space, local=True, **options).fit(*data, **(fit or {}))
    options = {name: value for name, value in options.items() if value is not None}
    theirs = theirs_of(estimator, space, **options).fit(*data, **(fit or {}))
    assert_same(ours, theirs)
    return ours


@pytest.mark.parametrize("name", SEARCHES)
def test_scores_and_ranks_are_those_of_scikit_learn(name: str) -> None:
    estimator, space = SEARCHES[name]
    ours = _both(estimator, space, *IRIS, n_iter=3, random_state=7, cv=3, return_train_score=True)
    assert ours.score(*IRIS) == ours.best_estimator_.score(*IRIS)
    assert (ours.study_id_, ours.n_splits_, ours.multimetric_) == (None, 3, False)


def _two(estimator: Any, x: Any, y: Any) -> dict[str, float]:
    found = estimator.predict(x)
    return {"right": float(np.mean(found == y)), "wrong": float(np.sum(found != y))}


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [
        pytest.param("f1_macro", True, id="name"),
        pytest.param(make_scorer(f1_score, average="micro"), True, id="scorer"),
        pytest.param(lambda e, x, y: e.score(x, y) / 2, True, id="function"),
        pytest.param(["accuracy", "f1_macro"], "f1_macro", id="list"),
        pytest.param(
            {"a": "accuracy", "b": make_scorer(f1_score, average="macro")}, "b", id="dict"
        ),
        pytest.param(_two, "right", id="function of several"),
        pytest.param({"score": "accuracy"}, "score", id="one of several"),
        pytest.param(["accuracy", "f1_macro"], False, id="not refitted"),
        pytest.param("accuracy", lambda results: 1, id="chosen by a function"),
    ],
)
def test_scoring(scoring: Any, refit: Any) -> None:
    ours = _both(SVC(), SPACE, *IRIS, n_iter=3, random_state=1, cv=3, scoring=scoring, refit=refit)
    assert hasattr(ours, "best_estimator_") == bool(refit)


@pytest.mark.parametrize(
    "space",
    [
        pytest.param({"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}, id="one grid"),
        pytest.param([{"C": [1, 2]}, {"kernel": ["poly"], "degree": [2, 3]}], id="two grids"),
        pytest.param({}, id="nothing"),
    ],
)
def test_every_combination(space: Any) -> None:
    _both(SVC(), space, *IRIS, n_iter=None, cv=3)


def test_inputs_arrive_in_their_forms() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    kind = pd.Series(np.array(["x", "y", "z"])[Y], name="kind")
    assert list(_both(SVC(), SPACE, frame, kind, cv=3, n_iter=2, random_state=0).classes_) == [
        *"xyz"
    ]
    _both(SVC(), SPACE, csr_matrix(X), Y, cv=3, n_iter=2, random_state=0)
    _both(SVC(), SPACE, X.tolist(), Y.tolist(), cv=3, n_iter=2, random_state=0)
    texts = np.array(["good day", "bad day", "good night", "bad night", "good", "bad"], object)
    words = make_pipeline(CountVectorizer(), MultinomialNB())
    _both(words, {"multinomialnb__alpha": [0.1, 1.0]}, texts, [1, 0] * 3, n_iter=None, cv=2)


def test_weights_and_groups() -> None:
    weights = np.where(Y == 1, 3.0, 0.5)
    fit = {"sample_weight": weights, "groups": np.arange(len(Y)) % 5}
    cv = GroupKFold(3)
    _both(SVC(), SPACE, *IRIS, fit=fit, cv=cv, n_iter=2, random_state=0, return_train_score=True)


GOOD: dict[str, Any] = {"error": "", "several": False, "test": {"score": 0.5}}


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [GOOD],
        [GOOD, {}],
        [GOOD, 3],
        [GOOD, {**GOOD, "test": None}],
        [GOOD, {**GOOD, "test": {"score": "high"}}],
        [GOOD, GOOD, GOOD],
    ],
)
def test_a_device_that_sends_no_scores_spoils_its_own_candidate_alone(sent: list[Any]) -> None:
    folds = [([0, 1], [2]), ([1, 2], [0])]
    outcomes = [Outcome([GOOD, GOOD]), Outcome(sent)]
    results = fit_results(outcomes, folds, None, SearchCV(SVC(), SPACE, error_score=-1.0))
    assert [result["test_scores"] for result in results] == [0.5, 0.5, -1.0, -1.0]
    assert [str(result["fit_error"])[:9] for result in results] == ["None"] * 2 + ["malformed"] * 2
    with pytest.raises(FitFailedError, match="candidate 1 failed on a device: malformed"):
        fit_results(outcomes, folds, None, SearchCV(SVC(), SPACE, error_score="raise"))


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_fit_that_fails_gets_the_error_score() -> None:
    space = {"C": [-1.0, 1.0]}
    with pytest.warns(FitFailedWarning, match=r"3 fits failed out of a total of 6"):
        ours = SearchCV(SVC(), space, n_iter=None, cv=3, local=True).fit(*IRIS)
    with pytest.warns(FitFailedWarning):
        theirs = GridSearchCV(SVC(), space, cv=3).fit(*IRIS)
    assert_same(ours, theirs)
    with pytest.raises(ValueError, match=r"^The 'C' parameter of SVC"):
        SearchCV(SVC(), space, n_iter=None, cv=3, local=True, error_score="raise").fit(*IRIS)
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        SearchCV(SVC(), {"C": [-1.0]}, n_iter=None, cv=3, local=True).fit(*IRIS)
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        SearchCV(SVC(), {"c": [1.0]}, n_iter=None, local=True).fit(*IRIS)


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_score_that_fails_is_the_error_score() -> None:
    def failing(estimator: Any, x: Any, y: Any) -> float:
        raise TypeError("no score")

    with pytest.warns(UserWarning, match="Scoring failed"):
        ours = SearchCV(SVC(), {"C": [1.0]}, n_iter=None, cv=2, scoring=failing, local=True).fit(
            *IRIS
        )
    with pytest.warns(UserWarning, match="Scoring failed"):
        theirs = GridSearchCV(SVC(), {"C": [1.0]}, cv=2, scoring=failing).fit(*IRIS)
    np.testing.assert_equal(ours.cv_results_["mean_test_score"], [np.nan])
    assert ours.cv_results_["rank_test_score"] == theirs.cv_results_["rank_test_score"]


def test_wrong_arguments_are_scikit_learns_own_errors() -> None:
    with pytest.raises(ValueError, match="'cv' parameter of SearchCV"):
        SearchCV(SVC(), SPACE, cv="five", local=True).fit(*IRIS)
    with pytest.raises(ValueError, match=r"'n_iter' parameter of SearchCV must be an int"):
        SearchCV(SVC(), SPACE, n_iter=-1, local=True).fit(*IRIS)
    with pytest.raises(ValueError, match="'scoring' parameter of SearchCV"):
        SearchCV(SVC(), SPACE, scoring="best", local=True).fit(*IRIS)
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        SearchCV(SVC(), SPACE, scoring=["accuracy"], local=True).fit(*IRIS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SearchCV(SVC(), SPACE, local=True).fit(X, Y[1:])
    folds = [(np.arange(75), np.arange(75, 150))] * 500
    with pytest.raises(HyperflockError, match="has 500 folds, but one trial") as caught:
        SearchCV(SVC(), SPACE, cv=folds).fit(*IRIS)
    assert caught.value.code == "too_many"
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(HyperflockError, match="cannot be routed on devices"),
    ):
        SearchCV(SVC(), SPACE, local=True).fit(*IRIS, sample_weight=np.ones(len(Y)))


def test_usable_in_pipelines_and_by_clone() -> None:
    search = SearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}, n_iter=None, local=True)
    assert search.get_params()["estimator__max_iter"] == 500
    search.set_params(estimator__max_iter=400, cv=3)
    assert clone(search).get_params()["estimator__max_iter"] == 400
    pipeline = make_pipeline(StandardScaler(), search).fit(*IRIS)
    assert pipeline.score(*IRIS) > 0.9
    assert cross_val_score(pipeline, *IRIS, cv=2).shape == (2,)
    again = pickle.loads(pickle.dumps(pipeline))
    assert list(again.predict(X)) == list(pipeline.predict(X))
    client = Client("http://127.0.0.1:1", "token")
    assert clone(SearchCV(SVC(), SPACE, client=client)).client is client


def test_generators_of_this_process_do_not_notice() -> None:
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    SearchCV(SVC(), SPACE, n_iter=1, cv=2, local=True, random_state=0, refit=False).fit(*IRIS)
    assert np.random.rand() == expected


def test_people_see_each_candidate() -> None:
    steps = {"classifier": [SVC(C=2), KNeighborsClassifier()], "scale": [np.float64(0.5), None]}
    grid = [{"C": [10**30]}, steps]
    points = candidates_of(grid)
    assert points[0] == {"candidate": 0, "C": str(10**30), "classifier": None, "scale": None}
    assert [point["classifier"] for point in points[1:]] == ["SVC(C=2)"] * 2 + [
        "KNeighborsClassifier()"
    ] * 2
    assert type(points[1]["scale"]) is float


# The searches raise, as scikit-learn's own do when it checks them.
_CHECKED = [
    SearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, n_iter=2, cv=2, local=True, error_score="raise"
    ),
    SearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_iter=None, cv=2, local=True, error_score="raise"),
]
_EXCUSED = {"check_supervised_y_2d": "GridSearchCV of Ridge does not warn either"}


@pytest.mark.parametrize(
    ("search", "check"),
    [
        pytest.param(search, check, id=f"{type(search.estimator).__name__}-{name}")
        for one in _CHECKED
        for search, check in estimator_checks_generator(
            one, expected_failed_checks=_EXCUSED, mark="skip"
        )
        for name in [getattr(check, "func", check).__name__]
        if "array_api" not in name
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_is_an_estimator(search: SearchCV, check: Any) -> None:
    check(search)


def test_example_searches_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["sklearn_search.py", "--local", "--candidates", "2", "--folds", "2"]
    monkeypatch.setattr(sys, "argv", arguments)
    runpy.run_path(str(EXAMPLES / arguments[0]), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("accuracy on samples that no fold had: 0.9")
    assert len(lines) == 3
