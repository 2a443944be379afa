"""Computes hashes over parts of the tree as it is on the disk."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from pathlib import Path

#: The folders that no suite reads: built files and caches of tools. They are skipped if there is no
#: git.
SKIPPED = {"build", "node_modules", ".git", "__pycache__", ".hypothesis", ".mypy_cache"}


def files_of(root: Path) -> list[str]:
    """Return every file that git tracks or would track; without a checkout, every file."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        found = (path.relative_to(root) for path in root.rglob("*"))
        return sorted(str(path) for path in found if not SKIPPED & set(path.parts))
    return sorted({name for name in done.stdout.decode().split("\0") if name})


class Tree:
    """The files of the tree with the hashes of their contents. Each file is read once."""

    def __init__(self, root: Path) -> None:
        self._hashes: dict[str, str] = {}
        for name in files_of(root):
            path = root / name
            if path.is_file():
                executable = bool(path.stat().st_mode & 0o100)
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                self._hashes[name] = f"{content} {executable}"

    def fingerprint(self, paths: Iterable[str]) -> str:
        """Return one hash over the names and contents of files, and of all files in folders."""
        exact = set(paths)
        below = tuple(path + "/" for path in exact)
        digest = hashlib.sha256()
        for name, content in self._hashes.items():
            if "." in exact or name in exact or name.startswith(below):
                digest.update(f"{name}\0{content}\0".encode())
        return digest.hexdigest()
