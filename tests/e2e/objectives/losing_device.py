"""Runs a trial whose graphics device is lost while it computes, and which resumes from its
checkpoint.

It prints the study's id once it is submitted, and waits for the result. The exit code is 1 if the
result is not from a second attempt that resumed from the checkpoint.
"""

import sys
from typing import Any

SAVED = 6
STEPS = 600


def objective(trial: Any) -> float:
    """Count steps in an array on the device.

    The first attempt saves a checkpoint and continues until the device is lost. A resumed attempt
    ends soon.
    """
    import time

    import hyperflock

    # After the loss, only a software device is left, which "auto" would not choose.
    xp = hyperflock.device("webgpu").use().xp
    saved = trial.resume()
    start = 0 if saved is None else int(saved["step"])
    total = xp.zeros(8, "float32")
    for step in range(start, STEPS):
        total += 1
        trial.report(float(total[0]), step)
        time.sleep(0.05)
        if saved is not None and step == start + 3:
            return float(start)
        if saved is None and step == SAVED - 1:
            assert trial.checkpoint({"step": SAVED})
    return -1.0


def main() -> int:
    """Submit the study, and wait for its result."""
    import hyperflock

    study = hyperflock.Client().grid(objective, {"x": [0]}, name="losing", backend="auto")
    print(study.id, flush=True)
    (result,) = list(study)
    trial = study.trial(0)
    first, *_, last = trial.attempt_list
    print(result.state, result.values, [run.error for run in trial.attempt_list])
    lost = first.error is not None and (first.error.cause, first.error.code) == (
        "device_lost",
        "device_lost",
    )
    return int(not lost or result.values != (float(SAVED),) or last.state != "accepted")


if __name__ == "__main__":
    sys.exit(main())
