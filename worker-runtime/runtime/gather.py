"""Builds the folder with the browser runtime, which the server sends to browsers, from downloads.

    python3 gather.py --cache build/cache --out build/runtime --node node

It downloads what manifest.json pins (Pyodide, NumPy, Chainer, six, Optuna and what it needs), adds
the project's own worker packages and array-core's modules, compiles all Python with the same
Pyodide that runs it, and writes the content-addressed folder that the server serves at /runtime/,
with index.json. A second run only verifies. Needs Python 3.11 with pip and venv, Node.js with npm,
and array-core's modules.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import packing
from fetching import GatherError, Tools, build_wheel, fetch, say

HERE = Path(__file__).resolve().parent
# The limit for a first visit, which downloads Pyodide, NumPy, one Chainer, six and the worker
# package.
FIRST_VISIT_BUDGET_BYTES = 11_300_000
# The limits for the pieces that only some trials download: those that ask for a device, and those
# of an Optuna study.
ON_DEMAND_BUDGETS_BYTES = {"array-core": 900_000, "optuna": 600_000}


def load_manifest(path: Path) -> list[dict[str, Any]]:
    """Read the pinned pieces. Refuse a file with another schema."""
    data = json.loads(path.read_text())
    if data.get("schema") != 1:
        raise GatherError(f"{path.name} has schema {data.get('schema')!r}; this script reads 1.")
    return list(data["pieces"])


def trees_of(piece: Mapping[str, Any]) -> list[packing.Tree]:
    """Return the project's own folders and packages in a piece that is not downloaded."""
    return [
        ((HERE / source["path"]).resolve(), source["packages"])
        for source in piece["sources"]
        if source["kind"] == "tree"
    ]


def script_hash() -> bytes:
    """Return a hash of all files here that determine how a piece is built."""
    digest = hashlib.sha256()
    for path in sorted(HERE.iterdir()):
        if path.is_file() and path.suffix in {".py", ".mjs", ".txt"}:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()


def modules_of(piece: Mapping[str, Any], folder: Path) -> dict[str, bytes]:
    """Return the WebAssembly modules that are served next to a piece's archive, by name.

    Raises
    ------
    GatherError
        A module is not built.
    """
    modules = {}
    for name in piece.get("modules", ()):
        try:
            modules[name] = (folder / name).read_bytes()
        except OSError as error:
            raise GatherError(f"{folder / name} is not built ({error.strerror}).") from error
    return modules


def piece_key(
    piece: Mapping[str, Any],
    pyodide_sha256: str,
    quality: int,
    script: bytes,
    modules: Mapping[str, bytes],
) -> str:
    """Return a key that changes whenever the piece would be built differently."""
    digest = hashlib.sha256(script)
    digest.update(packing.canonical([piece, pyodide_sha256, quality]))
    for content in modules.values():
        digest.update(hashlib.sha256(content).digest())
    trees = trees_of(piece)
    if trees:
        digest.update(packing.tree_archive_digest(trees))
    return digest.hexdigest()


def read_stamps(out: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((out / ".stamps.json").read_text()))
    except (OSError, ValueError):
        return {}


def obtain(piece: Mapping[str, Any], pyodide: Path, tools: Tools) -> Path:
    """Return the archive of the Python sources of one piece; download or build it."""
    if piece["pack"] == "pyodide":
        return pyodide / "python_stdlib.zip"
    trees = trees_of(piece)
    if trees:
        path = tools.cache / f"{piece['name']}-sources.zip"
        path.write_bytes(packing.tree_archive(trees))
        return path
    file = fetch(piece, tools)
    return build_wheel(file, tools) if file.name.endswith(".tar.gz") else file


def gather(
    manifest: Path, out: Path, tools: Tools, quality: int, arraycore: Path
) -> dict[str, Any]:
    """Bring ``out`` up to date and return the index's pieces.

    Parameters
    ----------
    manifest, out, tools, quality
        The file of pinned versions, the folder that is served, the programs, and brotli's quality
        (1 to 11).
    arraycore : Path
        The folder of array-core's WebAssembly modules.

    Raises
    ------
    GatherError
        A file cannot be fetched, has the wrong content, or cannot be compiled.
    """
    pieces = load_manifest(manifest)
    core = next(piece for piece in pieces if piece["pack"] == "pyodide")
    modules = {p["name"]: modules_of(p, arraycore) for p in pieces}
    return refreshed(pieces, core, out / "index.json", packing.index_of, tools, quality, modules)


