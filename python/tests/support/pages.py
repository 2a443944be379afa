"""Reads the blocks of a documentation page, and runs them as notebook cells or shell commands.

    page = Page(path)
    Session(module, command, studies=lambda: [7, 9]).run(page)

A comment above a block, which readers of the page do not see, changes what happens to the block:
``<!-- not run: REASON -->`` omits the block, ``<!-- file: NAME -->`` writes it to a file instead,
and ``<!-- first CODE -->`` runs CODE before the block.
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
# A page names its own studies 1, 2, ...; they are replaced by the numbers of the real studies.
_STUDY = re.compile(
    r"^(hyperflock (?:show|trials|watch|export|plot|logs|replay|sampler|extend|retry|webhook)) "
    r"(\d+)"
)
RUN = {"python", "console"}
# Blocks that contain no code for the reader.
LEFT_ALONE = {"{toctree}", "{eval-rst}"}


@dataclass(frozen=True)
class Block:
    """A block of a page. ``kind`` is "first" for code that the page hides."""

    kind: str
    text: str
    line: int
    file: str = ""


@dataclass
class Page:
    """The blocks of a page, in order.

    Attributes
    ----------
    blocks : list of Block
        The blocks that run or are written to a file.
    left_out : list of (Block, str)
        The other blocks, each with its reason.
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
    """A notebook and a terminal that share the current folder.

    Parameters
    ----------
    module
        The module in which the cells run. It is ``__main__`` while they run.
    command
        Runs ``hyperflock`` with arguments and returns its exit code.
    studies
        Returns the numbers of all studies.
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
        """Run the blocks of a page in order. An error of a block is passed on."""
        for block in page.blocks:
            if block.file:
                Path(block.file).write_text(block.text, "utf-8")
            elif block.kind == "console":
                self._type(block)
            else:
                self._cell(page.path.name, block)

    def _cell(self, page: str, block: Block) -> None:
        name = f"<ipython-input-{block.line}-{page}>"
        # Line numbers are those of the page, so that a traceback shows the page's lines.
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
        """Return the real number of the page's study ``place``. A page counts its own from 1."""
        own = sorted(set(self._studies()) - self._before)
        assert place <= len(own), f"the page has begun the studies {own} and speaks of its {place}."
        return own[place - 1]
