"""Runs bundles of several kinds, which the real server sends to real browsers.

The kinds are a closure over a large array with a file of 5 MB, a partial of a class's method, a
closure that imports from a declared wheel, and a bundle for another runtime, which the server
refuses. Prints the value or the error of each study.
"""

import functools
import hashlib
import json
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

SCALE = 3.0


class Model:
    """A class that the script defines, with state."""

    def __init__(self, width: int) -> None:
        self.width = width

    def score(self, offset: float, trial: Any) -> float:
        """Return a value that depends on the object, a global, an argument and the trial."""
        return self.width * SCALE + offset + trial.params["x"]


def with_wheel(expected: int) -> Any:
    """Return an objective that imports from a wheel."""

    def objective(trial: Any) -> float:
        from travelling_tool.inner import VALUE

        print("the wheel is there:", VALUE)
        return float(expected == VALUE)

    return objective


def main() -> int:
    """Run the studies. Return 0 if each ended as it should."""
    import hyperflock
    import numpy as np
    from hyperflock._bundle import archive as _archive

    folder = Path(tempfile.mkdtemp())
    content = np.random.default_rng(0).bytes(5_000_000)
    (folder / "five.bin").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    wheel = folder / "travelling_tool-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("travelling_tool/__init__.py", "")
        archive.writestr("travelling_tool/inner.py", "VALUE = 41 + 1\n")
    large = np.arange(200_000, dtype=np.float32)

    def of_file_and_array(trial: Any) -> float:
        with open(trial.data["five"], "rb") as file:
            same = hashlib.sha256(file.read()).hexdigest() == digest
        return float(same) + float(large[-1]) + trial.params["x"]

    client = hyperflock.Client()
    space = {"x": [0.5]}
    file = {"five": folder / "five.bin"}
    studies = {
        "file and array": (client.grid(of_file_and_array, space, file), 200_000.5),
        "partial": (client.grid(functools.partial(Model(4).score, 1.0), space), 13.5),
        "wheel": (client.grid(with_wheel(42), space, wheels=[wheel]), 1.0),
    }
    _archive.RUNTIME_VERSIONS["pyodide"] = "1.0.0"
    found: dict[str, Any] = {}
    try:
        client.grid(lambda trial: 1.0, space)
    except hyperflock.ServerError as error:
        found["another runtime"] = error.code
    for name, (study, _) in studies.items():
        (trial,) = list(study)
        found[name] = trial.value if trial.error is None else trial.error.message
    print(json.dumps(found))
    expected: dict[str, Any] = {name: value for name, (_, value) in studies.items()}
    return int(found != {**expected, "another runtime": "runtime_mismatch"})


if __name__ == "__main__":
    sys.exit(main())
