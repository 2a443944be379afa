import contextlib
import functools
import time

import optuna
from tqdm import tqdm

timings = {}


@contextlib.contextmanager
def timer(name):
    begun = time.perf_counter()
    try:
        yield
    finally:
        timings[name] = time.perf_counter() - begun


@functools.lru_cache(maxsize=None)
def collatz(n):
    return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


def objective(trial):
    top = trial.suggest_categorical("top", [10, 50, 200])
    longest = 0
    with timer("loop"):
        for n in tqdm(range(1, top), desc=f"trial {trial.number}", disable=None):
            longest = max(longest, collatz(n))
    assert timings["loop"] > 0
    return longest / top


study = optuna.create_study(
    direction="maximize",
    sampler=optuna.samplers.GridSampler({"top": [10, 50, 200]}, seed=0),
)
study.optimize(objective, n_trials=3)
print(sorted((t.params["top"], t.value) for t in study.trials))
