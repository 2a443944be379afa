"""Compares scikit-learn's classifiers by cross-validation: support vectors, forests and others.

    HYPERFLOCK_TOKEN=... python sklearn_grid.py [--folds 5]
    python sklearn_grid.py --try

The objective is ordinary scikit-learn. A volunteer's browser fetches scikit-learn and SciPy for
such studies alone (11 MB, which it keeps). The data are scikit-learn's digits, which travel as
arrays. Each fold reports the mean accuracy so far.
"""


def estimator(kind, c):
    """Return an unfitted classifier. Larger values of ``c`` fit the data more closely."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    return {
        "svc": lambda: SVC(C=c, gamma=0.001),
        "logistic": lambda: LogisticRegression(C=c / 100, max_iter=200),
        "forest": lambda: RandomForestClassifier(int(20 * c), random_state=0),
        "boosting": lambda: HistGradientBoostingClassifier(max_iter=int(10 * c), random_state=0),
    }[kind]()


def objective(trial):
    """Cross-validate one candidate and return its mean accuracy."""
    import hyperflock
    import numpy as np
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    digits = trial.data["digits"]
    images, labels = digits["images"], digits["labels"]
    folds = StratifiedKFold(trial.params["folds"], shuffle=True, random_state=trial.seed % 2**32)
    scores = []
    for train, test in folds.split(images, labels):
        model = estimator(trial.params["kind"], trial.params["c"])
        if trial.params["kind"] == "logistic":
            model = make_pipeline(StandardScaler(), model)
        scores.append(model.fit(images[train], labels[train]).score(images[test], labels[test]))
        trial.report(float(np.mean(scores)), len(scores))
        if trial.should_prune():
            raise hyperflock.TrialPruned
    return float(np.mean(scores))


def load():
    """Return scikit-learn's 1,797 pictures of digits as rows of 64 numbers, and their classes."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return {"images": images, "labels": labels}


def main():
    """Search."""
    import searching

    parser = searching.options(__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=3)
    args = parser.parse_args()
    space = {"kind": ["svc", "logistic", "forest", "boosting"], "c": [1, 4], "folds": [args.folds]}
    data = {"digits": load()}
    searching.main(args, objective, space, data, name="sklearn", metric="accuracy")


if __name__ == "__main__":
    main()
