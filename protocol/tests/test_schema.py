"""Tests that the generated files are current, and that a field that one language lacks is
reported.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from protocol.generator.__main__ import ROOT, generated
from protocol.generator.schema import (
    FILES,
    FOLDER,
    Condition,
    Field,
    Schema,
    SchemaError,
    Struct,
    load,
)

GOLDEN = ROOT / "tests" / "protocol" / "golden"
MESSAGES = ROOT / "server" / "src" / "protocol"
WORKER = ROOT / "worker-runtime"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a copy of the schema, which the test may change."""
    copy = tmp_path / "schema"
    copy.mkdir()
    for name in FILES:
        shutil.copy(FOLDER / name, copy)
    return copy


def _change(folder: Path, file: str, old: str, new: str) -> Schema:
    text = (folder / file).read_text("utf-8")
    assert text.count(old) == 1, f"{file} has {text.count(old)} of {old!r}"
    (folder / file).write_text(text.replace(old, new), "utf-8")
    return load(folder)


def _with_field(folder: Path, field: str) -> Schema:
    """Return the schema with one more line in the message ``release``."""
    table = "[messages.client.release]\n"
    return _change(folder, "messages.toml", table, f"{table}{field}\n")


def test_generated_files_are_current() -> None:
    stale = [
        str(path.relative_to(ROOT))
        for path, text in generated(load()).items()
        if path.read_text("utf-8") != text
    ]
    assert not stale, "run ./run format"


# ---- a new field


def _holds(when: Condition, value: dict[str, Any]) -> bool:
    if when.value is None:
        return (when.field in value) == when.holds
    return (value.get(when.field) == when.value) == when.holds


def _seen(schema: Schema, struct: Struct, value: Any) -> Iterator[tuple[str, str]]:
    """Yield each field of the schema that a value has: the struct's and the field's name."""
    fields = struct.fields
    if struct.is_tuple:
        value = {field.wire: item for field, item in zip(fields, value, strict=True)}
    for field in fields:
        if field.spread:
            yield from _seen(schema, schema.structs[field.kind], value)
        elif field.wire in value and (field.when is None or _holds(field.when, value)):
            yield struct.name, field.wire
            for item in value[field.wire] if field.is_list else [value[field.wire]]:
                yield from _seen_inside(schema, field, item)


def _seen_inside(schema: Schema, field: Field, item: Any) -> Iterator[tuple[str, str]]:
    if union := schema.unions.get(field.kind):
        yield from _seen(schema, schema.structs[union.members[item[union.by]]], item)
    elif struct := schema.structs.get(field.kind):
        yield from _seen(schema, struct, item)


def _fields_without_golden_file(schema: Schema) -> list[str]:
    seen = set()
    for path in (GOLDEN / "valid").glob("*.json"):
        file = json.loads(path.read_text("utf-8"))
        message = file["message"]
        structs = schema.messages(file["direction"])
        struct = next(one for one in structs if one.type == message["type"])
        seen |= set(_seen(schema, struct, message))
    for path in (GOLDEN / "study_spec" / "valid").glob("*.json"):
        spec = json.loads(path.read_text("utf-8"))["spec"]
        seen |= set(_seen(schema, schema.structs["StudySpec"], spec))
    reached = {name for name, _ in seen}
    return [
        f"{struct.name}.{field.wire}"
        for struct in schema.structs.values()
        if struct.name in reached or struct.direction
        for field in struct.fields
        if not field.spread and (struct.name, field.wire) not in seen
    ]


def test_each_field_stands_in_a_golden_file() -> None:
    assert _fields_without_golden_file(load()) == []


def test_a_field_without_a_golden_file_is_named(folder: Path) -> None:
    assert _fields_without_golden_file(_with_field(folder, 'colour = "Text"')) == ["Release.colour"]


def test_one_line_adds_a_field_in_every_language(folder: Path) -> None:
    changed: dict[str, list[str]] = {}
    for path, text in generated(_with_field(folder, 'colour = "Text"')).items():
        old = path.read_text("utf-8").splitlines()
        new = [line.strip() for line in text.splitlines() if line not in old]
        changed |= {path.name: new} if new else {}
    assert changed == {
        "messages.h": ["std::string colour;"],
        "fields.h": ['codec.required("colour"_key, m.colour, Characters{kMaxText});'],
        "messages.md": ["| `colour` | Text |  |"],
        "messages.py": ["colour: Text"],
        "messages.ts": ["colour: text(MAX_TEXT),"],
    }


