"""A folder of files named by the SHA-256 of their content, so that each is fetched only once.

    cache = FileCache(cache_folder())
    cache.get(sha256)                # the checked bytes, or None
    cache.put(sha256, content)

A damaged file counts as missing. When all files together exceed the limit, those that were not used
for the longest time are removed. If the folder cannot be written, nothing is kept, without an
error. Several processes and threads may use one folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import uuid
from pathlib import Path

# A complete runtime has 45 MB, so there is room for the runtimes of several servers.
LIMIT_BYTES = 512 << 20

_SHA256 = re.compile(r"[0-9a-f]{64}")
_PART = ".part-"
# A temporary file that is older than this many seconds was left by a process that was killed.
_STALE_S = 3600.0


def cache_folder() -> Path:
    """Return the user's cache folder; ``HYPERFLOCK_CACHE`` has precedence.

    The default is below ``$XDG_CACHE_HOME`` or ``~/.cache``, on macOS below ``~/Library/Caches``,
    and on Windows below ``%LOCALAPPDATA%``.
    """
    given = os.environ.get("HYPERFLOCK_CACHE")
    if given:
        return Path(given)
    if sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    elif sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "hyperflock"


class FileCache:
    """A folder of files by their hashes.

    Parameters
    ----------
    folder : Path
        The folder, which is created when the first file is kept.
    limit_bytes : int
        The limit for all files together.
    """

    def __init__(self, folder: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes

    def get(self, sha256: str) -> bytes | None:
        """Return a file's bytes; None if it is missing or does not have the hash in its name."""
        path = self._folder / sha256
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() != sha256:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the time of its last use
        return content

    def has(self, sha256: str) -> bool:
        """Return whether a file exists; its content is not checked."""
        return (self._folder / sha256).exists()

    def put(self, sha256: str, content: bytes) -> None:
        """Keep bytes whose hash was checked; a reader sees all of them or none."""
        if len(content) > self._limit_bytes:
            return
        with contextlib.suppress(OSError):
            self._write(sha256, content)
            self._shrink(sha256)

    def note(self, name: str, content: bytes) -> None:
        """Keep bytes under a name, and replace the bytes that were kept under it before."""
        with contextlib.suppress(OSError):
            self._write(f"{name}.json", content)

    def noted(self, name: str) -> bytes | None:
        """Return the bytes that were kept under a name; None if there are none."""
        try:
            return (self._folder / f"{name}.json").read_bytes()
        except OSError:
            return None

    def _write(self, name: str, content: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._folder / f"{_PART}{uuid.uuid4().hex}"
        try:
            part.write_bytes(content)
            os.replace(part, self._folder / name)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def _shrink(self, newest: str) -> None:
        kept: list[tuple[float, int, Path]] = []
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process has removed it
                state = path.stat()
                if _SHA256.fullmatch(path.name) and path.name != newest:
                    kept.append((state.st_mtime, state.st_size, path))
                elif path.name.startswith(_PART):
                    self._drop_stale(path, state.st_mtime)
        room = self._limit_bytes - (self._folder / newest).stat().st_size
        for _, size, path in sorted(kept, reverse=True):
            room -= size
            if room < 0:
                path.unlink(missing_ok=True)

    def _drop_stale(self, path: Path, written_at: float) -> None:
        now = (
            (self._folder).stat().st_mtime
        )  # the file system's clock: the folder was written to just now
        if written_at < now - _STALE_S:
            path.unlink(missing_ok=True)
