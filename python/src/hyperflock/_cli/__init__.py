"""The command ``hyperflock``; its entry point is `main`.

The command's other modules take half a second to import. So this module imports nothing before
`main` can catch Ctrl-C.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command and exit with its code. Ctrl-C prints no traceback at any moment."""
    try:
        from hyperflock._cli.entry import start

        code = start(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the time in which `start` handles it
        code = 130
    sys.exit(code)
