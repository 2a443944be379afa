"""The pytest plugin that records Chainer's test cases, and how each of them ended.

Each case is two lines of JSON in the record: its name when it begins, so that a crash has a name,
and later how it ended.
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

#: Chainer's markers of tests that need a library which no browser has.
LIBRARIES = ("cudnn", "ideep")
WIDE_NAMES = {"float64", "f8", "double", "complex128"}
REASON_CHARACTERS = 240


def names_wide(value: Any, key: str = "") -> bool:
    """Return whether a parameter is, or contains, the dtype of a 64-bit float."""
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
    """Return whether a case's parameters, from its class or from pytest, name a 64-bit float."""
    found: dict[str, Any] = {}
    for cls in getattr(item, "cls", None).__mro__ if getattr(item, "cls", None) else ():
        if cls in (unittest.TestCase, object):
            continue
        found = {**vars(cls), **found}
    callspec = getattr(item, "callspec", None)
    return names_wide(found) or (callspec is not None and names_wide(callspec.params))


def part_of(name: str, parts: int) -> int:
    """Return which part, from 0 to ``parts`` - 1, a case is in; it is the same on every machine."""
    return zlib.crc32(name.encode()) % parts


def reason_of(error: BaseException) -> str:
    """Return why a case failed, in one line: file and line, the error, the start of its message."""
    text = str(error)
    kind, where = type(error).__name__, ""
    frames = re.findall(r'File "([^"]+)", line (\d+), in (\w+)', text)
    if frames:  # a retried test has its first failure as text
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
    """Chooses the cases that run, and writes a line when a case begins and when it ends.

    Parameters
    ----------
    record : file
        The file that lines are written to.
    watch : ForwardWatch or None
        Counts the CPU's work for the device; None if there is no device.
    parts, part : int
        Only cases of this part run.
    share : int
        About one in ``share`` cases of the part runs.
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
        """Return whether a case runs."""
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
        """Keep the chosen cases; mark those that need a library as skipped."""
        items[:] = [item for item in items if self.is_chosen(item)]
        for item in items:
            for name in LIBRARIES:
                if item.get_closest_marker(name) is not None:
                    item.add_marker(pytest.mark.skip(reason=f"marked {name}"))
        self._write({"cases": len(items)})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that cannot be imported as a failure."""
        if report.failed:
            why = str(report.longrepr).strip().splitlines()[-1][:REASON_CHARACTERS]
            self._write({"id": report.nodeid, "end": "failed", "why": why, "file": True})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Record a case when it begins and when it has ended."""
        self._write({"id": item.nodeid})
        self._end: dict[str, Any] = {"end": "passed"}
        if self._watch is not None:
            self._watch.reset()
        # Many tests set no seed. With this seed, a case has the same numbers in every run.
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
        """Keep whether a phase of the case was skipped or failed, and why."""
        report = yield
        if report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._end = {"end": "skipped", "why": why.removeprefix("Skipped: ")[:REASON_CHARACTERS]}
        elif report.failed and call.excinfo is not None:
            self._end = {"end": "failed", "why": reason_of(call.excinfo.value)}
        return report
