"""Compares the globals that an objective uses with those of a fresh import, as devices make one.

    check_fresh(bundle, modules, roots, asked=False)

What the files' text does not prove is looked at in a process of its own, which imports the bundle
as a dry run does, without this process's environment and arguments. It is started only where there
is such a global. Where it cannot import the bundle, or takes too long, nothing is compared: the
device itself tells. Blocks; Ctrl-C ends the other process. Any thread.
"""

from __future__ import annotations

import io
import json
import random
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperflock._base.errors import DryRunError
from hyperflock._bundle.checks import value_snapshot as _described
from hyperflock._bundle.checks.reachability import Reached, Use, is_unproven
from hyperflock._bundle.checks.value_snapshot import Difference, Node, describe, differences
from hyperflock._bundle.source.runtime import DEFAULT_RUNTIME

if TYPE_CHECKING:
    from hyperflock._bundle.bundle import Bundle

# Of one import there, with the start of Python.
LIMIT_S = 10.0
# Of globals that differ, in one warning.
_MOST_TOLD = 3

# As a browser's Python has them, instead of this machine's.
_ENVIRONMENT: dict[str, str | None] = {
    "HOME": "/home/pyodide",
    "PATH": "/",
    "USER": "web_user",
    "LOGNAME": "web_user",
    "LANG": "C.UTF-8",
    "LC_ALL": None,
    "LC_CTYPE": None,
    "TZ": None,
}
_LOOK = "hyperflock_look"
_DESCRIBED = "hyperflock_described"
_TEXT = '''"""Written by hyperflock: tells what globals are where the bundle is imported anew."""

import json
import os
import sys

asked = json.loads({asked!r})
sys.argv = [""]
__import__(asked["module"])


def objective(trial):
    import importlib

    import {described}

    told = {{}}
    for module, names in asked["names"].items():
        try:
            found = vars(importlib.import_module(module))
        except Exception:
            continue
        told[module] = {{
            name: {described}.describe(found[name], frozenset(asked["modules"]))
            for name in names
            if name in found
        }}
    with open(asked["into"] + ".part", "w", encoding="utf-8") as file:
        json.dump(told, file)
    os.replace(asked["into"] + ".part", asked["into"])
    os._exit(0)  # whatever threads the modules have begun
'''
_ADVICE = "write the value into the file, send it by data=... or make it a parameter of the space"

_CACHES: tuple[Any, ...] = (None, [], {}, ())
# Of each module, what its globals are.
_Told = Mapping[str, Mapping[str, Node]]


def check_fresh(
    bundle: Bundle,
    modules: Mapping[str, str],
    roots: Iterable[tuple[str, str]],
    *,
    asked: bool,
) -> None:
    """Warn of globals that a bundle's objective reaches and a device would have otherwise.

    It is a warning and no error: what an import makes anew, what trials fill and what a package
    that is here alone decides differ too, and may be meant so.

    Parameters
    ----------
    bundle
        What would travel.
    modules
        Modules of this process that travel, with their names there.
    roots
        Where the objective begins: modules of this process, and names in them.
    asked
        It is for trials of Optuna's.
    """
    reached = Reached(modules)
    for module, name in roots:
        reached.follow(module, name)
    _warn_of_beginnings(reached)
    ours = {}
    for key, use in reached.uses.items():
        if key in reached.assigned or key in reached.changed or not is_unproven(use, reached):
            continue
        node = describe(use.value, frozenset(modules))
        if node["kind"] != "?":
            ours[key] = node
    if not ours:
        return
    names: dict[str, list[str]] = {}
    for module, name in ours:
        names.setdefault(modules[module], []).append(name)
    told = _told(bundle, modules, names, asked=asked)
    sentences = []
    for key, node in ours.items():
        there = told.get(modules[key[0]], {}).get(key[1])
        found = differences(node, there) if there is not None else iter(())
        # A script goes by another name there.
        found = (one for one in found if one.here != "'__main__'")
        sentences += [_sentence(reached.uses[key], one) for one in islice(found, 1)]
    if sentences:
        _warn(
            f"{'; '.join(sentences[:_MOST_TOLD])}, without this process's changes, environment and "
            f"arguments; {_ADVICE}"
        )


