"""Rules of the tree that no formatter knows; run by ``./run lint``.

The root holds what it should and nothing else; no source file is longer than 800 lines and no
folder larger than 30 files; lock files name no host; ``docs/where.md`` names folders that exist;
``Atomics.wait`` always has a time-out; every error code of the server and of array-core is
documented, and none that is gone; every part has the version of CMakeLists.txt.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from wait_rule import SUFFIXES, endless_waits

ROOT = Path(__file__).resolve().parent.parent
ROOT_ENTRIES = {
    "CMakeLists.txt", "CMakePresets.json", "server", "worker-runtime", "array-core", "python",
    "web-client", "deploy", "tests", "docker-compose.yml", "README.md", "ARCHITECTURE.md",
    "CHANGELOG.md", "LICENSE", "run", "package.json", "package-lock.json", ".npmrc", ".ci",
    ".clang-format",
    ".clang-tidy", ".gitignore", ".dockerignore", "biome.json", "tsconfig.base.json",
    "ruff.toml", "docs", "protocol",
}  # fmt: skip
SOURCES = {".h", ".cc", ".ts", ".tsx", ".py", ".sh", ".css", ".mjs"}
MAX_LINES = 800
MAX_FILES = 30
#: Folders that may hold more files, each with its reason.
LARGE_FOLDERS = {"array-core/src/abi/calls": "a header and a source for each family of calls"}
#: Folders of data, of which each file is one case.
DATA_FOLDERS = re.compile(r"/(golden|corpus)(/|$)")
DOCS = ("protocol.md", "rest.md")


# CMakeLists.txt has the version; package tools read these copies, which are compared with it.
VERSION = re.compile(r"^project\(hyperflock VERSION (\S+)", re.MULTILINE)
VERSION_COPIES = {
    "array-core/python/pyproject.toml": r'^version = "(.+)"$',
    "docker-compose.yml": r"^ +image: hyperflock-server:(.+)$",
    "package-lock.json": r'"name": "@hyperflock/worker-runtime",\n +"version": "(.+)"',
    "python/src/hyperflock/_base/version.py": r'^__version__ = "(.+)"$',
    "worker-runtime/package.json": r'^  "version": "(.+)",$',
    "worker-runtime/src/base/version.ts": r'"hyperflock-worker/(.+)"',
}


def tracked() -> list[str]:
    """Files that git tracks or would track; every file outside a checkout."""
    git = shutil.which("git")
    command = [str(git), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = git and subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if not listed or listed.returncode:
        skip = {"build", "node_modules", ".git", ".hypothesis", ".ruff_cache", ".mypy_cache"}
        return [
            str(p.relative_to(ROOT))
            for p in ROOT.rglob("*")
            if p.is_file() and not skip & set(p.parts)
        ]
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def problems() -> list[str]:
    """Every broken rule as one line."""
    found = []
    names = tracked()
    for entry in sorted({name.split("/")[0] for name in names} - ROOT_ENTRIES):
        found.append(f"{entry}: not one of the root's entries")
    for name in names:
        path = ROOT / name
        if path.suffix in SOURCES:
            text = path.read_text()
            lines = text.count("\n")
            if lines > MAX_LINES:
                found.append(f"{name}: {lines} lines; split it by idea")
        if path.name == "package-lock.json" and re.search(r'"resolved": *"\w+:', path.read_text()):
            found.append(f"{name}: names a host")
    return (
        found
        + waits(names)
        + undocumented_codes(names)
        + array_core_codes(names)
        + versions()
        + rooms(names)
    )


def rooms(names: list[str]) -> list[str]:
    """Each folder with too many files, and each folder that ``docs/where.md`` names in vain."""
    folders = Counter(str(Path(name).parent) for name in names)
    found = [
        f"{folder}: {count} files; divide it by idea"
        for folder, count in sorted(folders.items())
        if count > MAX_FILES and folder not in LARGE_FOLDERS and not DATA_FOLDERS.search(folder)
    ]
    rows = re.findall(
        r"^\|[^|]+\| `([^`]+)` \|$", (ROOT / "docs/where.md").read_text(), re.MULTILINE
    )
    if len(rows) < 12:
        found.append("docs/where.md: fewer than twelve tasks")
    return found + [
        f"docs/where.md: there is no {row}" for row in rows if not (ROOT / row).is_dir()
    ]


def waits(names: list[str]) -> list[str]:
    """Each wait of a thread that may never end."""
    return [
        f"{name}:{line}: {reason}"
        for name in names
        if Path(name).suffix in SUFFIXES
        for line, reason in endless_waits((ROOT / name).read_text())
    ]


def versions() -> list[str]:
    """Each copy of the version that is not the one of CMakeLists.txt."""
    wanted = VERSION.findall((ROOT / "CMakeLists.txt").read_text())
    return [
        f"{name}: the version is {found}, in CMakeLists.txt {wanted}"
        for name, pattern in VERSION_COPIES.items()
        if (found := re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE)) != wanted
    ]


def undocumented_codes(names: list[str]) -> list[str]:
    """Each error code in the server's sources that its documents do not list."""
    docs = "".join((ROOT / "server" / "docs" / name).read_text() for name in DOCS)
    known = set(re.findall(r"`([a-z][a-z_]+)`", docs))
    made = re.compile(
        r"(?:\b(?:Error|CodeStatus)[{(]\s*|\brefuse\((?:\d+,\s*)?|\bsend_error\([^\";]*)"
        r"\"([a-z][a-z_]+)\""
    )
    found = []
    for name in names:
        if not name.startswith("server/src/") or "test" in name:
            continue
        codes = set(made.findall((ROOT / name).read_text()))
        found += [f"{name}: the code {code} is in none of {DOCS}" for code in codes - known]
    return sorted(found)


