"""Compares the events that the server logs with the table in ``server/docs/log.md``.

Every event of the code is in the table with its levels and fields, and nothing else is. The name of
an event must be a literal where ``telemetry::log`` is called; a conditional expression of literals
is allowed. Otherwise a search of the code would not find it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_CALL = re.compile(r"\btelemetry::log\(")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMMENT = re.compile(r"(?<![:\"'])//[^\n]*")
_FIELD = re.compile(r'\{\s*"(\w+)"\s*,')
_NAME = re.compile(r'"([a-z][a-z0-9_]*)"')
_LEVEL = re.compile(r"LogLevel::(\w+)")
_ROW = re.compile(r"^\| `(\w+)` \| ([\w, ]+) \| (.*?) \| (.+) \|$", re.MULTILINE)


class Event(NamedTuple):
    """What the code or the table says about an event."""

    levels: frozenset[str]
    fields: frozenset[str]


def arguments_of(text: str, opening: int) -> list[str]:
    """Return the arguments of the call whose bracket opens at ``opening``."""
    masked = _STRING.sub(lambda found: '"' + "x" * (len(found[0]) - 2) + '"', text)
    depth, begin, found = 0, opening + 1, []
    for at in range(opening, len(masked)):
        depth += (masked[at] in "([{") - (masked[at] in ")]}")
        if (masked[at] == "," and depth == 1) or depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
        if depth == 0:
            break
    return found


def events_of(sources: Mapping[str, str]) -> tuple[dict[str, Event], list[str]]:
    """Return the events of C++ sources, by name, and one line for each call that cannot be read."""
    events: dict[str, Event] = {}
    problems = []
    for name, source in sources.items():
        text = _COMMENT.sub("", source)
        for call in _CALL.finditer(text):
            level, event, *rest = [*arguments_of(text, call.end() - 1), ""]
            levels = frozenset(_LEVEL.findall(level))
            names = _NAME.findall(event)
            plain = re.sub(r'"[^"]*"', "", event.partition("?")[2] or event)
            if not names or not levels or plain.strip(" :\n"):
                problems.append(f"{name}: log({level}, {event}) has no literal level or event")
                continue
            fields = frozenset(field for each in rest for field in _FIELD.findall(each))
            for one in names:
                before = events.get(one, Event(frozenset(), frozenset()))
                events[one] = Event(before.levels | levels, before.fields | fields)
    return events, problems


def table_of(document: str) -> tuple[dict[str, Event], list[str]]:
    """Return the events of the document's table, and one line for each that stands there twice."""
    events: dict[str, Event] = {}
    problems = []
    for name, levels, fields, _ in _ROW.findall(document):
        if name in events:
            problems.append(f"server/docs/log.md: {name} stands twice")
        events[name] = Event(
            frozenset(levels.split(", ")), frozenset(re.findall(r"`(\w+)`", fields))
        )
    return events, problems


def differences(code: Mapping[str, Event], table: Mapping[str, Event]) -> Iterable[str]:
    """Return one line for each event that the code and the table do not describe alike."""
    for name in sorted(code.keys() | table.keys()):
        if name not in table:
            yield f"server/docs/log.md: the event {name} is missing"
        elif name not in code:
            yield f"server/docs/log.md: nothing logs {name}"
        else:
            for what in ("levels", "fields"):
                made, said = getattr(code[name], what), getattr(table[name], what)
                # Two events of one call share its levels, and one of them may use only some.
                if not said <= made or (what == "fields" and made != said):
                    yield (
                        f"server/docs/log.md: {name} has the {what} {', '.join(sorted(made))}, "
                        f"and the table says {', '.join(sorted(said))}"
                    )


def log_problems(sources: Mapping[str, str], document: str) -> list[str]:
    """Return one line for each difference between the code and the table."""
    code, unread = events_of(sources)
    table, twice = table_of(document)
    return [*unread, *twice, *differences(code, table)]
