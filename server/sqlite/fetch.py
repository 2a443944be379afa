"""Fetches SQLite's amalgamation, which is compiled into the server.

    python3 server/sqlite/fetch.py --cache build/cache

``pin.json`` names the package that contains it, and the SHA-256 of the package and of each file.
The verified files are in ``build/cache/sqlite`` afterwards. Nothing is downloaded if they are
there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "worker-runtime/runtime"))
from fetching import GatherError, Tools, check_sha256, fetch, sha256_of  # noqa: E402


def load_pin() -> dict[str, Any]:
    """Return the pinned package, its files and their hashes."""
    pin: dict[str, Any] = json.loads((HERE / "pin.json").read_text())
    return pin


def is_complete(folder: Path, pin: dict[str, Any]) -> bool:
    """Return whether the folder has each file with the pinned content."""
    return all(
        (folder / Path(member).name).is_file() and sha256_of(folder / Path(member).name) == digest
        for member, digest in pin["members"].items()
    )


def extract(package: Path, folder: Path, pin: dict[str, Any]) -> None:
    """Copy the pinned files out of the package. ``folder`` is replaced only by complete files.

    Raises
    ------
    GatherError
        The package lacks a file, or a file has other content than the pinned one.
    """
    with (
        tempfile.TemporaryDirectory(dir=folder.parent) as scratch,
        tarfile.open(package) as archive,
    ):
        made = Path(scratch) / folder.name
        made.mkdir()
        for member, digest in pin["members"].items():
            try:
                source = archive.extractfile(member)
            except KeyError:
                source = None
            if source is None:
                raise GatherError(f"{package.name} has no file {member}.")
            target = made / Path(member).name
            with source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
            check_sha256(target, digest, package.name)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


def main() -> int:
    """Fetch the files and print where they are."""
    parser = argparse.ArgumentParser(description="Fetch SQLite's amalgamation.")
    parser.add_argument(
        "--cache", type=Path, required=True, help="verified downloads are kept here"
    )
    parser.add_argument("--node", default="node", help="Node.js, npm beside it or on PATH")
    options = parser.parse_args()
    pin = load_pin()
    cache = options.cache.resolve()
    folder = cache / "sqlite"
    try:
        if not is_complete(folder, pin):
            cache.mkdir(parents=True, exist_ok=True)
            tools = Tools(sys.executable, options.node, cache, None)
            advice = f"put the file into {cache / 'downloads'}"
            package = fetch(pin, tools, advice)
            extract(package, folder, pin)
    except GatherError as error:
        print(f"sqlite: error: {error}", file=sys.stderr)
        return 1
    print(f"sqlite: {pin['version']} in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
