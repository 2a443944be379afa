"""Tests that `SearchCV` gives scikit-learn's own scores with three devices, of which one is killed,
and what is said if a search cannot be sent or does not end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from fake_console import FakeConsole
from fakes.searches import IRIS, SEARCHES, assert_same, write_packs
from hyperflock import BundleError, Client, HyperflockError
from hyperflock.sklearn import FitFailedError, SearchCV
from hyperflock.sklearn import search as _search
from hyperflock.sklearn.estimators import described
from patience import LIMIT_S, until
from phone import StartedPhone
from real_server import Server
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import RandomizedSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC


@pytest.fixture(autouse=True)
def _same_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the warnings about the versions, which test_versions_that_differ tests."""
    monkeypatch.setattr(_search, "differences", lambda: ())


@pytest.fixture(scope="module")
def flock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    # A short lease, because the trial of the killed device waits for its end.
    short = ("--lease-ms", "10000", "--heartbeat-ms", "1000")
    server = Server(folder, "--packs", str(write_packs(folder / "packs")), *short).start()
    yield server
    server.stop()


@pytest.fixture
def devices(flock: Server) -> Iterator[list[StartedPhone]]:
    """Yield three devices that compute in CPython."""
    code = flock.credentials["enrolment_code"]
    phones = [StartedPhone(flock.compute, code) for _ in range(3)]
    yield phones
    for phone in phones:
        phone.kill()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Yield one thread, in which a search waits."""
    with ThreadPoolExecutor(1) as made:
        yield made


@pytest.mark.server
@pytest.mark.parametrize("name", SEARCHES)
def test_scores_are_scikit_learns_own_although_a_device_is_killed(
    name: str, flock: Server, devices: list[StartedPhone], pool: ThreadPoolExecutor
) -> None:
    estimator, space = SEARCHES[name]
    options: dict[str, Any] = {"n_iter": 5, "random_state": 2, "return_train_score": True}
    options["cv"] = StratifiedKFold(3, shuffle=True, random_state=5)
    theirs = RandomizedSearchCV(estimator, space, **options).fit(*IRIS)
    with flock.client() as client:
        searched = SearchCV(estimator, space, client=client, **options)
        before = len(client.studies())
        fitted = pool.submit(searched.fit, *IRIS)
        until("the study", lambda: fitted.done() or len(client.studies()) > before)
        devices[0].kill()
        fitted.result(LIMIT_S)
        assert_same(searched, theirs)
        study = client.study(searched.study_id_ or 0)
        # What the console shows of each candidate: its number, its mean score and its curve.
        assert [trial.params["candidate"] for trial in study.trials] == list(range(5))
        assert study.best_value == pytest.approx(theirs.best_score_, abs=1e-12)
        assert [step for step, _ in study.trial(0).points or ()] == [1, 2, 3]


class _Scaled(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator of a researcher's own."""

    def __init__(self, inner: Any, factor: float = 1.0) -> None:
        self.inner = inner
        self.factor = factor

    def fit(self, x: Any, y: Any) -> _Scaled:
        self.fitted_ = clone(self.inner).fit(x * self.factor, y)
        self.classes_ = self.fitted_.classes_
        return self

    def predict(self, x: Any) -> Any:
        return self.fitted_.predict(x * self.factor)


def _half(estimator: Any, x: Any, y: Any) -> float:
    return float(np.mean(estimator.predict(x) == y)) / 2


@pytest.mark.server
def test_own_classes_and_functions_travel_as_source(
    flock: Server, devices: list[StartedPhone]
) -> None:
    estimator = make_pipeline(FunctionTransformer(np.log1p), _Scaled(SVC(C=3.0)))
    space = {"_scaled__inner": [SVC(), KNeighborsClassifier(3)], "_scaled__factor": [1.0, 5.0]}
    options: dict[str, Any] = {"n_iter": 3, "random_state": 2, "cv": 3, "scoring": _half}
    theirs = RandomizedSearchCV(estimator, space, **options).fit(*IRIS)
    with flock.client() as client:
        ours = SearchCV(estimator, space, client=client, **options).fit(*IRIS)
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


@pytest.mark.server
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_fit_that_fails_on_a_device(flock: Server, devices: list[StartedPhone]) -> None:
    with flock.client() as client:
        search = SearchCV(SVC(), {"C": [-1.0, 1.0]}, n_iter=None, cv=2, client=client)
        with pytest.warns(FitFailedWarning, match=r"2 fits failed out of a total of 4"):
            search.fit(*IRIS)
        assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
        assert search.best_params_ == {"C": 1.0}
        with pytest.raises(FitFailedError, match="The 'C' parameter of SVC") as caught:
            clone(search).set_params(error_score="raise").fit(*IRIS)
        assert caught.value.code == "search_failed"


def test_study_that_is_cancelled(
    server: FakeConsole, client: Client, pool: ThreadPoolExecutor
) -> None:
    search = SearchCV(SVC(), {"C": [1.0, 2.0]}, n_iter=None, cv=2, client=client)
    fitted = pool.submit(search.fit, *IRIS)
    until("the study", lambda: fitted.done() or 1 in server.specs)
    client.study(1).cancel()
    with pytest.raises(HyperflockError) as caught:
        fitted.result(LIMIT_S)
    assert caught.value.code == "search_incomplete"


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (FrozenEstimator(SVC().fit(*IRIS)), "the estimator is a FrozenEstimator, which keeps"),
        (
            make_pipeline(FrozenEstimator(SVC().fit(*IRIS))),
            "the estimator.steps[0][1] is a FrozenEstimator",
        ),
    ],
)
def test_estimator_that_only_a_pickle_could_hold_is_refused(estimator: Any, sentence: str) -> None:
    with pytest.raises(BundleError) as caught:
        described(estimator, "the estimator")
    assert sentence in caught.value.message
    assert caught.value.code == "cannot_bundle_value"


def test_what_a_bundle_cannot_write_is_refused_before_anything_is_sent(
    server: FakeConsole, client: Client
) -> None:
    search = SearchCV(
        FunctionTransformer(kw_args={"lock": threading.Lock()}),
        {"validate": [True]},
        n_iter=None,
        client=client,
        scoring=_half,
    )
    with pytest.raises((BundleError, TypeError)):
        search.fit(*IRIS)
    assert not server.specs


def test_defaults_do_not_travel() -> None:
    """A parameter that another version of scikit-learn lacks must not be named."""
    assert described(SVC(C=2.0), "it") == (
        *("estimator", ("name", "sklearn.svm", "SVC"), {"C": ("value", 2.0)}, {}),
    )


def test_versions_that_differ_are_said(
    monkeypatch: pytest.MonkeyPatch, server: FakeConsole, client: Client
) -> None:
    monkeypatch.setattr(_search, "differences", lambda: ("scikit-learn is 9 here and 8 there",))
    monkeypatch.setattr(_search, "run_on_devices", lambda *_, **__: (1, []))
    search = SearchCV(SVC(), {"C": [1.0]}, n_iter=None, client=client)
    with pytest.warns(UserWarning, match="scikit-learn is 9 here and 8 there, so scores may"):
        _fit_without_results(search)


def _fit_without_results(search: SearchCV) -> None:
    with pytest.raises(IndexError):
        search.fit(*IRIS)
