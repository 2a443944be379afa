"""The end of the commands of ``./run`` that build files: what was built, or why nothing was."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


def report(build: Callable[[], list[Path]], error: type[Exception]) -> int:
    """Build files and print their sizes. Return the command's exit status.

    ``error`` is what ``build`` raises if the files cannot be built; its message is printed.
    """
    try:
        made = build()
    except error as reason:
        print(f"run: {reason}", file=sys.stderr)
        return 1
    for path in made:
        print(f"{path.stat().st_size:>12,}  {path}")
    return 0
