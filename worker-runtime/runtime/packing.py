"""Builds the folder that the server sends to browsers, from verified downloads.

It contains compiled archives, pre-compressed siblings, content-addressed names and index.json.
Needs only the standard library and Node.js.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fetching import GatherError, Tools

# The files that loadPyodide requests. The package also has consoles, types and source maps.
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
SITE_PACKAGES = "/lib/python3.14/site-packages"
STDLIB_ROOT = "/lib/python314.zip"
# A compressed sibling is written only if it saves this share of the file.
MIN_SAVING = 0.05
HERE = Path(__file__).resolve().parent
_PART = ".part-"
# One of the project's own folders, with the names of its packages and modules that are served.
Tree = tuple[Path, Sequence[str]]
_OWN_FOLDER = re.compile(rf"[a-z0-9.-]+-[0-9a-f]{{16}}|{re.escape(_PART)}.*")


@dataclass(frozen=True)
class FileEntry:
    """A served file; ``br`` and ``gz`` are the sizes of its compressed siblings, if any."""

    name: str
    sha256: str
    bytes: int
    br: int | None
    gz: int | None


def canonical(value: object) -> bytes:
    """Return JSON with sorted keys and no spaces, from which hashes are computed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def content_hash(entries: Sequence[FileEntry]) -> str:
    """Return 16 hex digits for names and contents, independent of compression settings."""
    listed = [[entry.name, entry.sha256] for entry in sorted(entries, key=lambda e: e.name)]
    return hashlib.sha256(canonical(listed)).hexdigest()[:16]


def runtime_hash(pieces: Mapping[str, Any]) -> str:
    """Return the hash that identifies a runtime in index.json and in the provenance of results. It
    depends on contents, not on compression.
    """
    content = {
        name: {
            "version": piece["version"],
            "base": piece["base"],
            "files": [[f["name"], f["sha256"], f["bytes"]] for f in piece["files"]],
        }
        for name, piece in pieces.items()
    }
    return hashlib.sha256(canonical(content)).hexdigest()


def brotli_compress(data: bytes, quality: int, node: str) -> bytes:
    """Compress by Node's library (brotli.mjs)."""
    command = [node, str(HERE / "brotli.mjs"), str(quality)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GatherError(f"node could not compress ({error}).") from error
    if done.returncode != 0 or not done.stdout:
        raise GatherError(f"{node} could not compress: {done.stderr.decode()[-300:].strip()}")
    return done.stdout


def write_served(folder: Path, name: str, data: bytes, quality: int, node: str) -> FileEntry:
    """Write a file, and each of its compressed forms that is smaller by at least `MIN_SAVING`."""
    (folder / name).write_bytes(data)
    packed = {
        "br": brotli_compress(data, quality, node),
        "gz": gzip.compress(data, compresslevel=9, mtime=0),
    }
    sizes: dict[str, int | None] = {}
    for suffix, content in packed.items():
        sizes[suffix] = None
        if len(content) < len(data) * (1 - MIN_SAVING):
            (folder / f"{name}.{suffix}").write_bytes(content)
            sizes[suffix] = len(content)
    digest = hashlib.sha256(data).hexdigest()
    return FileEntry(name, digest, len(data), sizes["br"], sizes["gz"])


def unpack_pyodide(tarball: Path, cache: Path) -> Path:
    """Unpack npm's tarball of Pyodide once, and return its folder. The compiler and the pages use
    its files.
    """
    folder = cache / tarball.name.removesuffix(".tgz")
    if not (folder / "ready").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "package").mkdir(parents=True)
        with tarfile.open(tarball) as archive:
            for name in (*PYODIDE_FILES, "python_stdlib.zip", "pyodide-lock.json"):
                member = archive.extractfile(f"package/{name}")
                if member is None:
                    raise GatherError(f"{tarball.name} has no file {name}.")
                (folder / "package" / name).write_bytes(member.read())
        (folder / "ready").touch()
    return folder / "package"


def reduced_lock_file(text: str) -> bytes:
    """Return Pyodide's lock file without packages, because none is loaded by name from a server."""
    return canonical({"info": json.loads(text)["info"], "packages": {}})


def tree_files(trees: Sequence[Tree]) -> Iterator[tuple[str, Path]]:
    """Return the sources of the project's own packages with their names in an archive."""
    for base, packages in trees:
        for package in packages:
            path = base / package
            for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
                yield file.relative_to(base).as_posix(), file


def tree_archive(trees: Sequence[Tree]) -> bytes:
    """Return a zip of the project's own sources, which `compile_archives` compiles."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, path in tree_files(trees):
            archive.write(path, name)
    return out.getvalue()


def tree_archive_digest(trees: Sequence[Tree]) -> bytes:
    """Return a hash of the names and contents of the project's own packages."""
    digest = hashlib.sha256()
    for name, path in tree_files(trees):
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


