"""Builds the folder of the packs: packages that a browser fetches only for a study that needs them.

    python3 gather_packs.py --cache build/cache --out build/packs --node node

It downloads what packs.json pins, compiles all Python with the same Pyodide that runs it, and
writes content-addressed folders and packs.json. The server serves them next to the runtime
(``--packs``). A second run only verifies. The runtime must be gathered first, because its Pyodide
compiles the packs. Needs Python 3.11 with pip, and Node.js.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gather
import packing
from fetching import GatherError, Tools, say

HERE = Path(__file__).resolve().parent
# The limit in bytes of what a study of scikit-learn adds to a first visit, with all that it needs.
SKLEARN_BUDGET_BYTES = 16_000_000


def load_packs(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """Read the pinned packs. Each gets the sources and the exclusions that all have in common.

    Returns
    -------
    str, list of dict
        The version of Pyodide that the packs are built for, and the packs. A pack comes after those
        that it needs.

    Raises
    ------
    GatherError
        The file is no list of packs or has another schema, or a pack needs one that does not come
        before it. So a circle is refused, too.
    """
    try:
        data = json.loads(path.read_text())
        if data["schema"] != 1:
            raise GatherError(f"{path.name} has schema {data['schema']!r}; this script reads 1.")
        packs = [_whole(pack, data) for pack in data["packs"]]
        version = str(data["pyodide"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise GatherError(f"{path.name} is no list of packs ({error!r}).") from error
    known: set[str] = set()
    for pack in packs:
        if missing := [name for name in pack["needs"] if name not in known]:
            raise GatherError(
                f"{path.name}: {pack['name']} needs {missing[0]}, which does not come before it."
            )
        known.add(pack["name"])
    return version, packs


def _whole(pack: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pack with what all packs have in common."""
    sources = [
        {
            key: value.replace("{file}", pack["file"]) if isinstance(value, str) else value
            for key, value in source.items()
        }
        for source in data["sources"]
    ]
    return {
        **{key: pack[key] for key in ("name", "version", "file", "sha256", "imports", "needs")},
        "pack": "python",
        "sources": sources,
        "exclude": [*data["exclude"], *pack.get("exclude", [])],
    }


def gathered_core(manifest: Path, version: str, cache: Path) -> dict[str, Any]:
    """Return the piece with the gathered Pyodide.

    Raises
    ------
    GatherError
        The runtime has another Pyodide than the packs, or it was not gathered yet.
    """
    core = next(p for p in gather.load_manifest(manifest) if p["pack"] == "pyodide")
    if core["version"] != version:
        raise GatherError(
            f"the packs are built for Pyodide {version}, and the runtime has {core['version']}."
        )
    if not (cache / "downloads" / str(core["file"])).is_file():
        raise GatherError("the runtime is not gathered; run gather.py with the same --cache first.")
    return core


def gather_packs(listing: Path, manifest: Path, out: Path, tools: Tools, quality: int) -> Any:
    """Bring ``out`` up to date and return the packs by their names.

    Raises
    ------
    GatherError
        A file cannot be fetched, has the wrong content, or cannot be compiled.
    """
    version, packs = load_packs(listing)
    core = gathered_core(manifest, version, tools.cache)

    def described(pieces: Mapping[str, Any]) -> dict[str, Any]:
        return {
            pack["name"]: {
                **pieces[pack["name"]],
                "imports": pack["imports"],
                "needs": pack["needs"],
            }
            for pack in packs
        }

    def list_of(pieces: Mapping[str, Any]) -> dict[str, Any]:
        return {"pyodide": version, "packs": described(pieces)}

    pieces = gather.refreshed(packs, core, out / "packs.json", list_of, tools, quality, {})
    return described(pieces)


def with_needs(packs: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Return packs and all that they need, in the order in which the packs are listed."""
    wanted = set(names)
    # A pack is listed after those that it needs.
    for name in reversed(packs):
        if name in wanted:
            wanted.update(packs[name]["needs"])
    return [name for name in packs if name in wanted]


def wire_bytes(packs: dict[str, Any], names: Sequence[str]) -> int:
    """Return the bytes that a browser downloads for packs and all that they need."""
    return sum(packing.wire_bytes(packs[name]) for name in with_needs(packs, names))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Gather the packs.")
    parser.add_argument(
        "--cache", type=Path, required=True, help="verified downloads are kept here"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of the packs")
    parser.add_argument("--node", default="node", help="Node.js binary")
    parser.add_argument("--python", default=sys.executable, help="interpreter whose pip is used")
    parser.add_argument("--pyodide-dir", type=Path, help="the operator's own folder, tried first")
    parser.add_argument(
        "--brotli-quality", type=int, default=9, choices=range(1, 12), metavar="1-11"
    )
    parser.add_argument("--packs", type=Path, default=HERE / "packs.json")
    parser.add_argument("--manifest", type=Path, default=HERE / "manifest.json")
    options = parser.parse_args(argv)
    started = time.monotonic()
    tools = Tools(options.python, options.node, options.cache.resolve(), options.pyodide_dir)
    try:
        packs = gather_packs(
            options.packs, options.manifest, options.out.resolve(), tools, options.brotli_quality
        )
    except GatherError as error:
        print(f"packs: error: {error}", file=sys.stderr)
        return 1
    size = wire_bytes(packs, ["scikit-learn"]) if "scikit-learn" in packs else 0
    say(
        f"packs ready in {time.monotonic() - started:.1f} s; "
        f"a study of scikit-learn adds {size / 1e6:.2f} MB on the wire"
    )
    if size > SKLEARN_BUDGET_BYTES:
        limit = SKLEARN_BUDGET_BYTES / 1e6
        print(f"packs: error: scikit-learn may take {limit:.1f} MB at most.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
