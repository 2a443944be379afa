"""What a test case of Chainer's is, and how it ended; the pytest plugin that writes it down.

Each case is two lines of JSON in the record: its name as it begins, so that a crash has a name, and
how it ended.
"""

from __future__ import annotations

import json
import re
import time
import unittest
import zlib
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pytest
from watch import ForwardWatch

#: What Chainer's authors mark as needing a library that no browser has.
LIBRARIES = ("cudnn", "ideep")
WIDE_NAMES = {"float64", "f8", "double", "complex128"}
REASON_CHARACTERS = 240


def names_wide(value: Any, key: str = "") -> bool:
    """Whether a parameter is, or holds, the dtype of a 64-bit float."""
    if isinstance(value, dict):
        return any(names_wide(v, str(k)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return any(names_wide(v, key) for v in value)
    if isinstance(value, np.dtype):
        return value in (np.float64, np.complex128)
    if isinstance(value, str):
        return value in WIDE_NAMES or (value == "d" and "dtype" in key)
    return value in (np.float64, np.complex128) if isinstance(value, type) else False


def is_wide(item: pytest.Item) -> bool:
    """Whether a case's parameters name a 64-bit float: its class's, or pytest's own."""
    found: dict[str, Any] = {}
    for cls in getattr(item, "cls", None).__mro__ if getattr(item, "cls", None) else ():
        if cls in (unittest.TestCase, object):
            continue
        found = {**vars(cls), **found}
    callspec = getattr(item, "callspec", None)
    return names_wide(found) or (callspec is not None and names_wide(callspec.params))


def part_of(name: str, parts: int) -> int:
    """Which of ``parts`` a case belongs to; the same on every machine and in every version."""
    return zlib.crc32(name.encode()) % parts


def reason_of(error: BaseException) -> str:
    """Why a case failed, in a line: where, which error, and the first words of its message."""
    text = str(error)
    kind, where = type(error).__name__, ""
    frames = re.findall(r'File "([^"]+)", line (\d+), in (\w+)', text)
    if frames:  # a retried test tells of its first failure in words
        tail = text[text.rindex(", in " + frames[-1][2]) :]
        lines = [line for line in tail.splitlines()[1:] if line and not line.startswith(" ")]
        text = "\n".join(lines) if lines else tail
    else:
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if "site-packages/numpy" not in code.co_filename:
                frames.append((code.co_filename, str(trace.tb_lineno), code.co_name))
            trace = trace.tb_next
        if text.startswith("Parameterized test failed."):
            text = text.split("\n\n", 2)[-1]
            kind = ""
    inner = [f for f in frames if re.search(r"/(chainer|arraycore|cupy)/(?!testing|.*case)", f[0])]
    for path, line, name in (inner or frames)[-1:]:
        where = f"{'/'.join(Path(path).parts[-2:])}:{line} {name}: "
    told = [line.strip() for line in text.splitlines() if line.strip()]
    numbers = [line for line in told if line.startswith(("Mismatched", "Max ", "x and y"))]
    message = "; ".join([*told[:1], *numbers[:3]])
    return f"{where}{kind + ': ' if kind and not message.startswith(kind) else ''}{message}"[
        :REASON_CHARACTERS
    ]


class Recorder:
    """The plugin.

    Parameters
    ----------
    record : file
        Gets the lines.
    watch : ForwardWatch or None
        Counts what the CPU does for the device; None: there is no device.
    parts, part : int
        Only cases of this part run.
    share : int
        Of every ``share`` cases of the part one runs.
    done : set of str
        Cases that an earlier run has finished.
    kind : {"all", "gpu", "cpu"}
        Which cases run.
    """

    def __init__(
        self,
        record: TextIO,
        watch: ForwardWatch | None,
        *,
        parts: int = 1,
        part: int = 0,
        share: int = 1,
        done: Iterable[str] = (),
        kind: str = "all",
    ) -> None:
        self._record, self._watch, self._kind = record, watch, kind
        self._parts, self._part, self._share = parts, part, share
        self._done = frozenset(done)

    def _write(self, line: dict[str, Any]) -> None:
        self._record.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._record.flush()

    def is_chosen(self, item: pytest.Item) -> bool:
        """Whether a case runs."""
        is_gpu = item.get_closest_marker("gpu") is not None
        return (
            (self._kind == "all" or (self._kind == "gpu") == is_gpu)
            and part_of(item.nodeid, self._parts) == self._part
            and (self._share == 1 or part_of("sample " + item.nodeid, self._share) == 0)
            and item.nodeid not in self._done
        )

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep the cases that are asked for; those that need a library skip."""
        items[:] = [item for item in items if self.is_chosen(item)]
        for item in items:
            for name in LIBRARIES:
                if item.get_closest_marker(name) is not None:
                    item.add_marker(pytest.mark.skip(reason=f"marked {name}"))
        self._write({"cases": len(items)})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported is a failure of its own."""
        if report.failed:
            why = str(report.longrepr).strip().splitlines()[-1][:REASON_CHARACTERS]
            self._write({"id": report.nodeid, "end": "failed", "why": why, "file": True})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Write down a case."""
        self._write({"id": item.nodeid})
        self._end: dict[str, Any] = {"end": "passed"}
        if self._watch is not None:
            self._watch.reset()
        # Many tests seed nothing; so a case has the same numbers in every run and place.
        np.random.seed(zlib.crc32(item.nodeid.encode()))
        began = time.perf_counter()
        result = yield
        line: dict[str, Any] = {"id": item.nodeid, **self._end}
        line["ms"] = round((time.perf_counter() - began) * 1e3)
        if item.get_closest_marker("gpu") is not None:
            line["gpu"] = 1
        if is_wide(item):
            line["wide"] = 1
        if self._watch is not None and self._watch.calls:
            line["forwards"], line["cpu_ops"] = self._watch.calls, self._watch.cpu_ops
            if self._watch.blamed:
                line["blamed"] = self._watch.blamed
        self._write(line)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep how the worst phase of a case ended, and why."""
        report = yield
        if report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._end = {"end": "skipped", "why": why.removeprefix("Skipped: ")[:REASON_CHARACTERS]}
        elif report.failed and call.excinfo is not None:
            self._end = {"end": "failed", "why": reason_of(call.excinfo.value)}
        return report
