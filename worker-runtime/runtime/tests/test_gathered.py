"""Tests the gathered folder: index and files agree, and a second run only verifies or repairs them.

It reads ``build/runtime`` (or ``HYPERFLOCK_RUNTIME``).
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import gather
import packing
import pytest
from fetching import GatherError, Tools
from places import LIMIT_S, SCRIPTS


def folder_of(piece: dict[str, Any], runtime: Path) -> Path:
    assert piece["base"].startswith("/runtime/")
    assert piece["base"].endswith("/")
    return runtime / str(piece["base"]).split("/")[2]


def unbrotli(packed: bytes, node: str) -> bytes:
    script = "process.stdout.write(zlib.brotliDecompressSync(fs.readFileSync(0)))"
    return subprocess.run(
        [node, "-e", script], input=packed, capture_output=True, check=True, timeout=LIMIT_S
    ).stdout


def test_index_and_files_agree(runtime: Path, index: dict[str, Any], node: str) -> None:
    listed = set()
    for name, piece in index["pieces"].items():
        folder = folder_of(piece, runtime)
        for entry in piece["files"]:
            path = folder / entry["name"]
            data = path.read_bytes()
            assert len(data) == entry["bytes"]
            assert hashlib.sha256(data).hexdigest() == entry["sha256"]
            listed.add(path)
            for suffix in ("br", "gz"):
                sibling = folder / f"{entry['name']}.{suffix}"
                assert sibling.exists() == (entry[suffix] is not None), sibling
                if sibling.exists():
                    assert sibling.stat().st_size == entry[suffix]
                    packed = sibling.read_bytes()
                    plain = gzip.decompress(packed) if suffix == "gz" else unbrotli(packed, node)
                    assert plain == data
                    listed.add(sibling)
        entries = [packing.FileEntry(**entry) for entry in piece["files"]]
        assert folder.name == f"{name}-{packing.content_hash(entries)}"
    assert {
        path for path in runtime.rglob("*") if path.is_file() and path.parent != runtime
    } == listed
    assert index["runtime"] == packing.runtime_hash(index["pieces"])


def test_first_visit_is_within_its_budget(index: dict[str, Any]) -> None:
    on_demand = gather.on_demand_names(SCRIPTS / "manifest.json")
    optuna = ["packaging", "colorlog", "tqdm", "optuna"]
    assert on_demand == {"array-core": ["arraycore"], "optuna": optuna}
    pieces = index["pieces"]
    visit = gather.first_visit_bytes(pieces, ["arraycore", *optuna])
    assert visit <= gather.FIRST_VISIT_BUDGET_BYTES
    for what, names in on_demand.items():
        assert gather.on_demand_bytes(pieces, names) <= gather.ON_DEMAND_BUDGETS_BYTES[what]


@pytest.mark.parametrize(
    "name",
    [
        *("numpy", "chainer-7.8.1", "chainer-5.4.0", "six", "worker", "arraycore"),
        *("packaging", "colorlog", "tqdm", "optuna"),
    ],
)
def test_python_pieces_are_compiled_and_licensed(
    name: str, runtime: Path, index: dict[str, Any]
) -> None:
    piece = index["pieces"][name]
    (entry,) = (file for file in piece["files"] if file["name"].endswith(".zip"))
    with zipfile.ZipFile(folder_of(piece, runtime) / entry["name"]) as archive:
        names = archive.namelist()
    assert not [n for n in names if n.endswith(".py")]
    assert [n for n in names if n.endswith(".pyc")]
    if name not in {"worker", "arraycore"}:
        assert [n for n in names if "LICEN" in n], "redistribution keeps the licence"


def test_no_piece_names_another_origin(runtime: Path, index: dict[str, Any]) -> None:
    lock_file = folder_of(index["pieces"]["pyodide"], runtime) / "pyodide-lock.json"
    assert b"http" not in lock_file.read_bytes()


def run_gather(out: Path, cache: Path, node: str) -> subprocess.CompletedProcess[str]:
    options = ["--cache", str(cache), "--out", str(out), "--node", node]
    command = [sys.executable, str(SCRIPTS / "gather.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)


@pytest.fixture
def copy(runtime: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runtime, tmp_path / "runtime"))


def test_second_run_only_verifies(copy: Path, cache: Path) -> None:
    before = (copy / "index.json").read_bytes()
    started = time.monotonic()
    # This "node" fails whenever it runs, so the test passes only if nothing is compiled.
    done = run_gather(copy, cache, "false")
    spent_s = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    assert (copy / "index.json").read_bytes() == before
    assert spent_s < 3, "verifying takes 0.1 s; the rest is room for a busy machine"


@pytest.mark.parametrize("damage", ["changed", "missing", "sibling"])
def test_damaged_piece_is_built_again(copy: Path, cache: Path, node: str, damage: str) -> None:
    (victim,) = copy.glob("six-*/six.zip")
    before = victim.read_bytes()
    if damage == "changed":
        victim.write_bytes(before[:-1] + b"X")
    elif damage == "missing":
        victim.unlink()
    else:
        (victim.parent / "six.zip.br").unlink()
    done = run_gather(copy, cache, node)
    assert done.returncode == 0, done.stderr
    assert "compiling six with" in done.stdout, "and nothing else"
    assert victim.read_bytes() == before, "the same content at the same address"
    assert (victim.parent / "six.zip.br").is_file()


def test_other_worker_code_builds_that_piece_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = gather.load_manifest(SCRIPTS / "manifest.json")
    keys = [gather.piece_key(piece, "core", 9, b"script", {}) for piece in pieces]
    monkeypatch.setattr(packing, "tree_archive_digest", lambda trees: b"changed")
    changed = [gather.piece_key(piece, "core", 9, b"script", {}) for piece in pieces]
    differing = [p["name"] for p, a, b in zip(pieces, keys, changed, strict=True) if a != b]
    assert differing == ["worker", "arraycore"]


def test_another_module_builds_its_piece_again(tmp_path: Path) -> None:
    (piece,) = (
        one for one in gather.load_manifest(SCRIPTS / "manifest.json") if one.get("modules")
    )
    keys = set()
    for content in (b"one", b"two"):
        for name in piece["modules"]:
            (tmp_path / name).write_bytes(content)
        modules = gather.modules_of(piece, tmp_path)
        keys.add(gather.piece_key(piece, "core", 9, b"script", modules))
    assert len(keys) == 2
    with pytest.raises(GatherError, match="is not built"):
        gather.modules_of(piece, tmp_path / "nowhere")


def test_refused_download_is_told_on_one_line(tmp_path: Path, cache: Path) -> None:
    downloads = tmp_path / "cache" / "downloads"
    downloads.mkdir(parents=True)
    (downloads / "pyodide-314.0.3.tgz").write_bytes(b"damaged")
    for path in (cache / "downloads").iterdir():
        if not path.name.startswith("pyodide"):
            (downloads / path.name).symlink_to(path.resolve())
    (tmp_path / "cache" / "wheels").symlink_to((cache / "wheels").resolve())
    done = run_gather(tmp_path / "out", tmp_path / "cache", "false")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("runtime: error: pyodide-314.0.3.tgz from the cache has sha256")
    assert not (tmp_path / "out" / "index.json").exists()


def test_tools_that_fail_are_told(tmp_path: Path) -> None:
    tools = Tools(python="false", node="false", cache=tmp_path, local=None)
    with pytest.raises(GatherError, match="false could not compile the packages"):
        packing.compile_archives([], tmp_path, tools)
    with pytest.raises(GatherError, match="false could not compress"):
        packing.brotli_compress(b"data", 5, "false")
    with pytest.raises(GatherError, match="node could not compress"):
        packing.brotli_compress(b"data", 5, "/no/such/node")
