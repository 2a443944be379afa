"""Makes the objective of a `SearchCV`: the functions of device_code.py with one search's values.

    objective = objective_of({"estimator": ..., "candidates": [...], ...})
    run_local(objective, {"candidate": 0}, data=...)

The functions are made anew for each search, so a bundle contains them as source with the values of
this search. Any thread may use this module.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("device_code.py")


def objective_of(search: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return an objective for `Client.grid`. Its trials have the parameter ``candidate``."""
    # No module has this name, so that a bundle writes the functions and does not import them.
    namespace: dict[str, Any] = {"__name__": "hyperflock_search"}
    exec(_code(), namespace)
    namespace["SEARCH"] = dict(search)
    objective: Callable[[Any], Any] = namespace["objective"]
    return objective


@functools.lru_cache(maxsize=1)
def _code() -> types.CodeType:
    return compile(_FILE.read_text("utf-8"), str(_FILE), "exec")