def refreshed(
    pieces: Sequence[Mapping[str, Any]],
    core: Mapping[str, Any],
    listing: Path,
    list_of: Callable[[Mapping[str, Any]], object],
    tools: Tools,
    quality: int,
    modules: Mapping[str, Mapping[str, bytes]],
) -> dict[str, Any]:
    """Build those pieces that are missing or would be built differently now, in the folder of
    ``listing``. Return all of them by name.

    Parameters
    ----------
    pieces, core
        The pieces, and the one with the Pyodide that compiles them.
    listing, list_of
        The file that lists the pieces, and what it says of them. It is written last.
    tools, quality
        See `gather`.
    modules
        The WebAssembly modules beside a piece's archive, by the piece's name.
    """
    out = listing.parent
    for folder in (tools.cache, out):
        folder.mkdir(parents=True, exist_ok=True)
    script = script_hash()
    keys = {
        p["name"]: piece_key(p, core["sha256"], quality, script, modules.get(p["name"], {}))
        for p in pieces
    }
    stamps = read_stamps(out)
    done: dict[str, Any] = {
        name: stamps[name]["piece"]
        for name, key in keys.items()
        if stamps.get(name, {}).get("key") == key and packing.is_intact(stamps[name]["piece"], out)
    }
    missing = [piece for piece in pieces if piece["name"] not in done]
    if missing:
        with ThreadPoolExecutor(max_workers=4) as pool:
            tarball = pool.submit(fetch, core, tools)
            others = [p for p in missing if p is not core and not trees_of(p)]
            for future in [pool.submit(obtain, p, Path(), tools) for p in others]:
                future.result()
            pyodide = packing.unpack_pyodide(tarball.result(), tools.cache)
        archives = {p["name"]: tools.cache / f"{p['name']}-compiled.zip" for p in missing}
        say(f"compiling {', '.join(archives)} with Pyodide {core['version']}")
        jobs = [
            packing.compile_job(p, obtain(p, pyodide, tools), archives[p["name"]]) for p in missing
        ]
        packing.compile_archives(jobs, pyodide, tools)
        for piece in missing:
            name = piece["name"]
            say(f"{name}: compressing (brotli {quality})")
            done[name] = packing.pack_piece(
                piece, archives[name], pyodide, out, quality, tools, modules.get(name, {})
            )
            archives[name].unlink()
    ordered = {piece["name"]: done[piece["name"]] for piece in pieces}
    if missing or not listing.is_file():
        packing.write_list(list_of(ordered), listing)
        stamped = {name: {"key": keys[name], "piece": piece} for name, piece in ordered.items()}
        (out / ".stamps.json").write_text(json.dumps(stamped))
    packing.drop_unlisted(ordered, out)
    return ordered


def first_visit_bytes(pieces: Mapping[str, Any], on_demand: Collection[str]) -> int:
    """Return the bytes of a first visit: all that is not on demand, and the larger Chainer."""
    sizes = {
        name: packing.wire_bytes(piece) for name, piece in pieces.items() if name not in on_demand
    }
    chainers = [size for name, size in sizes.items() if name.startswith("chainer-")]
    return sum(sizes.values()) - sum(chainers) + max(chainers, default=0)


def on_demand_bytes(pieces: Mapping[str, Any], on_demand: Collection[str]) -> int:
    """Return the bytes that only some trials fetch; of a piece's modules, the largest counts."""
    total = 0
    for name in on_demand:
        files = pieces[name]["files"]
        sizes = {file["name"]: file["br"] or file["bytes"] for file in files}
        modules = [size for file, size in sizes.items() if file.endswith(".wasm")]
        total += sum(sizes.values()) - sum(modules) + max(modules, default=0)
    return total


def on_demand_names(manifest: Path) -> dict[str, list[str]]:
    """Return the pieces that only some trials fetch, by their purpose."""
    names: dict[str, list[str]] = {}
    for piece in load_manifest(manifest):
        if "on_demand" in piece:
            names.setdefault(piece["on_demand"], []).append(piece["name"])
    return names


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Gather the browser runtime.")
    parser.add_argument(
        "--cache", type=Path, required=True, help="verified downloads are kept here"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder served at /runtime/")
    parser.add_argument("--node", default="node", help="Node.js binary, npm beside it or on PATH")
    parser.add_argument("--python", default=sys.executable, help="interpreter whose pip is used")
    parser.add_argument("--pyodide-dir", type=Path, help="the operator's own folder, tried first")
    parser.add_argument(
        "--brotli-quality", type=int, default=9, choices=range(1, 12), metavar="1-11"
    )
    parser.add_argument("--manifest", type=Path, default=HERE / "manifest.json")
    parser.add_argument(
        "--arraycore",
        type=Path,
        default=HERE.parents[1] / "build" / "arraycore",
        help="folder of array-core's WebAssembly modules",
    )
    options = parser.parse_args(argv)
    started = time.monotonic()
    cache = options.cache.resolve()
    tools = Tools(options.python, options.node, cache, options.pyodide_dir)
    try:
        out = options.out.resolve()
        arraycore = options.arraycore.resolve()
        pieces = gather(options.manifest, out, tools, options.brotli_quality, arraycore)
    except GatherError as error:
        print(f"runtime: error: {error}", file=sys.stderr)
        return 1
    on_demand = on_demand_names(options.manifest)
    visit = first_visit_bytes(pieces, [name for names in on_demand.values() for name in names])
    more = {what: on_demand_bytes(pieces, names) for what, names in on_demand.items()}
    spent_s = time.monotonic() - started
    say(
        f"ready in {spent_s:.1f} s; a first visit is {visit / 1e6:.2f} MB on the wire"
        + "".join(f", {what} {size / 1e6:.2f} MB more" for what, size in more.items())
    )
    budgets = {"a first visit": FIRST_VISIT_BUDGET_BYTES, **ON_DEMAND_BUDGETS_BYTES}
    for what, size in {"a first visit": visit, **more}.items():
        budget = budgets[what]
        if size > budget:
            print(
                f"runtime: error: {what} may take {budget / 1e6:.1f} MB at most.", file=sys.stderr
            )
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
