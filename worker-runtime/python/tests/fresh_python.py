"""Runs code in new interpreters with one Chainer each, from the wheels in ``build/cache/wheels``.

Two versions of Chainer cannot be imported in one process, and import hooks need a new interpreter.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ROOT / "worker-runtime" / "python"
# Further modules for the code: the `hyperflock` of a trial, and the hosts of the tests.
_SOURCES = [str(PACKAGES), str(ROOT / "python" / "src"), str(ROOT / "python/tests/support")]
VERSIONS = ("7.8.1", "5.4.0")


def cache_folder() -> Path:
    return Path(os.environ.get("HYPERFLOCK_CACHE", ROOT / "build" / "cache"))


def chainer_paths(version: str) -> list[str]:
    """Return the folders of one version of Chainer and of the package ``six``, unpacked as in a
    browser.
    """
    wheel = cache_folder() / "wheels" / f"chainer-{version}-py3-none-any.whl"
    six = cache_folder() / "downloads" / "six-1.17.0-py2.py3-none-any.whl"
    if not wheel.is_file() or not six.is_file():
        pytest.fail(f"{wheel} is missing: gather the runtime first (./run build)")
    return [unpacked(wheel), unpacked(six)]


@functools.cache
def scratch_folder() -> Path:
    """Return a folder that this process removes at its end."""
    folder = tempfile.TemporaryDirectory(prefix="fresh-python-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@functools.cache
def unpacked(wheel: Path) -> str:
    """Unpack a wheel and return the folder. Python caches compiled modules only for folders."""
    folder = scratch_folder() / wheel.stem
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return str(folder)


def optuna_paths() -> list[str]:
    """Return the wheels of Optuna and of its requirements."""
    names = ("optuna", "packaging", "colorlog", "tqdm")
    downloads = cache_folder() / "downloads"
    return [str(path) for name in names for path in downloads.glob(f"{name}-*.whl")]


def run_python(code: str, paths: list[str]) -> Any:
    """Run ``code`` in a new interpreter, with warnings as errors. Return its ``result``.

    It runs in an empty folder, because a trainer creates its folder in the working directory.
    """
    text = f"{code}\nimport json as _json\nprint('RESULT ' + _json.dumps(result))\n"
    env = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": os.pathsep.join([*_SOURCES, *paths]),
        "PYTHONPYCACHEPREFIX": str(scratch_folder() / "compiled"),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        env=env,
        cwd=tempfile.mkdtemp(dir=scratch_folder()),
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode != 0:
        raise SnippetError(done.stderr)
    return json.loads(done.stdout.rsplit("RESULT ", 1)[1])


class SnippetError(Exception):
    """The code raised an error. The text is its traceback."""


def without(patch: str) -> str:
    """Return code that removes one patch from the table before the patches are installed."""
    return f"patches.PATCHES = tuple(p for p in patches.PATCHES if p.apply is not patches.{patch})"
