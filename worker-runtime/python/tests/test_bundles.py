"""Tests how bundles are read: an intact bundle is unpacked unchanged, and any other one is
refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hyperflock_worker import bundles
from hyperflock_worker.bundles import LOCK_NAME, Attached, BundleReadError, Lock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def lock(**changes: Any) -> bytes:
    return json.dumps({"schema": 1, "versions": {}, "wheels": [], "arrays": [], **changes}).encode()


def code_of(content: bytes, folder: Path) -> str:
    with pytest.raises(BundleReadError) as caught:
        bundles.unpack(content, folder / "code")
    assert str(caught.value).count("\n") == 0
    return caught.value.code


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)

parts = st.from_regex(r"[a-z_][a-z0-9_.]{0,6}[a-z0-9_]", fullmatch=True)
names = st.lists(parts, min_size=1, max_size=3).map("/".join)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(files=st.dictionaries(names, st.binary(max_size=2000), max_size=8))
def test_what_is_whole_comes_out_as_it_went_in(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    folders = {name.rpartition("/")[0] for name in files}
    # A path cannot be both a file and the folder of another file.
    files = {
        n: c for n, c in files.items() if not any(f"{f}/".startswith(f"{n}/") for f in folders)
    }
    folder = tmp_path_factory.mktemp("whole")
    assert bundles.unpack(zipped(files), folder / "code") == Lock({}, (), ())
    assert contents(folder / "code") == files


@pytest.mark.parametrize(
    "name",
    [
        *("../a.py", "a/../../b.py", "/etc/a.py", "a//b.py", "a/./b.py", "..", "a\\b.py"),
        *("c:a.py", "a\nb.py", "a/\x01", "a" * 201, ""),
    ],
)
def test_name_that_leaves_its_folder_is_refused_before_a_file_is_written(
    name: str, tmp_path: Path
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("first.py", "")
        entry = zipfile.ZipInfo("placeholder")
        entry.filename = name
        entry.orig_filename = name
        archive.writestr(entry, "x")
    assert code_of(out.getvalue(), tmp_path) == "bundle_unsafe"
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_one_and_links_are_refused(tmp_path: Path) -> None:
    assert code_of(zipped({"a.py": b"", "A.py": b""}), tmp_path) == "bundle_unsafe"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.create_system = 3
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert code_of(out.getvalue(), tmp_path) == "bundle_unsafe"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archive_of_another_method_is_refused(method: int, tmp_path: Path) -> None:
    assert code_of(zipped({"a.py": b"x" * 100}, method), tmp_path) == "bundle_damaged"


def test_too_much_is_refused_whatever_the_archive_says_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "MAX_UNPACKED_BYTES", 10_000)
    monkeypatch.setattr(bundles, "MAX_FILES", 5)
    assert code_of(zipped({"a": bytes(6_000), "b": bytes(6_000)}), tmp_path) == "bundle_too_large"
    assert code_of(zipped({str(n): b"" for n in range(6)}), tmp_path) == "bundle_too_large"
    # The zip's directory says that the file has 1 byte, which is wrong.
    content = zipped({"a": bytes(20_000)})
    lie = content.replace((20_000).to_bytes(4, "little"), (1).to_bytes(4, "little"))
    assert code_of(lie, tmp_path / "lie") in {"bundle_damaged", "bundle_too_large"}


def test_damage_is_refused_with_a_code_and_never_another_error(tmp_path: Path) -> None:
    """Bytes are flipped, cut, doubled and inserted 3,000 times, with a fixed seed."""
    rng = random.Random(20)
    files = {"a/b.py": b"x = 1\n" * 50, "c.py": bytes(range(256)), LOCK_NAME: lock()}
    sources = [zipped(files, method) for method in METHODS]
    codes: list[str] = []
    for number in range(3_000):
        damaged = bytearray(rng.choice(sources))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(damaged))
            match rng.randrange(4):
                case 0:
                    damaged[at] ^= 1 << rng.randrange(8)
                case 1:
                    del damaged[at : at + rng.randint(1, 40)]
                case 2:
                    damaged[at:at] = damaged[at : at + rng.randint(1, 40)]
                case _:
                    damaged[at:at] = rng.randbytes(rng.randint(1, 8))
            if not damaged:
                break
        folder = tmp_path / str(number) / "code"
        try:
            bundles.unpack(bytes(damaged), folder)
        except BundleReadError as error:
            codes.append(error.code)
    assert set(codes) <= {"bundle_damaged", "bundle_unsafe", "bundle_too_large"}
    assert len(codes) > 1_500
    assert [path for path in tmp_path.iterdir() if not path.name.isdigit()] == []


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=400))
def test_bytes_that_are_no_zip_are_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    assert code_of(content, tmp_path_factory.mktemp("none")) in {"bundle_damaged", "bundle_unsafe"}


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000),
        lock(schema=2),
        lock(versions=3),
        lock(wheels=[{}]),
        lock(wheels=[{"name": "w", "file": "../w", "sha256": "0" * 64}]),
        lock(arrays=[{"name": "a", "file": "a.npy", "sha256": "0"}]),
    ],
)
def test_lock_that_cannot_be_read_is_damage(text: bytes, tmp_path: Path) -> None:
    assert code_of(zipped({LOCK_NAME: text}), tmp_path) == "bundle_damaged"


def test_lock_names_each_version_that_differs() -> None:
    made_for = Lock({"python": "3.14", "pyodide": "314.0.3", "numpy": "2.4.3"}, (), ())
    bundles.check_runtime(made_for)  # there is nothing to compare outside a browser
    bundles.check_runtime(made_for, dict(made_for.versions))
    with pytest.raises(BundleReadError) as caught:
        bundles.check_runtime(made_for, {"python": "3.14", "pyodide": "315.0.0", "numpy": "2.5.0"})
    assert caught.value.code == "runtime_mismatch"
    assert "made for pyodide 314.0.3 (here 315.0.0), numpy 2.4.3 (here 2.5.0);" in str(caught.value)


def test_wheels_and_arrays_are_laid_out_and_checked_by_their_hashes(tmp_path: Path) -> None:
    wheel, array = zipped({"tool/__init__.py": b"ONE = 1"}), b"an array"
    made = Lock(
        {},
        (Attached("wheel:tool", "tool.whl", hashlib.sha256(wheel).hexdigest()),),
        (Attached("array:1", "values/1.npy", hashlib.sha256(array).hexdigest()),),
    )
    data = {"wheel:tool": wheel, "array:1": array}
    (place,) = bundles.lay_out(made, data, tmp_path)
    assert (place / "tool" / "__init__.py").read_bytes() == b"ONE = 1"
    assert (tmp_path / "code" / "values" / "1.npy").read_bytes() == array
    for broken in ({"wheel:tool": wheel}, {**data, "array:1": b"another"}):
        with pytest.raises(BundleReadError) as caught:
            bundles.lay_out(made, broken, tmp_path / "again")
        assert caught.value.code == "bundle_damaged"
