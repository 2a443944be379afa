"""Finds the installed versions of Python, and makes empty environments into which pip installs
wheels.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "build/wheel"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
LIMIT_S = 900
#: The modules of the standard library that the package needs and that some builds of Python lack.
NEEDED = "import lzma, sqlite3, ssl, venv"


def python_of(version: str) -> str | None:
    """Return the path of an interpreter of this version, or None. python/tests/support/versions.sh
    looks in the same places.
    """
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local/share/uv/python"))
    found = [shutil.which(f"python{version}"), *pyenv.glob(f"{version}.*/bin/python")]
    found += uv.glob(f"cpython-{version}.*/bin/python")
    for path in filter(None, found):
        asked = subprocess.run([path, "-c", NEEDED], capture_output=True, check=False)
        if asked.returncode == 0:
            return str(path)
    return None


PYTHONS = {version: path for version in VERSIONS if (path := python_of(version))}
#: The versions that tests run on: all that are here with ``./run test --whole``, else the oldest
#: and the newest.
ENDS = (next(iter(PYTHONS), None), next(reversed(PYTHONS), None))
TESTED = [version for version in PYTHONS if os.environ.get("HYPERFLOCK_WHOLE") or version in ENDS]


def wheel(ending: str) -> Path:
    """Return the wheel of the researcher's package whose name has this ending."""
    (found,) = WHEELS.glob(f"hyperflock-*{ending}.whl")
    return found


class Installed:
    """An empty environment without a compiler, into which pip installs ``words``.

    Parameters
    ----------
    python
        The interpreter.
    folder
        The folder of the environment; also its home and its programs' current folder.
    words
        Arguments of ``pip install``.
    """

    def __init__(self, python: str, folder: Path, *words: str | Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            # The package uses this Node. The extra `local` would install the same program from a
            # wheel.
            "HYPERFLOCK_NODE": str(ROOT / "build/venv/bin/node"),
        }
        subprocess.run([python, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        self.install(*words)

    def install(self, *words: str | Path) -> None:
        """Install ``words`` by pip, with a PATH that has no compiler.

        The pip is the one of the tests' own environment, and Python compiles only what a program
        imports. So an installation takes half of the CPU time.
        """
        pip = [sys.executable, "-m", "pip", "--python", self.bin / "python"]
        done = subprocess.run(
            [*pip, "install", "-q", "--no-compile", *words],
            cwd=self.folder,
            env={**os.environ, "PATH": str(self.bin), "CC": "false"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment. The current folder is the environment's own."""
        return subprocess.run(
            [self.bin / words[0], *words[1:]],
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