def modules_of(files: Sequence[str], own: tuple[str, str] | None = None) -> dict[str, str]:
    """Name the modules of this process whose files travel; ``own``: a script's, here and there."""
    names = {own[0]: own[1]} if own else {}
    for file in files:
        parts = file.removesuffix(".py").split("/")
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        path = getattr(sys.modules.get(name), "__file__", None)
        if path and Path(path).as_posix().endswith(f"/{file}"):
            names.setdefault(name, name)
    return names


def _sentence(use: Use, one: Difference) -> str:
    what = f"'{use.name}', whose '{use.name}{one.path}'" if one.path else f"'{use.name}', which"
    file = Path(str(sys.modules[use.module].__file__)).name
    return (
        f"{use.by} uses {what} is {one.here} by now, but {one.there} where a device imports "
        f"'{file}'"
    )


def _warn_of_beginnings(reached: Reached) -> None:
    """Warn of what goes from one trial to the next here, and there does not."""
    carried = []
    for key, use in reached.uses.items():
        text = reached.text_of(use.module)
        # What begins as None or empty is a cache; what an import does not set, trials do.
        is_cache = use.name not in text.bound or text.literals.get(use.name, 0) in _CACHES
        if (key in reached.assigned and not is_cache) or _is_generator(use.value):
            carried.append(key)
    if carried:
        _warn(
            f"on devices each trial begins anew with {_shown(reached, carried)} as the file makes "
            "it, so that trials do not see one another"
        )


def _is_generator(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    kinds = (numpy.random.Generator, numpy.random.RandomState) if numpy else ()
    return any(base in (random.Random, *kinds) for base in type(value).__mro__)


def _shown(reached: Reached, keys: Sequence[tuple[str, str]]) -> str:
    names = sorted(
        f"'{name}' of '{Path(str(sys.modules[module].__file__)).name}'" for module, name in keys
    )
    return " and ".join(names)


def _warn(message: str) -> None:
    """Warn where the researcher's own code called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(
        "hyperflock."
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def _told(
    bundle: Bundle, modules: Mapping[str, str], names: Mapping[str, Sequence[str]], *, asked: bool
) -> _Told:
    """Ask a process that imports the bundle anew; nothing where it cannot."""
    # Not at the top: most objectives need no other process.
    from hyperflock._execution.dry_run import look
    from hyperflock._execution.job import Job

    with tempfile.TemporaryDirectory(prefix="hyperflock-look-") as name:
        folder = Path(name).resolve()
        into = folder / "told.json"
        request = {
            "module": bundle.entry.partition(":")[0],
            "names": names,
            "modules": sorted({*modules.values()}),
            "into": str(into),
        }
        job = Job(
            entry=f"{_LOOK}:objective",
            bundle=_with_look(bundle.content, json.dumps(request)),
            data=bundle.attached,
            params="{}",
            seed=0,
            runtime=DEFAULT_RUNTIME,
            asked={"directions": 1, "suggested": None, "attrs": None} if asked else None,
        )
        try:
            if not look(folder, job, LIMIT_S, _ENVIRONMENT):
                return {}
            told: _Told = json.loads(into.read_text("utf-8"))
        except (OSError, ValueError, DryRunError):
            return {}
    return told


def _with_look(content: bytes, request: str) -> bytes:
    """Put the module that looks, and what it needs, beside a bundle's own."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(f"{_LOOK}.py", _TEXT.format(asked=request, described=_DESCRIBED))
        archive.writestr(f"{_DESCRIBED}.py", Path(_described.__file__).read_bytes())
    return file.getvalue()
