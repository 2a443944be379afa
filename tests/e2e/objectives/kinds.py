"""Submits a study of one short trial of a kind, to see what a device downloads for it.

It prints the study's id and ends at once. ``--seed`` makes the data new each time.
"""

import argparse
from typing import Any


def plain(trial: Any) -> float:
    """Return the point's x."""
    return float(trial.params["x"])


def with_data(trial: Any) -> float:
    """Return the sum of the data."""
    return float(trial.data["numbers"].sum())


def trained(net: Any, x: Any) -> float:
    """Train the model for one step. Return the loss before it."""
    import chainer

    optimizer = chainer.optimizers.SGD().setup(net)
    loss = chainer.functions.sum(net(x))
    net.cleargrads()
    loss.backward()
    optimizer.update()
    return float(loss.array)


def model(trial: Any) -> float:
    """Train a linear model on the processor, without array-core."""
    import chainer
    import numpy as np

    return trained(chainer.links.Linear(8, 2), np.ones((4, 8), np.float32))


def model_on_device(trial: Any) -> float:
    """Train a linear model on the graphics device."""
    import chainer
    import hyperflock
    import numpy as np

    device = hyperflock.device("webgpu").use()
    x = np.ones((4, 8), np.float32)
    return trained(device.send(chainer.links.Linear(8, 2)), device.send(x))


def forest(trial: Any) -> float:
    """Fit a small forest of scikit-learn, which needs packs."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    features, target = load_iris(return_X_y=True)
    return float(
        RandomForestClassifier(5, random_state=0).fit(features, target).score(features, target)
    )


def main() -> None:
    """Submit the study that the arguments describe."""
    import hyperflock
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "kind", choices=("plain", "webgpu", "chainer", "data", "sklearn", "sklearn-data")
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mib", type=int, default=6)
    options = parser.parse_args()
    client = hyperflock.Client()
    name = f"kind {options.kind} {options.seed}"
    if options.kind == "plain":
        study = client.grid(plain, {"x": [options.seed]}, name=name)
    elif options.kind in ("data", "sklearn-data"):
        size = options.mib << 20
        numbers = np.random.default_rng(options.seed).integers(0, 256, size, dtype=np.uint8)
        objective = with_data if options.kind == "data" else forest
        study = client.grid(objective, {"x": [options.seed]}, data={"numbers": numbers}, name=name)
    elif options.kind == "sklearn":
        study = client.grid(forest, {"x": [options.seed]}, name=name)
    elif options.kind == "chainer":
        study = client.grid(model, {"x": [options.seed]}, name=name)
    else:
        study = client.grid(model_on_device, {"x": [options.seed]}, name=name, backend="webgpu")
    print(study.id)


if __name__ == "__main__":
    main()
