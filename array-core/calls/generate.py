"""Writes the files that are generated from the table: ``python3 array-core/calls/generate.py``.

With ``--check`` it writes nothing, names each file that would change, and fails if there is one.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import cpp
from table import Table, load

import python

ROOT = Path(__file__).resolve().parent.parent.parent
FORMATTERS = {
    ".cc": ("clang-format", "--assume-filename={}"),
    ".h": ("clang-format", "--assume-filename={}"),
    ".py": ("ruff", "format", "--stdin-filename={}", "-"),
}


def generated(table: Table) -> dict[Path, str]:
    """Return the text of every generated file by its path, formatted."""
    return {
        ROOT / path: _formatted(path, text)
        for writer in (cpp, python)
        for path, text in writer.files(table).items()
    }


def _formatted(path: str, text: str) -> str:
    """Return the text of a file, formatted by the formatter of its language."""
    # The formatters are installed in the same folder as this Python.
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = [word.format(path) for word in FORMATTERS[Path(path).suffix]]
    run = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PATH": search},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"{words[0]} refuses {path}: {run.stderr}\n{text}")
    return run.stdout


def main() -> int:
    """Write the files, or compare them; the result is the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    stale = [
        (path, text)
        for path, text in generated(load()).items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    for path, text in stale:
        print(f"{'stale' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_text(text, "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
