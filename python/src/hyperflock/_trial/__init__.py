"""``hyperflock`` as a trial sees it: written once, and the same wherever a trial runs.

A volunteer's browser has these modules, `hyperflock._base` and the package's public names, and
nothing else of the package; `run_local`, dry runs and replays run the same code on this machine.
What differs is the `host.Host` that answers a trial: the worker's bridge, or one of `host` itself.
Nothing here imports another room than `_base`, and nothing but NumPy is needed; Optuna, Chainer and
array-core are imported where a call needs them.
"""

from typing import Any

# In version 0.1 this was one module. Pickles of that version name these classes here.
_OLD_NAMES = ("Trial", "TrialPruned")


def __getattr__(name: str) -> Any:
    if name not in _OLD_NAMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from hyperflock._trial import trial

    return getattr(trial, name)
