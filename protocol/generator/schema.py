"""Reads the schema of the protocol from the TOML files next to this package, as Python objects.

    schema = load()
    for struct in schema.structs.values(): ...

The notation is described in ``protocol/README.md``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomllib

FOLDER = Path(__file__).resolve().parent.parent
FILES = ("kinds.toml", "messages.toml", "console.toml")
MAX_INTEGER = 2**53 - 1
LANGUAGES = ("cpp", "worker", "python")
BUILT_IN = ("Flag", "Number", "Logged", "Object", "Any")
_TYPE = re.compile(
    r"(?P<spread>\.\.\.)?(?P<kind>\w+)"
    r"(?P<list>\[(?:(?P<least>\d+)\.\.)?(?P<most>\w*)\])?(?P<optional>\?)?"
    r"(?:\s*=\s*(?P<default>.+))?"
)
_CONDITION = re.compile(r"(?P<field>\w+)(?P<sign>!?=)(?P<value>\w+)|(?P<has>has|no) (?P<name>\w+)")
OTHERWISE = "*"


class SchemaError(Exception):
    """The schema contradicts itself or the notation."""


@dataclass(frozen=True)
class Integer:
    """A range of integers; ``cpp`` is the type in C++."""

    name: str
    low: int
    high: int
    cpp: str
    doc: str = ""


@dataclass(frozen=True)
class Text:
    """A text. ``limit`` is the name of its limit, or empty if a pattern limits it."""

    name: str
    limit: str
    unit: str
    least: int
    pattern: str
    rule: str
    doc: str = ""


@dataclass(frozen=True)
class Names:
    """A set of names. In C++ it is an enumeration if ``wanted`` is empty. Otherwise it is a string,
    and ``wanted`` is the end of the error message for a name outside the set.
    """

    name: str
    names: Sequence[str]
    wanted: str
    languages: Sequence[str]
    doc: str = ""


@dataclass(frozen=True)
class Condition:
    """A condition on another field, under which a field belongs to its message.

    ``value`` is the value that the other field must have. Without it, the other field must be
    present. If ``holds`` is false, the condition is the opposite.
    """

    field: str
    value: str | None
    holds: bool


@dataclass
class Field:
    """One field of a struct."""

    wire: str
    member: str
    kind: str
    doc: str
    spread: bool = False
    is_list: bool = False
    least: int = 0
    most: str = ""
    optional: bool = False
    default: Any = None
    when: Condition | None = None
    rule: str = ""
    cpp: dict[str, Any] = field(default_factory=dict)

    @property
    def required(self) -> bool:
        """Whether the field must be present (if its condition holds)."""
        return not self.optional and self.default is None

    @property
    def cpp_name(self) -> str:
        """The member's name in C++."""
        return str(self.cpp.get("name", self.member))


@dataclass
class Struct:
    """An object on the wire, or a part of one."""

    name: str
    doc: str
    fields: list[Field]
    languages: Sequence[str] = LANGUAGES
    is_tuple: bool = False
    flat: bool = False
    by_hand: bool = False
    omit_defaults: bool = False
    base: str = ""
    cases: dict[str, str] = field(default_factory=dict)
    # The next three fields are set only for a message.
    direction: str = ""
    type: str = ""
    answer: str = ""
    # If C++ reads the last fields only under a condition: the function of rules.h that decides, and
    # the number of fields before them.
    rest_if: tuple[str, int] | None = None

    @property
    def subject(self) -> Field | None:
        """The field that distinguishes the cases, if the struct has cases."""
        for one in self.fields:
            if one.when:
                return self.field(one.when.field)
        return None

    def field(self, wire: str) -> Field:
        """Return the field of this name on the wire."""
        return next(one for one in self.fields if one.wire == wire)


@dataclass(frozen=True)
class Union:
    """Structs that one field, ``by``, distinguishes. The keys of ``members`` are its values."""

    name: str
    doc: str
    by: str
    members: dict[str, str]


