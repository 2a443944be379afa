"""Lists failed tests from the JUnit reports that pytest, vitest and GoogleTest write."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

MAX_TESTS = 30
MAX_CHARACTERS = 160


def failed_tests(reports: Path) -> list[str]:
    """Return a line for each failed test below a folder: its place, its name, its message.

    It returns at most ``MAX_TESTS`` lines and then the number of the others. A report that cannot
    be read, such as that of a killed runner, gives a line too.
    """
    lines = []
    for path in sorted(reports.glob("**/*.xml")):
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            lines.append(f"{path.name} cannot be read: {error}")
            continue
        for case in cases:
            problem = case.find("failure")
            if problem is None:
                problem = case.find("error")
            if problem is not None:
                lines.append(line_of(case, problem))
    more = len(lines) - MAX_TESTS
    return [*lines[:MAX_TESTS], f"and {more} more"] if more > 0 else lines


def line_of(case: ElementTree.Element, problem: ElementTree.Element) -> str:
    """Return one line of text about a failed case: its name and its message."""
    message = (problem.get("message") or problem.text or "").strip().partition("\n")[0]
    name = f"{case.get('classname', '')}::{case.get('name', '')}"
    line = f"{name}: {message}" if message else name
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}..."
