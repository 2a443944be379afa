"""Fetch the pure wheels that ``./run python -m pytest`` unpacks into Pyodide.

    python3 test_wheels.py --cache build/cache --node node

They are pinned in test_wheels.json and fetched as the runtime's own files are, into
``CACHE/downloads``, but never served: volunteers run no tests.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runtime"))

from fetching import GatherError, Tools, fetch  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description="Fetch the wheels of ./run python -m pytest.")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--node", default="node")
    options = parser.parse_args()
    tools = Tools(sys.executable, options.node, options.cache.resolve(), None)
    pieces = json.loads((HERE / "test_wheels.json").read_text())["pieces"]
    try:
        for piece in pieces:
            fetch(piece, tools)
    except GatherError as error:
        print(f"test wheels: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