@dataclass
class Schema:
    """The content of the TOML files."""

    version: int
    limits: dict[str, int] = field(default_factory=dict)
    integers: dict[str, Integer] = field(default_factory=dict)
    texts: dict[str, Text] = field(default_factory=dict)
    names: dict[str, Names] = field(default_factory=dict)
    structs: dict[str, Struct] = field(default_factory=dict)
    unions: dict[str, Union] = field(default_factory=dict)

    def messages(self, direction: str) -> list[Struct]:
        """Return the messages that clients send, or those that the server sends."""
        return [one for one in self.structs.values() if one.direction == direction]

    def in_order(self, language: str) -> Iterator[Struct | Union]:
        """Yield the structs and unions that a language needs, each after those that it contains."""
        done: set[str] = set()

        def visit(name: str) -> Iterator[Struct | Union]:
            if name in done:
                return
            done.add(name)
            if union := self.unions.get(name):
                for member in union.members.values():
                    yield from visit(member)
                yield union
                return
            struct = self.structs.get(name)
            if struct is None or language not in struct.languages:
                return
            for one in struct.fields:
                yield from visit(one.kind)
            yield struct

        for name in self.structs:
            yield from visit(name)

    def tag_of(self, struct: Struct) -> tuple[str, str] | None:
        """Return the name and the value of the field that identifies the struct on the wire."""
        if struct.type:
            return "type", struct.type
        for union in self.unions.values():
            for value, member in union.members.items():
                if member == struct.name:
                    return union.by, value
        return None

    def outcomes(self, struct: Struct) -> dict[str, list[Field]]:
        """Return the fields of each case of a struct that has cases; the keys are the cases.

        A case is a value of the subject, or ``*`` for every other value. If only the presence of
        the subject decides, the cases are its name if it is present, and ``*`` if it is not.
        """
        subject = struct.subject
        if subject is None:
            return {OTHERWISE: struct.fields}
        if subject.when:
            cases: list[str] = [subject.wire, OTHERWISE]
        elif names := self.names.get(subject.kind):
            cases = list(names.names)
        else:
            values = [one.when.value for one in struct.fields if one.when]
            cases = [*dict.fromkeys(str(value) for value in values), OTHERWISE]
        return {
            case: [one for one in struct.fields if one.when is None or _belongs(one.when, case)]
            for case in cases
        }


def _belongs(when: Condition, case: str) -> bool:
    named = when.field if when.value is None else when.value
    return (case == named) == when.holds


def load(folder: Path = FOLDER) -> Schema:
    """Read the schema.

    Raises
    ------
    SchemaError
        A name is unknown or defined twice, or a line does not follow the notation.
    """
    tables: dict[str, Any] = {}
    for name in FILES:
        for section, content in tomllib.loads((folder / name).read_text("utf-8")).items():
            known = tables.setdefault(section, content)
            if known is not content:
                if twice := known.keys() & content.keys() - {"client", "server"}:
                    raise SchemaError(f"{sorted(twice)} of [{section}] stand in two files")
                known.update(content)
    schema = Schema(tables["version"], tables["limits"])
    for name, table in tables["integers"].items():
        schema.integers[name] = Integer(
            name,
            table.get("low", 0),
            table.get("high", MAX_INTEGER),
            table.get("cpp", "std::int64_t"),
        )
    for name, table in tables["texts"].items():
        unit = "bytes" if "bytes" in table else "characters"
        limit = table.get(unit, "")
        schema.texts[name] = Text(
            name,
            limit,
            unit,
            table.get("least", 0),
            table.get("pattern", ""),
            table.get("cpp", ""),
            table.get("doc", ""),
        )
    for name, table in tables["names"].items():
        schema.names[name] = Names(
            name,
            table["names"],
            table.get("wanted", ""),
            table.get("in", LANGUAGES),
            table.get("doc", ""),
        )
    for name, table in tables["structs"].items():
        schema.structs[name] = _struct(name, table)
    for direction, messages in tables["messages"].items():
        for type_, table in messages.items():
            default = "".join(word.capitalize() for word in type_.split("_"))
            struct = _struct(table.get("_name", default), table)
            struct.direction, struct.type = direction, type_
            if struct.name in schema.structs:
                raise SchemaError(f"{struct.name} stands twice")
            schema.structs[struct.name] = struct
    for name, table in tables["unions"].items():
        members = {value: member for value, member in table.items() if not value.startswith("_")}
        schema.unions[name] = Union(name, table["_doc"], table["_by"], members)
    _check(schema)
    return schema


