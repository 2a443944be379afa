"""Reads the blocks of a documentation page, and runs them as a notebook's cells or a terminal.

    page = Page(path)
    Session(module, command, studies=lambda: [7, 9]).run(page)

A comment above a block says what is not seen on the page: ``<!-- not run: REASON -->`` leaves it
out, ``<!-- file: NAME -->`` writes it to a file instead, ``<!-- first CODE -->`` runs code before.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import linecache
import re
import shlex
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(
    r"^<!-- (?P<word>not run:|file:|first\b)\s*(?P<said>.*?)-->\n"
    r"|^```(?P<kind>[\w{}-]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# A study goes by its number, which counts from 1 on a page.
_STUDY = re.compile(r"^(hyperflock (?:show|trials|watch|export|plot|logs|replay|sampler)) (\d+)")
RUN = {"python", "console"}
# Blocks that are no code of the reader's.
LEFT_ALONE = {"{toctree}", "{eval-rst}"}


@dataclass(frozen=True)
class Block:
    """One block, or hidden code (``first``)."""

    kind: str
    text: str
    line: int
    file: str = ""


@dataclass
class Page:
    """A page's blocks, in order.

    Attributes
    ----------
    blocks : list of Block
        Those that run or are written to a file.
    left_out : list of (Block, str)
        The others, each with its reason.
    """

    path: Path
    blocks: list[Block] = field(default_factory=list)
    left_out: list[tuple[Block, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        source = self.path.read_text("utf-8")
        said = ("", "")
        for found in _BLOCK.finditer(source):
            line = source.count("\n", 0, found.start()) + 2
            word = found["word"]
            if word == "first":
                self.blocks.append(Block("first", found["said"], line))
            elif word:
                said = (word, found["said"].strip())
            elif found["kind"] not in LEFT_ALONE:
                block = Block(found["kind"], found["text"], line, said[1] * (said[0] == "file:"))
                if said[0] == "not run:":
                    self.left_out.append((block, said[1]))
                else:
                    self.blocks.append(block)
                said = ("", "")


class Session:
    """A notebook with a terminal beside it, in the current folder.

    Parameters
    ----------
    module
        What the cells are the code of; it is ``__main__`` while they run.
    command
        Runs ``hyperflock`` with arguments; its exit code.
    studies
        The numbers of the studies that there are.
    """

    def __init__(
        self,
        module: types.ModuleType,
        command: Callable[[list[str]], int],
        studies: Callable[[], Iterable[int]],
    ) -> None:
        self._module = module
        self._command = command
        self._studies = studies
        self._before = set(studies())

    def run(self, page: Page) -> None:
        """Run a page's blocks in order; what a block raises comes through."""
        for block in page.blocks:
            if block.file:
                Path(block.file).write_text(block.text, "utf-8")
            elif block.kind == "console":
                self._type(block)
            else:
                self._cell(page.path.name, block)

    def _cell(self, page: str, block: Block) -> None:
        name = f"<ipython-input-{block.line}-{page}>"
        # Its lines are the page's, so that a traceback names them.
        text = "\n" * (block.line - 1) + block.text
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        code = compile(text, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(types.FunctionType(code, self._module.__dict__)())
        else:
            exec(code, self._module.__dict__)

    def _type(self, block: Block) -> None:
        for offset, line in enumerate(block.text.splitlines()):
            if not line.startswith("$ "):
                continue
            typed = _STUDY.sub(lambda m: f"{m[1]} {self._numbered(int(m[2]))}", line[2:])
            program, *arguments = shlex.split(typed)
            assert program == "hyperflock", f"line {block.line + offset} is none of ours: {typed}"
            assert self._command(arguments) == 0, f"line {block.line + offset}: {typed}"

    def _numbered(self, place: int) -> int:
        """Give the number of the page's study at a place, counted from 1."""
        own = sorted(set(self._studies()) - self._before)
        assert place <= len(own), f"the page has begun the studies {own} and speaks of its {place}."
        return own[place - 1]
