"""``python -m in_trial PLACE`` runs the suite's cases and prints their outcomes as JSON."""

import json
import os
import sys
from typing import Any

from in_trial.player import play

place: Any = sys.argv[1]
print(json.dumps(play(place, json.loads(os.environ["HYPERFLOCK_NAMES"]))))
