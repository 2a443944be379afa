"""Compares random functions of two floats, compiled, with plain Python.

Every value is a float64 or a Python number, so the type of a variable does not change a value.
"""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import pytest

PROGRAMS = 50
X = np.array([-7, -2.5, -1, 0, 0.25, 1, 3, 8])


class Writer:
    """Writes the text of one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["x", "y"]
        self.count = 0

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def value(self, depth: int = 0) -> str:
        choice = self.random.choice
        if depth > 3 or self.random.random() < 0.25:
            return choice([*self.names, *self.names, "0", "1", "-3", "0.5", "2.0", "7"])
        a = self.value(depth + 1)
        form = choice(["+", "-", "*", "+", "//", "%", "/", "min", "max", "if", "abs", "-a"])
        if form in ("//", "%", "/"):
            return f"({a} {form} {choice(['2', '-3', '0.75'])})"
        if form in ("abs", "-a"):
            return f"abs({a})" if form == "abs" else f"-{a}"
        b = self.value(depth + 1)
        if form == "if":
            return f"({a} if {self.condition(depth + 1)} else {b})"
        return f"{form}({a}, {b})" if form in ("min", "max") else f"({a} {form} {b})"

    def condition(self, depth: int) -> str:
        choice = self.random.choice
        a, b = self.value(depth + 1), self.value(depth + 1)
        form = choice(["compare", "compare", "chain", "not", "both"])
        if form == "chain":
            return f"({a} < {b} <= {self.value(depth + 1)})"
        if form == "not":
            return f"(not {a})"
        if form == "both" and depth < 3:
            both = self.condition(depth + 1), self.condition(depth + 1)
            return f"({both[0]} {choice(['and', 'or'])} {both[1]})"
        return f"({a} {choice(['<', '<=', '==', '!=', '>', '>='])} {b})"

    def block(self, indent: str, depth: int = 0) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 4)):
            kinds = ["assign", "assign", "if", "for", "return"]
            kind = "assign" if depth > 2 else self.random.choice(kinds)
            lines += getattr(self, f"_{kind}")(indent, depth)
        return lines

    def _assign(self, indent: str, depth: int) -> list[str]:
        known = [name for name in self.names if name[0] in "vxy"]
        if self.random.random() < 0.4:
            target = self.random.choice(known)
            return [f"{indent}{target} {self.random.choice('+-')}= {self.value(1)}"]
        value, target = self.value(), self.name("v")
        self.names.append(target)
        return [f"{indent}{target} = {value}"]

    def _inner(self, indent: str, depth: int, *names: str) -> list[str]:
        before = list(self.names)
        self.names += names
        lines = []
        if names and self.random.random() < 0.4:
            word = self.random.choice(["break", "continue"])
            lines.append(f"{indent}    if {self.condition(2)}: {word}")
        lines += self.block(indent + "    ", depth + 1)
        self.names = before
        return lines

    def _if(self, indent: str, depth: int) -> list[str]:
        lines = [f"{indent}if {self.condition(0)}:", *self._inner(indent, depth)]
        if self.random.random() < 0.5:
            lines += [f"{indent}else:", *self._inner(indent, depth)]
        return lines

    def _for(self, indent: str, depth: int) -> list[str]:
        counter = self.name("i")
        start, stop = self.random.randrange(3), self.random.randrange(6)
        step = self.random.choice(["", ", 2", ", -1"])
        head = f"{indent}for {counter} in range({start}, {stop}{step}):"
        return [head, *self._inner(indent, depth, counter)]

    def _return(self, indent: str, depth: int) -> list[str]:
        return [f"{indent}if {self.condition(1)}:", f"{indent}    return {self.value(1)}"]

    def function(self) -> str:
        lines = self.block("    ")
        return "\n".join(["def f(x, y):", *lines, f"    return {self.value()} + x * 0\n"])


def compare(seed: int, folder: Path) -> None:
    """Compare one function."""
    text = Writer(seed).function()
    path = folder / f"random_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    y = X[::-1].copy()
    with np.errstate(all="ignore"):
        expected = [module.f(a, b) for a, b in zip(X, y, strict=True)]
    result = ac.vectorize(module.f)(ac.array(X), ac.array(y))
    np.testing.assert_allclose(result.get(), expected, rtol=1e-9, atol=1e-9, err_msg=text)


def test_random_functions_equal_plain_python(tmp_path: Path, share: int) -> None:
    for seed in range(PROGRAMS if share == 1 else PROGRAMS // 10):
        compare(seed, tmp_path)


@pytest.mark.whole
def test_the_writer_writes_every_statement() -> None:
    text = "".join(Writer(seed).function() for seed in range(PROGRAMS))
    for word in ("if ", "else:", "for ", "break", "continue", " // ", " % ", "min(", " and "):
        assert word in text, word