def _write(schema: Schema, into: Path, below: Path) -> None:
    """Write to ``into`` the generated files that the generator writes to the folder ``below``."""
    for path, text in generated(schema).items():
        if path.is_relative_to(below):
            target = into / path.relative_to(below)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")


def _compile(source: Path, *folders: Path) -> subprocess.CompletedProcess[str]:
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    command = [compiler, *flags, *(f"-I{folder}" for folder in folders), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_cpp_that_makes_a_message_without_a_new_field_does_not_compile(
    folder: Path, tmp_path: Path
) -> None:
    _write(_with_field(folder, 'colour = "Text"'), tmp_path, ROOT / "server" / "src")
    source = tmp_path / "release.cc"
    headers = (tmp_path, ROOT / "server" / "src")
    message = '#include "protocol/messages.h"\nhyperflock::protocol::Release release{%s};\n'
    source.write_text(message % '.colour = "red", .attempt = {}, .seq = 1, .reason = {}')
    assert _compile(source, *headers).stderr == ""
    source.write_text(message % ".attempt = {}, .seq = 1, .reason = {}")
    failed = _compile(source, *headers)
    assert failed.returncode != 0
    assert "colour" in failed.stderr


def test_python_that_makes_a_message_without_a_new_field_raises(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = ROOT / "python" / "src" / "hyperflock" / "_transport"
    _write(_with_field(folder, 'colour = "Text"'), tmp_path, package)
    specification = spec_from_file_location("changed_messages", tmp_path / "messages.py")
    assert specification is not None
    assert specification.loader is not None
    messages = module_from_spec(specification)
    # msgspec resolves annotations, and looks for their module in sys.modules.
    monkeypatch.setitem(sys.modules, "changed_messages", messages)
    specification.loader.exec_module(messages)
    fields = {"attempt": 1, "seq": 1, "reason": "stopped"}
    assert messages.Release(**fields, colour="red").colour == "red"
    with pytest.raises(TypeError, match="colour"):
        messages.Release(**fields)


def test_a_rule_that_nobody_wrote_does_not_compile(folder: Path, tmp_path: Path) -> None:
    schema = _with_field(folder, 'colour = { type = "Text", rule = "colour" }')
    _write(schema, tmp_path, ROOT / "server" / "src")
    failed = _compile(MESSAGES / "codec.cc", tmp_path, ROOT / "server" / "src")
    assert failed.returncode != 0
    assert "colour_rule" in failed.stderr


def test_typescript_that_makes_a_message_without_a_new_field_does_not_compile(
    folder: Path, tmp_path: Path
) -> None:
    protocol = WORKER / "src" / "protocol"
    _write(_with_field(folder, 'colour = "Text"'), tmp_path, protocol)
    shutil.copy(protocol / "fields.ts", tmp_path)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    config: dict[str, Any] = {"extends": str(ROOT / "tsconfig.base.json"), "include": ["*.ts"]}
    config["compilerOptions"] = {"types": [], "lib": ["ES2024", "DOM"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    source = tmp_path / "release.ts"
    message = (
        'import type { Release } from "./messages.ts";\nexport const release: Release = {%s};\n'
    )
    fields = ' type: "release", attempt: 1, seq: 1, reason: "stopped"'

    def check() -> subprocess.CompletedProcess[str]:
        command = ["npx", "tsc", "--noEmit", "-p", str(tmp_path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    source.write_text(message % f'{fields}, colour: "red"')
    assert check().stdout == ""
    source.write_text(message % fields)
    failed = check()
    assert failed.returncode != 0
    assert "colour" in failed.stdout


# ---- lines that make the schema invalid


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('colour = "Colour"', "Release.colour has the kind 'Colour', which is unknown"),
        ('colour = "Text[colours]"', "Release.colour has the limit 'colours', which is unknown"),
        ('colour = "Text!"', "not in the notation"),
        ('colour = { type = "Text", wen = "seq=1" }', "not in the notation"),
        ('colour = { type = "Text", when = "seq > 1" }', "not in the notation"),
        ('colour = { type = "Text", when = "shade=red" }', "depends on 'shade'"),
        ("_colour = true", "not in the notation"),
        ('_name = "Lease"', "Lease stands twice"),
    ],
)
def test_a_mistake_in_the_schema_is_named(folder: Path, line: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason.replace("[", r"\[")):
        _with_field(folder, line)


def test_a_name_that_stands_in_two_files_is_refused(folder: Path) -> None:
    with (folder / "console.toml").open("a") as file:
        file.write('[structs.Pulse]\n_doc = "Another."\n')
    with pytest.raises(SchemaError, match="Pulse"):
        load(folder)
