"""Searches a pipeline of scikit-learn by `SearchCV`, in the place of RandomizedSearchCV.

    HYPERFLOCK_TOKEN=... python sklearn_search.py [--candidates 20]
    python sklearn_search.py --local

The data are scikit-learn's breast cancer table. Volunteers' browsers fetch scikit-learn and SciPy
for the search (11 MB, which they keep), and each candidate is a trial. `--local` runs all fits in
this process.
"""

import argparse


def search(candidates, folds, *, local):
    """Return the unfitted search."""
    from hyperflock.sklearn import SearchCV
    from scipy.stats import loguniform
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return SearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1)},
        n_iter=candidates,
        cv=StratifiedKFold(folds, shuffle=True, random_state=0),
        random_state=0,
        local=local,
    )


def main():
    """Search, and print the best candidates."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--local", action="store_true", help="run all fits in this process")
    args = parser.parse_args()
    table = load_breast_cancer(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(*table, random_state=0)
    found = search(args.candidates, args.folds, local=args.local).fit(train_x, train_y)
    results = found.cv_results_
    for index in results["rank_test_score"].argsort()[:5]:
        shown = {name: f"{value:.4g}" for name, value in results["params"][index].items()}
        print(f"{results['mean_test_score'][index]:.4f}  {shown}")
    print(f"accuracy on samples that no fold had: {found.score(test_x, test_y):.4f}")


if __name__ == "__main__":
    main()
