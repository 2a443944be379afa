"""The part of ``hyperflock`` that a trial can use. It is the same code wherever a trial runs.

A volunteer's browser has these modules, `hyperflock._base` and the package's public names, and
nothing else of the package. `run_local`, dry runs and replays run the same code on this machine.
Only the `host.Host` that answers a trial differs: it is the worker's bridge, or a class of host.py.
These modules import nothing else of this package than `_base`, and need only NumPy. Optuna, Chainer
and array-core are imported when a call needs them.
"""

from typing import Any

# In version 0.1 this was one module. Pickles of that version name these classes here.
_OLD_NAMES = ("Trial", "TrialPruned")


def __getattr__(name: str) -> Any:
    if name not in _OLD_NAMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from hyperflock._trial import trial

    return getattr(trial, name)