def compile_archives(jobs: Sequence[Mapping[str, Any]], pyodide: Path, tools: Tools) -> None:
    """Run all jobs in one Pyodide; each has ``source``, ``target`` and ``options``."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=tools.cache) as listing:
        json.dump(jobs, listing)
        listing.flush()
        command = [tools.node, str(HERE / "compile_pyc.mjs"), str(pyodide), listing.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GatherError(f"node could not compile the packages ({error}).") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        reason = (lines or done.stderr.splitlines() or ["no output"])[-1]
        raise GatherError(f"{tools.node} could not compile the packages: {reason[:300]}")


def compile_job(piece: Mapping[str, Any], source: Path, target: Path) -> dict[str, Any]:
    """Return the job of `compile_archives` for one piece."""
    options: dict[str, Any]
    if piece["pack"] == "pyodide":
        # Most of the standard library never runs. It stays as sources, which need half as many
        # bytes on the wire as compiled files.
        lines = (HERE / "stdlib_hot.txt").read_text().splitlines()
        hot = [line for line in lines if line and not line.startswith("#")]
        options = {"root": STDLIB_ROOT, "exclude": [], "only": hot, "docstrings": []}
    else:
        options = {
            "root": SITE_PACKAGES,
            "exclude": piece["exclude"],
            "only": ["*.py"],
            "docstrings": piece.get("docstrings", []),
        }
    options["untyped"] = piece.get("untyped", [])
    options["lazy"] = piece.get("lazy", [])
    options["append"] = piece.get("append", {})
    return {"source": str(source), "target": str(target), "options": options}


def pack_piece(
    piece: Mapping[str, Any],
    archive: Path,
    pyodide: Path,
    out: Path,
    quality: int,
    tools: Tools,
    modules: Mapping[str, bytes],
) -> dict[str, Any]:
    """Write one piece below ``out`` and return its part of the index.

    ``modules`` are the files that are served next to the archive, by name.
    """
    contents: dict[str, bytes]
    if piece["pack"] == "pyodide":
        contents = {name: (pyodide / name).read_bytes() for name in PYODIDE_FILES}
        contents["python_stdlib.zip"] = archive.read_bytes()
        contents["pyodide-lock.json"] = reduced_lock_file(
            (pyodide / "pyodide-lock.json").read_text()
        )
    else:
        contents = {f"{piece['name']}.zip": archive.read_bytes(), **modules}
    with tempfile.TemporaryDirectory(dir=out, prefix=_PART) as folder, ThreadPoolExecutor() as pool:
        entries = list(
            pool.map(
                lambda item: write_served(Path(folder), item[0], item[1], quality, tools.node),
                sorted(contents.items()),
            )
        )
        name = f"{piece['name']}-{content_hash(entries)}"
        target = out / name
        shutil.rmtree(target, ignore_errors=True)
        os.chmod(folder, 0o755)
        shutil.copytree(folder, target)
    return {
        "version": piece["version"],
        "base": f"/runtime/{name}/",
        "files": [asdict(entry) for entry in entries],
    }


def is_intact(piece: Mapping[str, Any], out: Path) -> bool:
    """Return whether every file of an indexed piece exists with the right content and siblings."""
    folder = out / str(piece["base"]).strip("/").split("/")[-1]
    for entry in piece["files"]:
        path = folder / entry["name"]
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            return False
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != entry["sha256"]:
                return False
        for suffix in ("br", "gz"):
            sibling = folder / f"{entry['name']}.{suffix}"
            size = sibling.stat().st_size if sibling.is_file() else None
            if size != entry[suffix]:
                return False
    return True


def index_of(pieces: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of index.json."""
    return {"runtime": runtime_hash(pieces), "pieces": pieces}


def write_list(content: object, path: Path) -> None:
    """Write a list of pieces as JSON, atomically, so that a reader never sees half a runtime."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(content, indent=1) + "\n")
    os.replace(part, path)


def drop_unlisted(pieces: Mapping[str, Any], out: Path) -> None:
    """Remove pieces that the index does not name any more, and half-written ones."""
    listed = {str(piece["base"]).strip("/").split("/")[-1] for piece in pieces.values()}
    for path in out.iterdir():
        # Nothing else is removed, because --out may name a folder with an operator's own files.
        if path.is_dir() and path.name not in listed and _OWN_FOLDER.fullmatch(path.name):
            shutil.rmtree(path)


def wire_bytes(piece: Mapping[str, Any]) -> int:
    """Return the bytes that a browser which accepts brotli downloads for one piece."""
    return sum(entry["br"] or entry["bytes"] for entry in piece["files"])
