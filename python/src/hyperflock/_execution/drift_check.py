"""Compares the globals that an objective uses with those that a dry run imported.

found = compare(bundle.reached, snapshots)
found.differ, found.not_compared        # sentences, and names with a reason
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperflock._bundle.checks.reachability import Reached
from hyperflock._execution.value_snapshot import Snapshot, snapshot

# For each module, by its name on a device: the snapshots of its globals, by their names.
Snapshots = Mapping[str, Mapping[str, Snapshot]]


@dataclass(frozen=True)
class Drift:
    """The result of a comparison.

    Attributes
    ----------
    differ : tuple of str
        A sentence for each global that differs.
    not_compared : tuple of str
        The globals that cannot be compared, each with the reason.
    """

    differ: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()


def compare(reached: Reached, there: Snapshots) -> Drift:
    """Compare the values in this process with the snapshots ``there`` of the other process."""
    differ: list[str] = []
    not_compared: list[str] = []
    for use in reached.found():
        name = f"'{use.name}' of '{use.file}'"
        theirs = there.get(reached.modules[use.module], {}).get(use.name)
        if use.varies:
            not_compared.append(f"{name} (the objective changes it)")
            continue
        if theirs is None:
            not_compared.append(f"{name} (the dry run did not report it)")
            continue
        ours = snapshot(use.value, reached.modules)
        path = _first_difference(ours, theirs)
        if path is not None:
            here, other = (one.get(path, "missing") for one in (ours, theirs))
            differ.append(
                f"{use.by} uses '{use.name}{path}', which is {here} in this process, but {other} "
                f"where a device imports '{use.file}'"
            )
            continue
        unknown = [path for path, text in ours.items() if text is None]
        if unknown:
            kind = type(use.value).__name__
            part = f"'{use.name}{unknown[0]}' in it" if unknown[0] else f"of the type {kind}"
            not_compared.append(f"{name} ({part})")
    return Drift(tuple(differ), tuple(not_compared))


def names_of(reached: Reached) -> dict[str, list[str]]:
    """Return the names of the globals to compare, for each module by its name on a device."""
    names: dict[str, list[str]] = {}
    for use in reached.found():
        names.setdefault(reached.modules[use.module], []).append(use.name)
    return names


def _first_difference(ours: Snapshot, theirs: Snapshot) -> str | None:
    """Return the path of the first part that can be compared and differs; None if there is none."""
    for path in {**ours, **theirs}:
        here, there = ours.get(path, "missing"), theirs.get(path, "missing")
        if here is None or there is None or here == there:
            continue
        if _is_below_unknown(path, ours) or _is_below_unknown(path, theirs):
            continue
        # An import during the trial may add functions and classes to a registry, so a definition
        # that only one of the two processes has does not count.
        is_definition = (here if there == "missing" else there).startswith(
            ("the function ", "the class ")
        )
        if "missing" in (here, there) and is_definition:
            continue
        if here == "'__main__'":  # A script has another name on a device.
            continue
        return path
    return None


def _is_below_unknown(path: str, found: Snapshot) -> bool:
    return any(text is None and path.startswith(other) for other, text in found.items())
