"""Lists what the browsers' runtime has: versions, packages and standard modules.

A bundle's lock file contains these versions. A study that imports another package is refused before
it is sent. A test compares the versions with the runtime's manifest. The module has plain data
only; any thread may use it.
"""

from __future__ import annotations

import functools
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hyperflock._base.errors import HyperflockError

# The runtimes that a study may ask for, each with its version of Chainer.
RUNTIMES = ("chainer-7.8.1", "chainer-5.4.0")
DEFAULT_RUNTIME = RUNTIMES[0]

RUNTIME_VERSIONS = {"python": "3.14", "pyodide": "314.0.3", "numpy": "2.4.3"}

# The packages that a trial may import, apart from the standard library.
RUNTIME_PACKAGES = frozenset(
    {
        *("numpy", "chainer", "six", "hyperflock", "hyperflock_worker", "pyodide", "js"),
        # array-core, and CuPy's names, by which Chainer imports it.
        *("arraycore", "cupy", "cupyx"),
        # Replacements of packages that Chainer imports.
        *("filelock", "mock", "typing_extensions"),
    }
)

# The parts of the runtime that each browser loads, in addition to one version of Chainer.
CORE_PIECES = ("pyodide", "numpy", "six", "worker")

# The packages that a browser loads for trials of ask-and-tell studies, and for code that imports
# one of them.
ASKED_PACKAGES = frozenset({"optuna", "colorlog", "packaging", "tqdm"})


@dataclass(frozen=True)
class Pack:
    """A package that a browser loads only for code that imports it.

    Attributes
    ----------
    version : str
    imports : tuple of str
        The top-level modules.
    needs : tuple of str
        The packs that it needs itself.
    """

    version: str
    imports: tuple[str, ...]
    needs: tuple[str, ...] = ()


# The packs by the names that Pyodide gives them, each after those that it needs. The runtime's
# packs.json pins them.
PACKS: dict[str, Pack] = {
    "joblib": Pack("1.5.3", ("joblib",)),
    "threadpoolctl": Pack("3.6.0", ("threadpoolctl",)),
    "scipy": Pack("1.18.0", ("scipy",)),
    "scikit-learn": Pack("1.8.0", ("sklearn",), ("scipy", "joblib", "threadpoolctl")),
    "python-dateutil": Pack("2.9.0.post0", ("dateutil",)),
    "pytz": Pack("2026.1.post1", ("pytz",)),
    "pandas": Pack("3.0.2", ("pandas",), ("python-dateutil", "pytz")),
    "pillow": Pack("12.2.0", ("PIL",)),
    "cycler": Pack("0.12.1", ("cycler",)),
    "contourpy": Pack("1.3.3", ("contourpy",)),
    "fonttools": Pack("4.62.1", ("fontTools",)),
    "kiwisolver": Pack("1.5.0", ("kiwisolver",)),
    "packaging": Pack("26.1", ("packaging",)),
    "pyparsing": Pack("3.3.2", ("pyparsing",)),
    "matplotlib": Pack(
        "3.10.8",
        ("pylab", "mpl_toolkits", "matplotlib"),
        (
            *("contourpy", "cycler", "fonttools", "kiwisolver", "packaging", "pillow", "pyparsing"),
            *("python-dateutil", "pytz"),
        ),
    ),
    "mpmath": Pack("1.4.1", ("mpmath",)),
    "sympy": Pack("1.14.0", ("isympy", "sympy"), ("mpmath",)),
    "regex": Pack("2026.3.32", ("regex",)),
}
PACK_OF = {unit: name for name, pack in PACKS.items() for unit in pack.imports}

_MODULES = """
    abc annotationlib argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2
    cProfile calendar cmath cmd code codecs codeop collections colorsys compileall compression
    concurrent configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime
    decimal difflib dis doctest email encodings enum errno faulthandler fcntl filecmp fileinput
    fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib gzip
    hashlib heapq hmac html http imaplib importlib inspect io ipaddress itertools json keyword
    linecache locale logging lzma mailbox marshal math mimetypes mmap modulefinder
    multiprocessing netrc ntpath nturl2path numbers opcode operator optparse os pathlib pdb
    pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint profile pstats
    pty py_compile pyclbr pydoc pyexpat queue quopri random re reprlib rlcompleter runpy sched
    secrets select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3
    sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess
    symtable sys sysconfig tabnanny tarfile tempfile termios textwrap threading time timeit
    token tokenize tomllib trace traceback tracemalloc tty types typing unicodedata unittest
    urllib uuid warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport
    zlib zoneinfo
"""
STANDARD_LIBRARY = frozenset(_MODULES.split())


def chainer_of(runtime: str) -> str:
    """Return the version of Chainer in a runtime.

    Raises
    ------
    HyperflockError
        ``unknown_runtime``: there is no such runtime.
    """
    if runtime not in RUNTIMES:
        raise HyperflockError(
            f"there is no runtime {runtime!r}; take one of {', '.join(RUNTIMES)}",
            code="unknown_runtime",
            field="runtime",
        )
    return runtime.removeprefix("chainer-")


def runtime_has(unit: str) -> bool:
    """Return whether every browser has a top-level module, without a pack. The answer is True for
    every module whose name begins with an underscore.
    """
    return unit in RUNTIME_PACKAGES or unit in STANDARD_LIBRARY or unit.startswith("_")


def with_needs(names: Iterable[str]) -> tuple[str, ...]:
    """Return packs and all that they need, in the order in which `PACKS` lists them. Names of other
    packages, such as Optuna, are left out.
    """
    wanted = set(names)
    # A pack is listed after those that it needs.
    for name in reversed(PACKS):
        if name in wanted:
            wanted.update(PACKS[name].needs)
    return tuple(name for name in PACKS if name in wanted)


@functools.lru_cache(maxsize=4096)
def is_library(folder: Path) -> bool:
    """Return whether a folder belongs to installed packages or to the standard library.

    The answers are cached, because a search for an objective's modules asks thousands of times.
    """
    if {"site-packages", "dist-packages"} & {*folder.parts}:
        return True
    return bool(_standard_folders() & {folder, *folder.parents})


@functools.lru_cache(maxsize=1)
def _standard_folders() -> frozenset[Path]:
    """Return the folders of the standard library."""
    return frozenset(Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib"))
