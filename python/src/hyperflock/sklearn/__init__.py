"""scikit-learn's searches on volunteers' devices.

    from hyperflock.sklearn import SearchCV

    search = SearchCV(SVC(), {"C": [1, 10, 100], "gamma": [0.01, 0.001]}, n_iter=None, cv=5)
    search.fit(X, y)
    search.best_params_, search.best_score_, search.predict(X)

This package needs scikit-learn 1.6 or newer (``pip install hyperflock[sklearn]``).
"""

from typing import TYPE_CHECKING

from hyperflock._trial.elsewhere import in_trial, public_names

if TYPE_CHECKING:
    from hyperflock.sklearn.outcomes import FitFailedError
    from hyperflock.sklearn.search import SearchCV

__all__ = ["FitFailedError", "SearchCV"]

__getattr__, __dir__ = public_names(
    __name__, {"FitFailedError": "sklearn.outcomes", "SearchCV": "sklearn.search"}
)

if not in_trial():
    from hyperflock.sklearn.version import check_version

    check_version()
