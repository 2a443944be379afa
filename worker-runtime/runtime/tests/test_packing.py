"""Tests compiling, compressing and naming files by their hash, each on small inputs."""

from __future__ import annotations

import gzip
import importlib
import io
import marshal
import sys
import traceback
import zipfile
from pathlib import Path
from typing import Any

import compile_pyc
import packing
import pytest

OPTIONS: dict[str, Any] = {
    "root": "/lib", "exclude": [], "only": ["*.py"], "docstrings": [], "untyped": [], "lazy": [],
    "append": {},
}  # fmt: skip


def archive(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name, text in files.items():
            target.writestr(name, text)
    return out.getvalue()


def compiled(files: dict[str, str], **changes: Any) -> dict[str, bytes]:
    options = {**OPTIONS, **changes}
    with zipfile.ZipFile(io.BytesIO(compile_pyc.compile_archive(archive(files), options))) as made:
        assert all(info.compress_type == zipfile.ZIP_STORED for info in made.infolist())
        return {name: made.read(name) for name in made.namelist()}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compile a package, unpack it, and import it without its sources."""
    files = {
        "compiled_pkg/__init__.py": (
            '"""Doc."""\nfrom __future__ import annotations\nvalue = 41 + 1\n'
        ),
        "compiled_pkg/sub.py": (
            'def documented():\n    """Only a docstring."""\n\n\n'
            'class C:\n    """Doc."""\n\n    x = 1\n\n\n'
            "def fails():\n"
            '    """Doc."""\n'
            "    raise ValueError('here')\n"
        ),
    }
    for name, data in compiled(files).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("compiled_pkg"), importlib.import_module("compiled_pkg.sub")
    for name in ("compiled_pkg", "compiled_pkg.sub"):
        sys.modules.pop(name, None)


def test_compiled_files_import_without_sources(package: Any) -> None:
    top, sub = package
    assert top.value == 42
    assert top.__file__.endswith("__init__.pyc")
    assert sub.documented() is None
    assert sub.C.x == 1


def test_docstrings_go_and_lines_stay(package: Any) -> None:
    _, sub = package
    assert (sub.documented.__doc__, sub.C.__doc__) == (None, None)
    with pytest.raises(ValueError, match="here") as caught:
        sub.fails()
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno) == ("/lib/compiled_pkg/sub.py", 13)


def test_a_lazy_package_imports_its_modules_when_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "lazy_pkg/__init__.py": (
            "import os\nfrom lazy_pkg import sub\nfrom lazy_pkg.sub import Late, used as own\n"
            "from lazy_pkg.other import value as renamed\n"
            "def call():\n    return own()\n"
        ),
        "lazy_pkg/sub.py": "class Late: pass\ndef used():\n    return 7\n",
        "lazy_pkg/other.py": "value = 9\n",
    }
    for name, data in compiled(files, lazy=["*/__init__.py"]).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.syspath_prepend(str(tmp_path))
    package: Any = importlib.import_module("lazy_pkg")
    try:
        assert package.call() == 7, "what the file uses itself is there from the start"
        assert "lazy_pkg.other" not in sys.modules
        assert package.renamed == 9
        assert "lazy_pkg.other" in sys.modules
        assert package.sub.Late is package.Late
        assert "renamed" in vars(package), "asked for once"
        with pytest.raises(AttributeError, match="'lazy_pkg' has no attribute 'missing'"):
            _ = package.missing
        with pytest.raises(ImportError, match="missing"):
            exec("from lazy_pkg import missing")
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "lazy_pkg"]:
            del sys.modules[name]


def test_docstrings_of_named_files_stay() -> None:
    files = {"a/kept.py": '"""Read at import."""\n', "a/other.py": '"""Read by nobody."""\n'}
    made = compiled(files, docstrings=["a/kept.py"])
    assert b"Read at import." in made["a/kept.pyc"]
    assert b"Read by nobody." not in made["a/other.pyc"]


def test_types_of_functions_go_where_the_manifest_says_so_and_fields_keep_theirs() -> None:
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Point:\n"
        "    x: Field\n"
        "    def moved(self, by: First, *more: Second, far: Third = 1, **rest: Fourth) -> Fifth:\n"
        "        return Point(self.x + by + sum(more) + far + len(rest))\n"
    )
    made = compiled({"a.py": text, "b.py": text}, untyped=["a.py"])
    scopes: dict[str, dict[str, Any]] = {}
    for name, data in made.items():
        scopes[name] = {"__name__": "builtins"}
        exec(marshal.loads(data[16:]), scopes[name])
    for scope in scopes.values():
        assert scope["Point"](1).moved(2, 3, far=4, other=5).x == 11
        assert scope["Point"].__annotations__ == {"x": "Field"}
    assert scopes["a.pyc"]["Point"].moved.__annotations__ == {}
    assert len(scopes["b.pyc"]["Point"].moved.__annotations__) == 5


def test_statements_are_appended_to_the_named_file() -> None:
    made = compiled({"a.py": "x = 1\n", "b.py": "x = 1\n"}, append={"a.py": "x = 'more'\n"})
    assert b"more" in made["a.pyc"]
    assert b"more" not in made["b.pyc"]


def test_asserts_stay() -> None:
    data = compiled({"a.py": "assert False, 'kept'\n"})["a.pyc"]
    assert b"kept" in data


def test_excluded_files_are_left_out_and_others_kept_as_they_are() -> None:
    files = {"a/x.py": "1", "a/tests/t.py": "1", "a/data.json": "{}", "a/cold.py": "2"}
    made = compiled(files, exclude=["*/tests/*"], only=["a/x.py"])
    assert sorted(made) == ["a/cold.py", "a/data.json", "a/x.pyc"]
    assert made["a/cold.py"] == b"2"


def test_same_input_gives_the_same_bytes() -> None:
    source = archive({"b.py": "x = {1, 2}\n", "a.py": "def f(): return 'text'\n"})
    first, second = (compile_pyc.compile_archive(source, OPTIONS) for _ in range(2))
    assert first == second


def test_siblings_are_written_where_they_save(tmp_path: Path, node: str) -> None:
    text, noise = b"again " * 500, bytes(range(256))
    entry = packing.write_served(tmp_path, "text", text, 5, node)
    assert entry.gz == (tmp_path / "text.gz").stat().st_size
    assert entry.br == (tmp_path / "text.br").stat().st_size
    assert gzip.decompress((tmp_path / "text.gz").read_bytes()) == text
    entry = packing.write_served(tmp_path, "noise", noise, 5, node)
    assert (entry.br, entry.gz) == (None, None)
    assert not (tmp_path / "noise.br").exists()


def test_hashes_follow_content_not_compression() -> None:
    first = packing.FileEntry("a", "00", 1, br=5, gz=6)
    other_compression = packing.FileEntry("a", "00", 1, br=4, gz=None)
    other_content = packing.FileEntry("a", "01", 1, br=5, gz=6)
    assert packing.content_hash([first]) == packing.content_hash([other_compression])
    assert packing.content_hash([first]) != packing.content_hash([other_content])

    def runtime(br: int, sha256: str) -> str:
        file = {"name": "a", "sha256": sha256, "bytes": 1, "br": br, "gz": None}
        return packing.runtime_hash({"p": {"version": "1", "base": "/runtime/p/", "files": [file]}})

    assert runtime(1, "00") == runtime(2, "00")
    assert runtime(1, "00") != runtime(1, "01")


def test_lock_file_names_no_package() -> None:
    reduced = packing.reduced_lock_file('{"info": {"python": "3.14.0"}, "packages": {"scipy": {}}}')
    assert reduced == b'{"info":{"python":"3.14.0"},"packages":{}}'


def test_unlisted_folders_go(tmp_path: Path) -> None:
    old, new = "numpy-0123456789abcdef", "numpy-fedcba9876543210"
    for name in (old, new, ".part-x1y2", "photographs"):
        (tmp_path / name).mkdir()
    packing.drop_unlisted({"numpy": {"base": f"/runtime/{new}/"}}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [new, "photographs"]