def _struct(name: str, table: dict[str, Any]) -> Struct:
    struct = Struct(name, table["_doc"], [])
    for key, value in table.items():
        match key:
            case "_doc" | "_name":
                pass
            case "_in":
                struct.languages = value
            case "_tuple":
                struct.is_tuple = value
            case "_flat" | "_by_hand" | "_omit_defaults" | "_base" | "_cases" | "_answer":
                setattr(struct, key[1:], value)
            case "_rest_if":
                struct.rest_if = (value, len(struct.fields))
            case _ if key.startswith("_"):
                raise SchemaError(f"{name} has {key}, which is not in the notation")
            case _:
                struct.fields.append(_field(f"{name}.{key}", key, value))
    return struct


def _field(where: str, key: str, value: Any) -> Field:
    if isinstance(value, str):
        value = {"type": value}
    elif isinstance(value, list):
        value = {"type": value[0], "doc": value[1]}
    known = {"type", "doc", "when", "wire", "member", "rule", "cpp"}
    if unknown := value.keys() - known:
        raise SchemaError(f"{where} has {sorted(unknown)}, which is not in the notation")
    match = _TYPE.fullmatch(value["type"])
    if match is None:
        raise SchemaError(f"{where} has the type {value['type']!r}, which is not in the notation")
    default = match["default"]
    return Field(
        wire=value.get("wire", key),
        member=value.get("member", value.get("wire", key)),
        kind=match["kind"],
        doc=value.get("doc", ""),
        spread=match["spread"] is not None,
        is_list=match["list"] is not None,
        least=int(match["least"] or 0),
        most=match["most"] or "",
        optional=match["optional"] is not None,
        default=None if default is None else tomllib.loads(f"value = {default}")["value"],
        when=_condition(where, value.get("when")),
        rule=value.get("rule", ""),
        cpp=value.get("cpp", {}),
    )


def _condition(where: str, text: str | None) -> Condition | None:
    if text is None:
        return None
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise SchemaError(f"{where} has the condition {text!r}, which is not in the notation")
    if match["has"]:
        return Condition(match["name"], None, match["has"] == "has")
    return Condition(match["field"], match["value"], match["sign"] == "=")


def _check(schema: Schema) -> None:
    kinds = [*BUILT_IN, *schema.integers, *schema.texts, *schema.names]
    kinds += [*schema.structs, *schema.unions]
    if twice := {kind for kind in kinds if kinds.count(kind) > 1}:
        raise SchemaError(f"{sorted(twice)} stand twice")
    for text in schema.texts.values():
        if text.limit and text.limit not in schema.limits:
            raise SchemaError(f"{text.name} has the limit {text.limit!r}, which is unknown")
    for struct in schema.structs.values():
        for one in struct.fields:
            where = f"{struct.name}.{one.wire}"
            if one.kind not in kinds:
                raise SchemaError(f"{where} has the kind {one.kind!r}, which is unknown")
            if one.most and one.most not in schema.limits:
                raise SchemaError(f"{where} has the limit {one.most!r}, which is unknown")
            if one.when and one.when.field not in {other.wire for other in struct.fields}:
                raise SchemaError(f"{where} depends on {one.when.field!r}, which is unknown")
    for union in schema.unions.values():
        if unknown := set(union.members.values()) - schema.structs.keys():
            raise SchemaError(f"{union.name} has {sorted(unknown)}, which are unknown")
