"""Finds the files of a server: its program, the pages and the browsers' runtime.

    parts = find_parts(None, None, None)          # Parts(server, app, runtime, volunteer)

They come from the given paths, from the environment, from a checkout, from this package if it was
installed from a wheel with a server, or from ``PATH``. The first use of a wheel's files unpacks
them (pack.py). Functions block.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from hyperflock._base.errors import HyperflockError
from hyperflock._execution.file_cache import cache_folder
from hyperflock._local.pack import unpacked

BINARY = "hyperflock-server"

# An editable install runs from a checkout; elsewhere this folder has no build.
_CHECKOUT = Path(__file__).resolve().parents[4]
# The folder with the archive, which only a wheel with a server has.
_PACKED = Path(__file__).resolve().parent / "packed"
# Whether releases have a wheel with a server for this machine: they have it for x86-64 Linux only.
_HAS_WHEEL = sys.platform == "linux" and platform.machine() == "x86_64"
_HOW = (
    "install the release's wheel for this system (its name says manylinux), run './run build' in a "
    "checkout, or name a server's program by HYPERFLOCK_SERVER"
    if _HAS_WHEEL
    else "releases have one for Linux on x86-64 only (its wheel's name says manylinux); "
    "HYPERFLOCK_URL names a server elsewhere"
)


@dataclass(frozen=True)
class Parts:
    """The files that a server needs, and those of a volunteer without a browser.

    Attributes
    ----------
    server : Path
        The program.
    app, runtime : Path
        The folders of the built pages and of the browsers' runtime.
    volunteer : Path or None
        The folder of the volunteer for Node; None if it is not here.
    packs : Path or None
        The folder of the packs, such as scikit-learn; None if it is not here.
    """

    server: Path
    app: Path
    runtime: Path
    volunteer: Path | None = None
    packs: Path | None = None


def find_parts(server: str | None, app: str | None, runtime: str | None) -> Parts:
    """Return the server's files.

    Raises
    ------
    HyperflockError
        ``server_not_found``: the program or its files are missing; the message says how to get
        them. Also the errors of `unpacked`.
    """
    binary = find_program(server)
    prefix = binary.resolve().parent.parent
    places = [prefix.parent, _CHECKOUT / "build"]
    if binary == _PACKED / BINARY:
        places = [unpacked(_PACKED, cache_folder())]
    places += [prefix / "share" / "hyperflock", Path("/usr/share/hyperflock")]
    volunteer = (place / "volunteer" for place in places)
    packs = (place / "packs" for place in places)
    return Parts(
        binary.resolve(),
        _folder(app, "HYPERFLOCK_APP", "web", places),
        _folder(runtime, "HYPERFLOCK_RUNTIME", "runtime", places),
        next((folder for folder in volunteer if folder.is_dir()), None),
        next((folder for folder in packs if (folder / "packs.json").is_file()), None),
    )


def find_program(given: str | None = None) -> Path:
    """Return the server's program.

    Raises
    ------
    HyperflockError
        ``server_not_found``: this installation has none; the message says how to get one.
    """
    if given := given or os.environ.get("HYPERFLOCK_SERVER"):
        binary = Path(given)
        if not binary.is_file():
            raise HyperflockError(
                f"'{binary}' is no file; give the path of {BINARY}", code="server_not_found"
            )
        return binary
    built = _CHECKOUT / "build" / "release" / "bin" / BINARY
    if built.is_file():
        return built
    if (_PACKED / BINARY).is_file():
        return _executable(_PACKED / BINARY)
    if installed := shutil.which(BINARY):
        return Path(installed)
    raise HyperflockError(
        f"this installation has no server ({BINARY}); {_HOW}", code="server_not_found"
    )


def _executable(binary: Path) -> Path:
    """Make a program executable, because some installers lose this permission."""
    if not os.access(binary, os.X_OK):
        try:
            binary.chmod(0o755)
        except OSError as error:
            raise HyperflockError(
                f"'{binary}' cannot be made executable: {error.strerror}; 'chmod +x' by the owner "
                "of the file does it",
                code="cannot_write",
            ) from None
    return binary


def _folder(given: str | None, variable: str, name: str, places: list[Path]) -> Path:
    """Return the folder of the pages or the runtime: the given folder, else the one that the
    environment variable ``variable`` names, else the first ``place / name`` that exists.
    """
    told = given or os.environ.get(variable)
    folders = [Path(told)] if told else [place / name for place in places]
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise HyperflockError(
            f"the server's {name} folder is not here; './run build' in a checkout makes it, and "
            f"--{'app' if name == 'web' else name} or {variable} says where it is",
            code="server_not_found",
        )
    return found.resolve()
