"""Runs two trials of an Optuna study that upload arrays, as in Optuna's documentation.

It prints the content of the study's artifact store as one line of JSON.
"""

import json
import tempfile
from collections.abc import Callable

import numpy as np
import optuna
from optuna.artifacts import FileSystemArtifactStore, upload_artifact

COUNT = 100_000


def leaving(artifact_store: FileSystemArtifactStore) -> Callable[[optuna.Trial], float]:
    """Return an objective that uploads arrays to ``artifact_store``."""

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 10)
        np.savez("weights & more.npz", weights=np.arange(COUNT) * x)
        artifact_id = upload_artifact(
            artifact_store=artifact_store, file_path="weights & more.npz", study_or_trial=trial
        )
        trial.set_user_attr("artifact_id", artifact_id)
        return x

    return objective


def main() -> None:
    """Run both trials on devices."""
    import hyperflock.optuna

    with tempfile.TemporaryDirectory() as kept:
        # Only this process knows the path of this folder.
        artifact_store = FileSystemArtifactStore(kept)
        study = optuna.create_study(study_name="leaving")
        for x in (2.0, 3.0):
            study.enqueue_trial({"x": x})
        hyperflock.optuna.optimize(study, leaving(artifact_store), n_trials=2)
        found = []
        for trial in study.trials:
            [meta] = optuna.artifacts.get_all_artifact_meta(trial, storage=study._storage)
            assert meta.artifact_id == trial.user_attrs["artifact_id"]
            with artifact_store.open_reader(meta.artifact_id) as file:
                weights = np.load(file)["weights"]
            right = bool(np.array_equal(weights, np.arange(COUNT) * trial.params["x"]))
            found.append([trial.params["x"], meta.artifact_id, meta.filename, right])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
