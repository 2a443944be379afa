"""Reads the table of operations, and refuses what the generators could not write."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

FOLDER = Path(__file__).resolve().parent
FILES = ("kinds.toml", "enums.toml", "operations.toml")
#: What an operation can return: ``gives`` in operations.toml.
RESULTS = ("array", "array?", "arrays", "view", "number", "nothing")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class TableError(Exception):
    """Raised for a table that nothing can be generated from."""


@dataclass(frozen=True)
class Find:
    """The C++ that looks up the array whose id a word holds. It runs after all words of the call
    were checked.
    """

    parameter: str  # the C++ type of the function's parameter
    call: str  # C++ that returns a Result; {} is what was read

    @property
    def is_pointer(self) -> bool:
        """Whether the function takes the array by reference. The lookup's Result then holds a
        pointer.
        """
        return self.parameter == "const Array&"


@dataclass(frozen=True)
class Kind:
    """A kind of argument, encoded as one or more words of a call."""

    name: str
    about: str
    type: str  # the C++ type of what is read
    read: str  # C++ that reads it from `words`
    find: Find | None
    complete: str | None  # C++ that looks up the arrays in what was read, and returns a Status
    hint: str  # Python's annotation
    encode: str  # Python that writes the words; {} is the parameter
    is_enum: bool = False


@dataclass(frozen=True)
class Enum:
    """An enumeration: its names and their numbers."""

    name: str
    about: str
    prefix: str  # of Python's constants
    header: str | None  # of the C++ enum, where it is not generated
    first: int
    names: Mapping[str, str]  # what each name stands for


@dataclass(frozen=True)
class Operation:
    """One operation of ``ac_call``."""

    name: str
    family: str
    number: int
    about: str
    takes: Mapping[str, Kind]
    gives: str | tuple[str, ...]  # several: members of the struct that the function returns
    struct: str  # its name, where the function is written by hand
    does: str | None  # C++; None: a function written by hand, of the operation's name
    reads: str | None  # a function written by hand that reads the words itself
    errors: str

    @property
    def constant(self) -> str:
        """The name of the operation's number in the C interface."""
        return f"AC_CALL_{self.name.upper()}"


@dataclass(frozen=True)
class Table:
    """What operations.toml, kinds.toml and enums.toml define, for the generators."""

    kinds: Mapping[str, Kind]
    enums: Mapping[str, Enum]
    families: Mapping[str, tuple[Operation, ...]]
    frequent: tuple[str, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """All operations, in the order of the file."""
        return tuple(each for family in self.families.values() for each in family)


def load(folder: Path = FOLDER) -> Table:
    """Return the table that a folder holds.

    Raises
    ------
    TableError
        The files do not describe a valid table.
    """
    kinds, enums, operations = (tomllib.loads((folder / file).read_text("utf-8")) for file in FILES)
    made_enums = {name: _enum(name, fields) for name, fields in enums.items()}
    made_kinds = {name: _kind(name, fields) for name, fields in kinds.items()}
    made_kinds |= {name: _kind_of(enum) for name, enum in made_enums.items()}
    frequent = tuple(operations.pop("frequent"))
    families = {
        family: tuple(
            _operation(name, family, fields, made_kinds) for name, fields in members.items()
        )
        for family, members in operations.items()
    }
    table = Table(made_kinds, made_enums, families, frequent)
    _check(table)
    return table


def _kind(name: str, fields: dict[str, Any]) -> Kind:
    type_, read = fields.pop("read", ("", ""))
    hint, encode = fields.pop("python")
    find = fields.pop("find", None)
    kind = Kind(
        name=name,
        about=" ".join(fields.pop("about").split()),
        type=type_,
        read=read,
        find=Find(*find) if find else None,
        complete=fields.pop("complete", None),
        hint=hint,
        encode=encode,
    )
    _nothing_left(f"the kind {name}", fields)
    return kind


def _enum(name: str, fields: dict[str, Any]) -> Enum:
    return Enum(
        name=name,
        about=fields.pop("about"),
        prefix=fields.pop("python"),
        header=fields.pop("in", None),
        first=fields.pop("first", 0),
        names=fields,
    )


def _kind_of(enum: Enum) -> Kind:
    last = len(enum.names) - 1
    return Kind(
        name=enum.name,
        about=f"a number of {enum.name}: {enum.first} to {enum.first + last}",
        type=enum.name,
        read=f"static_cast<{enum.name}>(words.below({last + 1}))",
        find=None,
        complete=None,
        hint="int",
        encode="{}",
        is_enum=True,
    )


def _operation(
    name: str, family: str, fields: dict[str, Any], kinds: Mapping[str, Kind]
) -> Operation:
    takes = {}
    for argument, kind in fields.pop("takes", {}).items():
        if kind not in kinds:
            raise TableError(f"{name} takes {argument} of the kind {kind}, which is unknown")
        takes[argument] = kinds[kind]
    reads = fields.pop("reads", None)
    gives = fields.pop("gives", "number" if reads else None)
    if isinstance(gives, list):
        gives = tuple(gives)
    elif gives not in RESULTS:
        raise TableError(f"{name} gives {gives}, which is none of {', '.join(RESULTS)}")
    operation = Operation(
        name=name,
        family=family,
        number=fields.pop("number"),
        about=" ".join(fields.pop("about").split()),
        takes=takes,
        gives=gives,
        struct=fields.pop("struct", ""),
        does=fields.pop("does", None),
        reads=reads,
        errors=fields.pop("errors", ""),
    )
    _nothing_left(f"the operation {name}", fields)
    return operation


def _nothing_left(where: str, fields: Mapping[str, Any]) -> None:
    if fields:
        raise TableError(f"{where} has unknown fields: {', '.join(fields)}")


def _check(table: Table) -> None:
    numbers: dict[int, str] = {}
    for operation in table.operations:
        other = numbers.setdefault(operation.number, operation.name)
        if other != operation.name:
            raise TableError(f"{other} and {operation.name} have the number {operation.number}")
        if not _NAME.fullmatch(operation.name):
            raise TableError(f"{operation.name} is no name")
        for kind in list(operation.takes.values())[:-1]:
            if kind.name.endswith("..."):
                raise TableError(f"{operation.name}: {kind.name} goes to the end, so it comes last")
        if operation.does and operation.reads:
            raise TableError(f"{operation.name} has both `does` and `reads`")
    for family in table.frequent:
        if family not in table.families:
            raise TableError(f"there is no family {family}")