# Where a code is made: after a kind, first in a function that makes errors, or as the ring's name.
ARRAY_CORE_CODE = re.compile(
    r"(?:\bErrorKind::\w+,|\b\w*(?:[eE]rror|refuse|fail)\w*\()\s*\"([a-z][a-z_]+)\""
    r"|\bcase ErrorCode::\w+:\s*return \"([a-z][a-z_]+)\""
)
ARRAY_CORE_SOURCES = (
    "array-core/src/",
    "array-core/python/arraycore/",
    "worker-runtime/src/python/",
)


def array_core_codes(names: list[str]) -> list[str]:
    """Each code of array-core's that ``docs/errors.md`` does not list, and each that is gone."""
    rows = re.findall(
        r"^\| (`.*?) \|", (ROOT / "array-core/docs/errors.md").read_text(), re.MULTILINE
    )
    listed = [code for row in rows for code in re.findall(r"`([a-z][a-z_]+)`", row)]
    known, literals = set(listed), set()
    found = [
        f"array-core/docs/errors.md: {code} stands twice"
        for code in known
        if listed.count(code) > 1
    ]
    for name in names:
        if not name.startswith(ARRAY_CORE_SOURCES) or "test" in name or "/fake_" in name:
            continue
        text = (ROOT / name).read_text()
        literals |= set(re.findall(r"\"([a-z][a-z_]+)\"|(?<= )(no_room) ", text))
        if name.startswith("array-core/src/"):
            made = {a or b for a, b in ARRAY_CORE_CODE.findall(text)} - {"none"}
            found += [f"{name}: errors.md does not list {code}" for code in made - known]
    there = {literal for pair in literals for literal in pair}
    found += [f"array-core/docs/errors.md: nothing makes {code}" for code in known - there]
    return sorted(found)


if __name__ == "__main__":
    lines = problems()
    print("\n".join(lines))
    print(f"{len(tracked())} checks of files, {len(lines)} problems")
    sys.exit(1 if lines else 0)
