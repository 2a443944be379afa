"""What the browsers' runtime has: versions, packages, and the modules of its standard library.

A bundle's lock names these versions; an import of anything else is refused before a study is sent.
The versions are the runtime manifest's (a test compares them with it), the modules those that
could be imported there. Plain data; any thread.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

from hyperflock._base.errors import HyperflockError

# What a study may ask for: the deep learning package of its trials, by the runtime's piece.
RUNTIMES = ("chainer-7.8.1", "chainer-5.4.0")
DEFAULT_RUNTIME = RUNTIMES[0]

RUNTIME_VERSIONS = {"python": "3.14", "pyodide": "314.0.3", "numpy": "2.4.3"}

# What a trial may import beside the standard library; `hyperflock` is the trial's side of it.
RUNTIME_PACKAGES = frozenset(
    {
        *("numpy", "chainer", "six", "hyperflock", "hyperflock_worker", "pyodide", "js"),
        # For studies that ask for a device: array-core, under both of its names.
        *("arraycore", "cupy", "cupyx"),
        # Stand-ins for what Chainer imports.
        *("filelock", "mock", "typing_extensions"),
    }
)

# Pieces of the runtime that every trial's browser loads, beside one Chainer.
CORE_PIECES = ("pyodide", "numpy", "six", "worker")

# What a trial of an Optuna study may import besides, and one whose own code imports any of it;
# pieces of the runtime, too.
ASKED_PACKAGES = frozenset({"optuna", "colorlog", "packaging", "tqdm"})

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
    """Chainer's version in a runtime.

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
    """Whether a top-level module is there; private ones are taken as there."""
    return unit in RUNTIME_PACKAGES or unit in STANDARD_LIBRARY or unit.startswith("_")


def is_library(folder: Path) -> bool:
    """Whether other people's packages live in a folder, or above it."""
    standard = {Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib")}
    return bool(
        standard & {folder, *folder.parents} or {"site-packages", "dist-packages"} & {*folder.parts}
    )
