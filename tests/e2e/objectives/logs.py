"""Runs a grid whose trials log numbers, gaps, a Chainer trainer's means, an image and a summary.

Prints what arrived, as JSON: the table of the study, the table of its series, one trial, its files.
"""

import json
import sys
from typing import Any

STEPS = 1_200


def logging(trial: Any) -> dict[str, float]:
    """Log more rows than one message holds, then train a little and log an image."""
    import math

    import hyperflock
    import numpy as np
    from chainer import functions, iterators, links, optimizers, training

    for step in range(STEPS):
        loss = trial.params["rate"] / (step + 1)
        trial.log({"loss": math.nan if step == 7 else loss, "rate": np.float32(0.25)}, step)
        if step % 100 == 99:
            trial.log({"val/accuracy": 1 - loss}, step, epoch=step // 100)

    x = np.arange(40, dtype=np.float32).reshape(20, 2) / 40
    model = links.Classifier(links.Linear(2, 1), lossfun=functions.mean_squared_error)
    model.compute_accuracy = False
    optimizer = optimizers.SGD(0.01)
    optimizer.setup(model)
    batches = iterators.SerialIterator(list(zip(x, x[:, :1], strict=True)), 10)
    trainer = training.Trainer(training.StandardUpdater(batches, optimizer), (3, "epoch"))
    trainer.extend(hyperflock.LogReport(Shifted(trial)))
    trainer.run()

    trial.log({"sample": hyperflock.Image(np.eye(8))})
    trial.set_user_attr("git", "a3f9c2e")
    return {"value": loss, "parameters": 3}


class Shifted:
    """A trial that logs each row at a later step, after the rows that are logged already."""

    def __init__(self, trial: Any) -> None:
        self._trial = trial

    def log(self, values: Any, step: int, epoch: float) -> None:
        """Log the row at a later step."""
        self._trial.log(values, STEPS + step, epoch)


def main() -> int:
    """Run the study; print what arrived."""
    import hyperflock

    study = hyperflock.Client().grid(logging, {"rate": [0.5, 0.25]}, name="logging").wait()
    trials, steps = study.to_pandas(), study.to_pandas(series=True)
    first = study.trial(0)
    if first.error is not None or first.series is None:
        print(first.error)
        return 1
    found = {
        "columns": [name for name in trials if name.startswith(("summary_", "user_"))],
        "summary": first.summary | {"elapsed_time": 0},
        "attributes": first.user_attrs,
        "rows": [int((steps.number == number).sum()) for number in (0, 1)],
        "names": list(steps.columns),
        "gap": steps.loss[steps.step == 7].isna().tolist(),
        "losses": steps.loss[steps.step == STEPS - 1].tolist(),
        "epochs": steps.epoch.dropna().tolist()[:3],
        "main/loss": int(steps["main/loss"].notna().sum()),
        "points": {name: len(pairs) for name, pairs in first.series.items()},
        "files": [file.name for file in study.artifacts(0)],
        "csv": len(study.export("csv", series=True).splitlines()),
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
