"""Writes a kernel of the kernel language as text; ``src/ir/read.h`` describes the form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

NONE = -1


def _id(number: int) -> str:
    return "-" if number == NONE else str(number)


def _ids(numbers: Sequence[int]) -> str:
    return "".join(f" {number}" for number in numbers)


def constant_bits(value: Any, dtype: str) -> tuple[int, int]:
    """Return a number's bits in memory, the low and the high 64."""
    with np.errstate(all="ignore"):
        data = np.array(value).astype(dtype).tobytes().ljust(16, b"\0")
    return int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")


class Program:
    """A kernel that is being written. Statements go to the block that is open."""

    def __init__(self) -> None:
        self.params: list[list[Any]] = []
        self.inputs = 0
        self.depths: list[int] = []
        #: Functions that were written for the types of a call: see ``compiler.py``.
        self.instances: dict[Any, Any] = {}
        self._locals: list[str] = []
        self._exprs: list[str] = []
        self._leaves: dict[str, int] = {}
        self._stmts: list[str] = []
        self._blocks: list[list[int]] = []
        self._functions: list[str] = []
        self._reduction: list[str] = []
        self._open: list[list[int]] = []

    # ---- parameters and locals
    def param(
        self,
        name: str,
        dtype: str,
        kind: str,
        *,
        access: str = "read",
        ndim: int = -1,
        atomic: bool = False,
    ) -> int:
        self.params.append([name, dtype, kind, access, "atomic" if atomic else "plain", ndim])
        self.inputs += access == "read"
        return len(self.params) - 1

    def local(self, name: str, dtype: str, length: int = 0) -> int:
        word = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        self._locals.append(f"local {word} {dtype} {length}")
        return len(self._locals) - 1

    # ---- expressions
    def expr(
        self, op: str, dtype: str, args: Sequence[int] = (), index: int = NONE,
        bits: tuple[int, int] = (0, 0),
    ) -> int:  # fmt: skip
        """Add an expression; return its number. Equal leaves share one."""
        line = f"expr {op} {dtype} {_id(index)} {bits[0]} {bits[1]}{_ids(args)}"
        if not args and line in self._leaves:
            return self._leaves[line]
        self._exprs.append(line)
        self.depths.append(1 + max((self.depths[a] for a in args), default=0))
        number = len(self._exprs) - 1
        if not args:
            self._leaves[line] = number
        return number

    def constant(self, value: Any, dtype: str) -> int:
        return self.expr("constant", dtype, bits=constant_bits(value, dtype))

    # ---- statements
    def stmt(
        self, kind: str, *, target: int = NONE, value: int = NONE, then: int = NONE,
        otherwise: int = NONE, index: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self._stmts.append(
            f"stmt {kind} {_id(target)} {_id(value)} {_id(then)} {_id(otherwise)}{_ids(index)}"
        )
        self._open[-1].append(len(self._stmts) - 1)

    @property
    def depth(self) -> int:
        """How many blocks are open."""
        return len(self._open)

    @property
    def statements(self) -> int:
        """How many statements there are."""
        return len(self._stmts)

    @contextmanager
    def block(self) -> Iterator[list[int]]:
        """Open a block; at its end the yielded list's last item is the block's number."""
        statements: list[int] = []
        self._open.append(statements)
        made: list[int] = []
        yield made
        self._open.pop()
        self._blocks.append(statements)
        made.append(len(self._blocks) - 1)

    def function(self, name: str, result: str, body: int, arguments: Sequence[int]) -> int:
        self._functions.append(f"function {name} {result} {body}{_ids(arguments)}")
        return len(self._functions) - 1

    def reduction(self, accumulators: Sequence[Sequence[int]], post: int) -> None:
        for values in accumulators:
            self._reduction.append("accumulator " + " ".join(_id(value) for value in values))
        self._reduction.append(f"post {post}")

    def text(self, body: int) -> str:
        """Return the kernel's text."""
        lines = [f"inputs {self.inputs}"]
        lines += ["param " + " ".join(str(word) for word in param) for param in self.params]
        lines += self._locals + self._exprs + self._stmts
        lines += [f"block{_ids(block)}" for block in self._blocks]
        lines += [*self._functions, *self._reduction, f"body {body}"]
        return "".join(line + "\n" for line in lines)
