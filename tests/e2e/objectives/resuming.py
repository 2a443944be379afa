"""Submits a trial of eight steps. It waits half-way until another device resumes it.

It prints the study's id and ends at once.
"""

from typing import Any

HALF, STEPS = 4, 8


def objective(trial: Any) -> float:
    """Return the number of steps that all attempts have made together."""
    from pathlib import Path

    import numpy as np

    def leave(name: str) -> None:
        path = Path(name)
        path.write_text(name)
        trial.upload_artifact(path)

    state = trial.resume()
    done = np.zeros(STEPS) if state is None else state["done"]
    for step in range(int(done.sum()), STEPS):
        done[step] = 1
        trial.report(float(step), step)
        print(f"step {step}")
        if step == HALF - 1 and state is None:
            leave("before.txt")
            trial.set_user_attr("began", "here")
            # On a busy machine the upload may take longer than the call waits.
            while not trial.checkpoint({"done": done, "lr": 0.5}):
                pass
            leave("after.txt")
            trial.set_user_attr("too late", True)
            while True:
                trial.should_prune()
    assert state["lr"] == 0.5
    leave("end.txt")
    return float(done.sum())


def main() -> None:
    """Submit the study with its one trial."""
    import hyperflock

    print(hyperflock.Client().grid(objective, {"x": [0]}, name="resuming").id)


if __name__ == "__main__":
    main()
