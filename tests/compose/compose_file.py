"""Reads docker-compose.yml as `docker compose` does, as far as this project's file goes.

    file = read([ROOT / "docker-compose.yml"], {"HYPERFLOCK_HOST": "flock.test"}, {"lan"})
    file.services["server"]["environment"], file.order()

Variables, profiles, several files and the order of the start are what it knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

#: `${NAME}`, `${NAME:-default}` and `${NAME:?what to do}`; `$$` is a dollar sign.
_VARIABLE = re.compile(r"\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}")
#: Lists of which a later file gives all words anew.
_REPLACED = ("command", "entrypoint", "test")


class ComposeError(Exception):
    """The file asks for something that it was not given."""


@dataclass(frozen=True)
class ComposeFile:
    """The services that run, and what they share."""

    services: dict[str, dict[str, Any]]
    volumes: dict[str, Any]
    networks: dict[str, dict[str, Any]]
    secrets: dict[str, dict[str, Any]]

    def order(self) -> list[str]:
        """Return the services, each after those that it needs."""
        ordered: list[str] = []

        def add(name: str) -> None:
            if name in ordered:
                return
            for needed in self.services[name].get("depends_on", {}):
                add(needed)
            ordered.append(name)

        for name in self.services:
            add(name)
        return ordered


def interpolated(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with its variables replaced.

    Raises
    ------
    ComposeError
        A variable that must be given is not.
    """

    def value(found: re.Match[str]) -> str:
        name, kind, words = found.groups()
        if name is None:
            return "$"
        given = variables.get(name, "")
        if given or kind is None:
            return given
        if kind == "?":
            raise ComposeError(words)
        return str(words)

    return _VARIABLE.sub(value, text)


def merged(first: Any, second: Any, key: str = "") -> Any:
    """Return what a file says after a second one was put on it: mappings and lists grow, and
    commands are replaced.
    """
    if key in ("networks", "depends_on"):
        first, second = (
            dict.fromkeys(each) if isinstance(each, list) else each for each in (first, second)
        )
    if isinstance(first, dict) and isinstance(second, dict):
        return first | {
            name: merged(first[name], value, name) if name in first else value
            for name, value in second.items()
        }
    if isinstance(first, list) and isinstance(second, list) and key not in _REPLACED:
        return first + [each for each in second if each not in first]
    return second


def read(
    paths: Sequence[Path], variables: Mapping[str, str], profiles: Set[str] = frozenset()
) -> ComposeFile:
    """Return compose files, each put on those before it, with variables and profiles."""

    def walked(node: Any) -> Any:
        if isinstance(node, str):
            return interpolated(node, variables)
        if isinstance(node, dict):
            return {key: walked(each) for key, each in node.items()}
        if isinstance(node, list):
            return [walked(each) for each in node]
        return node

    file: dict[str, Any] = {}
    for path in paths:
        file = merged(file, yaml.safe_load(path.read_text()))
    services = {
        name: walked(service)
        for name, service in file["services"].items()
        if not service.get("profiles") or set(service["profiles"]) & profiles
    }
    return ComposeFile(
        services,
        file.get("volumes", {}),
        {name: walked(network or {}) for name, network in file["networks"].items()},
        walked(file.get("secrets", {})),
    )


def size_bytes(text: str) -> int:
    """Return the bytes of a size such as ``512m``."""
    found = re.fullmatch(r"(\d+)([kmg]?)b?", text.lower())
    if found is None:
        raise ComposeError(f"{text} is no size")
    return int(found[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[found[2]]


def duration_s(text: str) -> float:
    """Return the seconds of a duration such as ``10s``."""
    found = re.fullmatch(r"(\d+)(ms|s|m)", text)
    if found is None:
        raise ComposeError(f"{text} is no duration")
    return int(found[1]) * {"ms": 0.001, "s": 1.0, "m": 60.0}[found[2]]
