"""Runs a notebook's cells as IPython does: in ``__main__``, with the text of each in `linecache`.

python notebook_cells.py NOTEBOOK
"""

from __future__ import annotations

import json
import linecache
import sys
import types
from pathlib import Path


def plain(source: str) -> str:
    """Return a cell without its magics and shell commands; every line keeps its number."""
    return "".join(
        "#" + line if line.lstrip().startswith(("%", "!")) else line
        for line in source.splitlines(keepends=True)
    )


def main(path: Path) -> None:
    """Run the cells."""
    main_module = sys.modules["__main__"] = types.ModuleType("__main__")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            text = plain("".join(cell["source"]))
            name = f"<ipython-input-{number}-{abs(hash(text)):x}>"
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
            exec(compile(text, name, "exec"), vars(main_module))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
