"""Submits a study for each line that it reads, as the researcher in the tests with hostile trials.

``--list`` prints the table. Otherwise each line of standard input is ``{"attempt": name}`` or
``{"neighbour": x, "backend": name}``, with ``params`` and ``limit_s``. The answer, also a line of
JSON, says how the study's only trial ended. For a neighbour (a trial that runs after an attack) it
also has the right value.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import device_neighbour
import neighbour
from table import ATTEMPTS


def outcome_of(study: Any) -> dict[str, Any]:
    """Return how the study's trial ended, as JSON values: the first that failed, or the last."""
    trials = list(study)
    trial = next((one for one in trials if one.error is not None), trials[-1])
    error = trial.error
    return {
        "study": study.id,
        "end": trial.state if error is None else f"{error.cause} {error.code}",
        "message": "" if error is None else error.message,
        "values": list(trial.values),
        "attempts": trial.attempts,
        "device": trial.device,
        "run_s": trial.run_s,
    }


def main() -> None:
    """Answer each line until standard input ends."""
    if "--list" in sys.argv:
        rows = [
            {
                "name": row.name,
                "end": row.end,
                "short": row.short,
                "backend": row.backend,
                "trials": row.trials,
            }
            for row in ATTEMPTS
        ]
        print(json.dumps(rows))
        return
    import hyperflock

    attempts = {row.name: row for row in ATTEMPTS}
    client = hyperflock.Client()
    for line in sys.stdin:
        job = json.loads(line)
        limit = {"time_limit_s": job["limit_s"], "progress": False}
        if "attempt" in job:
            space = {name: [value] for name, value in job["params"].items()}
            row = attempts[job["attempt"]]
            if row.trials > 1:
                space["turn"] = list(range(row.trials))
            study = client.grid(row.objective, space, name=row.name, backend=row.backend, **limit)
            answer = outcome_of(study)
        else:
            x, backend = job["neighbour"], job["backend"]
            one = neighbour.neighbour if backend is None else device_neighbour.on_device
            study = client.grid(one, {"x": [x]}, name=f"neighbour {x}", backend=backend, **limit)
            right = neighbour.answer(x) if backend is None else device_neighbour.answer(x)
            answer = {**outcome_of(study), "expected": right}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
