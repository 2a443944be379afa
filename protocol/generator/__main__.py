"""Writes every generated file of the protocol, from the root: ``python3 -m protocol.generator``.

With ``--check`` it writes nothing, names each file that would change, and fails if there is one.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from protocol.generator import cpp, document, python, sobol, typescript
from protocol.generator.schema import FOLDER, Schema, load

ROOT = FOLDER.parent
WRITERS = (cpp, document, python, typescript, sobol)
FORMATTERS = {
    ".h": ("clang-format", "--assume-filename={}"),
    ".ts": ("npx", "biome", "check", "--write", "--stdin-file-path={}"),
    ".py": ("ruff", "format", "--stdin-filename={}", "-"),
}


def generated(schema: Schema) -> dict[Path, str]:
    """Return the formatted text of every generated file, by the file's path."""
    return {
        ROOT / path: formatted(path, text)
        for writer in WRITERS
        for path, text in writer.files(schema).items()
    }


def formatted(path: str, text: str) -> str:
    """Format the text with the formatter of the file's language, if there is one."""
    words = FORMATTERS.get(Path(path).suffix)
    if words is None:
        return text
    # clang-format and ruff are installed in the folder of this Python interpreter.
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [word.format(path) for word in words],
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
    """Write the files, or compare them. Return the exit status."""
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
