"""Tests that the generated files are current, and that an invalid table is refused."""

import shutil
from pathlib import Path

import pytest
from cpp import files as cpp_files
from generate import ROOT, generated
from table import FILES, FOLDER, Table, TableError, load

from python import files as python_files


def _changed(folder: Path, old: str, new: str) -> Table:
    """Return the table that is read if one text in operations.toml is replaced."""
    for name in FILES:
        shutil.copy(FOLDER / name, folder)
    path = folder / "operations.toml"
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{text.count(old)} of {old!r}"
    path.write_text(text.replace(old, new), "utf-8")
    return load(folder)


def test_generated_files_are_current() -> None:
    stale = [
        str(path.relative_to(ROOT))
        for path, text in generated(load()).items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    assert not stale, "run python3 array-core/calls/generate.py"


def test_a_new_word_reaches_both_languages(tmp_path: Path) -> None:
    table = _changed(
        tmp_path, 'takes = { fusing = "flag" }', 'takes = { fusing = "flag", most = "int64" }'
    )
    cpp, python = cpp_files(table), python_files(table)
    calls = "array-core/src/abi/calls"
    assert "fuse(Context& context, bool fusing, std::int64_t most);" in cpp[f"{calls}/functions.h"]
    assert "return fuse(context, fusing, most);" in cpp[f"{calls}/rare_operations.cc"]
    operations = python["array-core/python/arraycore/_runtime/operations.py"]
    assert "def fuse(fusing: bool, most: Any)" in operations
    assert "call(opcodes.FUSE, int(bool(fusing)), *int64(most))" in operations


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("number = 53", "number = 52", "number 52"),
        ('fusing = "flag"', 'fusing = "bool"', "kind bool"),
        ('fusing = "flag"', 'fusing = "int64s...", more = "flag"', "comes last"),
        ('does = "context.launcher().flush()"', 'do = "flush()"', "unknown fields: do"),
        ('does = "context.launcher().flush()"', 'reads = "f"\ndoes = "flush()"', "both"),
        ('frequent = ["ufuncs"', 'frequent = ["ufunc"', "no family ufunc"),
    ],
)
def test_what_nothing_can_be_generated_from_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(TableError, match=said):
        _changed(tmp_path, old, new)
