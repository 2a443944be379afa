"""``hyperflock`` as a trial sees it: written once, and the same wherever a trial runs.

A volunteer's browser has these modules, `hyperflock._base` and the package's public names, and
nothing else of the package; `run_local`, dry runs and replays run the same code on this machine.
What differs is the `host.Host` that answers a trial: the worker's bridge, or one of `host` itself.
Nothing here imports another room than `_base`, and nothing but NumPy is needed; Optuna, Chainer and
array-core are imported where a call needs them.
"""
