"""Runs the cases of families and counts what they come to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from . import key_families, shape_families  # noqa: F401
from .arguments import Draw
from .families import FAMILIES
from .judge import FAILURES, judge

FORMS = ("device", "device", "host", "list")


@dataclass
class Result:
    """The cases of one family: how many came to what, and a text for each failure."""

    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        return sum(self.kinds.values())

    @property
    def failed(self) -> int:
        return sum(self.kinds[kind] for kind in FAILURES)


def run_case(family: str, path: str, seed: int, forms: tuple[str, ...] = FORMS) -> tuple[str, str]:
    """Return what one case came to, and a text that says how to repeat it."""
    draw = Draw(f"{family}.{path}.{seed}")
    args, kwargs = FAMILIES[family][path](draw)
    form = draw.one(forms)
    verdict = judge(path, args, kwargs, form)
    described = ", ".join(
        [describe(each) for each in args]
        + [f"{name}={describe(each)}" for name, each in kwargs.items()]
    )
    return verdict.kind, f"{path}#{seed} [{form}] ({described}): {verdict.kind}: {verdict.message}"


def describe(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(describe, value))}]"
    if hasattr(value, "dtype") and getattr(value, "size", 99) > 4:
        return f"{value.dtype}{getattr(value, 'shape', ())}"
    return repr(value)


def run(
    cases: int, seed: int = 0, only: str = "", forms: tuple[str, ...] = FORMS
) -> dict[str, Result]:
    """Run a number of cases of each function, from a seed on."""
    results = {}
    for family, functions in FAMILIES.items():
        result = Result()
        for path in functions:
            if only and not f"{family}.{path}".startswith(only):
                continue
            for number in range(seed, seed + cases):
                kind, text = run_case(family, path, number, forms)
                result.kinds[kind] += 1
                if kind in FAILURES:
                    result.failures.append(text)
        if result.tried:
            results[family] = result
    return results
