"""A small disk of its own for the state folder of a server.

    with small_disk(tmp_path / "state", mib=64) as disk:
        disk.fill()          # until no byte is free
        disk.free()

It is a file system in memory that the test mounts, which needs the rights of root. Where mounting
is forbidden, as in a container, it is a folder of `/dev/shm` if that is as small as containers make
it. Otherwise the test fails.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_SHARED = Path("/dev/shm")
_SMALL = 256 << 20
_PIECE = 1 << 20


class SmallDisk:
    """The disk, and a file on it that takes its free bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self, leaving: int = 0) -> None:
        """Take every byte that is free, but for about ``leaving``. May be called again."""
        with self._ballast.open("ab", buffering=0) as ballast:
            piece = _PIECE
            while piece:
                try:
                    ballast.write(bytes(piece))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    piece //= 2
        assert self.free_bytes() == 0
        os.truncate(self._ballast, max(0, self._ballast.stat().st_size - leaving))

    def free(self) -> None:
        """Give the bytes back."""
        self._ballast.unlink()

    def free_bytes(self) -> int:
        """Return how many bytes are free."""
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize


@contextlib.contextmanager
def small_disk(folder: Path, mib: int) -> Iterator[SmallDisk]:
    """Make ``folder`` the folder of a small disk."""
    folder.mkdir()
    size = f"size={mib}m"
    command = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode == 0:
        try:
            yield SmallDisk(folder)
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
        return
    found = os.statvfs(_SHARED)
    assert found.f_blocks * found.f_frsize <= _SMALL, f"no small disk: {mounted.stderr}"
    folder.rmdir()
    shared = Path(tempfile.mkdtemp(dir=_SHARED))
    folder.symlink_to(shared)
    try:
        yield SmallDisk(folder)
    finally:
        shutil.rmtree(shared)
