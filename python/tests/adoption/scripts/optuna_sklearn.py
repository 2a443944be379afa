import optuna
import sklearn.datasets
import sklearn.ensemble
import sklearn.model_selection


def objective(trial):
    iris = sklearn.datasets.load_iris()
    forest = sklearn.ensemble.RandomForestClassifier(
        max_depth=trial.suggest_int("max_depth", 2, 8, log=True), n_estimators=3, random_state=0
    )
    scores = sklearn.model_selection.cross_val_score(forest, iris.data, iris.target, cv=3)
    return scores.mean()


sampler = optuna.samplers.RandomSampler(seed=0)
study = optuna.create_study(direction="maximize", sampler=sampler)
study.optimize(objective, n_trials=2)
print(study.best_value, study.best_params)
