"""Runs stored trials again, in the browsers' runtime in Node, and prints their results as JSON.

node python_command.ts --mount FOLDER in_node.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hyperflock._trial.host import ReplayHost
from hyperflock_worker.runner import run_attempt

outcomes = {}
for path in sorted(Path(sys.argv[1]).glob("*/trial-*.json")):
    kept = json.loads(path.read_text())
    folder = path.parent
    data = {
        name: (kind, (folder / sha256).read_bytes(), filename)
        for name, (kind, sha256, filename) in kept["data"].items()
    }
    bundle = (folder / kept["bundle"]).read_bytes()
    text = run_attempt(json.dumps(kept["spec"]), bundle, data, (), ReplayHost(None))
    outcomes[f"{folder.name}/{path.stem}"] = json.loads(text)
print("\n" + json.dumps(outcomes))
