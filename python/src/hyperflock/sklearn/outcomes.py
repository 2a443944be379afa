"""Turns the outcomes of a `SearchCV`'s trials into what scikit-learn gets from its own fits. Any
thread may use this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperflock._base.errors import HyperflockError


class FitFailedError(HyperflockError, ValueError):
    """A fit failed on a device, and the search's ``error_score`` is ``"raise"``.

    Attributes
    ----------
    traceback : str
        The traceback on the device.
    """

    default_code = "search_failed"

    def __init__(self, candidate: int, traceback: str) -> None:
        last = (traceback.strip().splitlines() or [""])[-1]
        super().__init__(f"a fit of candidate {candidate} failed on a device: {last}")
        self.traceback = traceback


@dataclass(frozen=True)
class Outcome:
    """What one candidate's trial has told.

    Attributes
    ----------
    folds : list of dict
        What device_code.py says of each fold; empty if the trial failed.
    error : str
        Why the trial failed; empty if it did not.
    """

    folds: list[dict[str, Any]]
    error: str = ""


def fit_results(
    outcomes: Iterable[Outcome],
    folds: Sequence[Any],
    scorers: Mapping[str, Any] | None,
    search: Any,
) -> list[dict[str, Any]]:
    """Return a result for each candidate and fold, in the form of scikit-learn's own fits.

    ``scorers`` has the names of several scores; None if there is only one, or a function returns
    them.

    Raises
    ------
    FitFailedError
        A fit failed, and the search's ``error_score`` is ``"raise"``. A candidate whose device has
        sent something else than scores has failed, too.
    """
    results = []
    for number, outcome in enumerate(outcomes):
        error = outcome.error
        made: list[dict[str, Any]] = []
        if not error:
            try:
                made = [_result(told, scorers, search) for told in outcome.folds]
            except (TypeError, ValueError, KeyError, AttributeError):
                made = []
            if len(made) != len(folds):
                error = _NO_SCORES
        if error and search.error_score == "raise":
            raise FitFailedError(number, error)
        if error:
            made = [_result({"error": error}, scorers, search) for _ in folds]
        for result, (_, test) in zip(made, folds, strict=True):
            rows = np.asarray(test)
            result["n_test_samples"] = int(rows.sum()) if rows.dtype == bool else len(rows)
            results.append(result)
    return results


# One device must not undo what all others have computed.
_NO_SCORES = "malformed: the device has sent no scores of its folds; reject its results"


def _result(
    told: Mapping[str, Any], scorers: Mapping[str, Any] | None, search: Any
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "fit_error": str(told["error"]) or None,
        "fit_time": float(told.get("fit_time", 0)),
        "score_time": float(told.get("score_time", 0)),
    }
    for part in ("test", "train")[: 1 + bool(search.return_train_score)]:
        if told["error"]:
            instead = search.error_score
            result[f"{part}_scores"] = dict.fromkeys(scorers, instead) if scorers else instead
            continue
        scores = {str(name): float(value) for name, value in told[part].items()}
        if scorers is not None and scores.keys() != scorers.keys():
            raise ValueError
        several = scorers is not None or told["several"]
        result[f"{part}_scores"] = scores if several else scores["score"]
    return result
