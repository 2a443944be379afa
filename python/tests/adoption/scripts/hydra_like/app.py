import minihydra
import optuna


def fit(cfg, rate):
    x, v = 1.0, 0.0
    for _ in range(cfg.trainer.steps):
        v = cfg.optimizer.momentum * v - rate * x
        x += v
    return abs(x)


@minihydra.main("config.json")
def app(cfg):
    study = optuna.create_study()
    for rate in (0.1, 0.4):
        study.enqueue_trial({"rate": rate})
    study.optimize(lambda trial: fit(cfg, trial.suggest_float("rate", 0, 1)), n_trials=2)
    print([round(trial.value, 8) for trial in study.trials])


if __name__ == "__main__":
    app()
