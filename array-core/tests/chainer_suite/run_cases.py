"""Runs Chainer's own tests in this interpreter, on NumPy and on arraycore as ``cupy``.

    ./run python --mount TESTS --wheel CHAINER run_cases.py --tests TESTS --record FILE
    PYTHONPATH=... python3 run_cases.py --tests TESTS --record FILE

TESTS is the folder that holds ``chainer_tests``. Neither the tests nor Chainer are changed. First
the script installs what volunteers have (``hyperflock_worker.compat``, ``arraycore.install_cupy``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["CHAINER_TEST_GPU_LIMIT"] = "1"  # tests of several devices skip themselves

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))


def finished(record: Path) -> set[str]:
    """Return the cases that an earlier run has finished."""
    if not record.is_file():
        return set()
    lines = (json.loads(line) for line in record.read_text().splitlines())
    return {line["id"] for line in lines if "end" in line}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=Path, required=True)
    parser.add_argument("--record", type=Path, required=True, help="lines of JSON, appended to")
    parser.add_argument("--shard", default="1/1", metavar="K/N")
    parser.add_argument("--share", type=int, default=1, help="one case of so many")
    parser.add_argument("--kind", choices=("all", "gpu", "cpu"), default="all")
    parser.add_argument("--blame", action="store_true", help="name the lines that need the CPU")
    parser.add_argument("--only", nargs="*", default=[], help="files or folders below the tests")
    parser.add_argument("--pytest", nargs=argparse.REMAINDER, default=[])
    options = parser.parse_args(arguments)

    # These packages are hidden, because volunteers' Python lacks them. With Pillow, tests would run
    # networks on images of 224 x 224 pixels on NumPy for minutes; with Matplotlib they would plot.
    absent: dict[str, Any] = {"PIL": None, "matplotlib": None}
    sys.modules.update(absent)
    import arraycore

    arraycore.install_cupy()
    from hyperflock_worker import compat

    compat.install()
    from cases import Recorder
    from watch import ForwardWatch

    np.seterr(all="ignore")
    watch = ForwardWatch(lambda: arraycore.counters()["cpu_ops"], options.blame)
    watch.install()
    part, parts = map(int, options.shard.split("/"))
    where = [str(options.tests / name) for name in options.only or ["chainer_tests"]]
    with options.record.open("a") as record:
        plugin: Any = Recorder(
            record,
            watch,
            parts=parts,
            part=part - 1,
            share=options.share,
            done=finished(options.record),
            kind=options.kind,
        )
        command = [
            *where, "--rootdir", str(options.tests), "-c", str(HERE / "pytest.ini"), "-q",
            "-p", "no:cacheprovider", "--no-header", "--tb=no", "--continue-on-collection-errors",
            f"--ignore={options.tests}/chainer_tests/links_tests/caffe_tests",
            *options.pytest,
        ]  # fmt: skip
        return int(pytest.main(command, plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
