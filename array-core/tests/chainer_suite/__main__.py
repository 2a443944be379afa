"""Runs Chainer 5.4.0's own tests on arraycore: ``./run bench chainer-suite``.

    ./run bench chainer-suite --shard 3/8                     # Node, WebGPU; at most 45 minutes
    ./run bench chainer-suite --place node_cpu --shard 3/8
    ./run bench chainer-suite --place native_cpu              # minutes, all of it
    ./run bench chainer-suite --list                          # join the shards, write the list

``results/PLACE.json`` lists the cases that are known to fail in a place. A run exits with 1 if
another case fails. ``--list`` writes the list from the records, and the figures for
``./run report``.

The tests come from ``../shared/suites``, next to the checkout. If they are missing, the run says so
and exits with 0. A case is recorded in ``build/chainer-suite`` as soon as it has ended. If an
interpreter crashes or hangs in a case, a new one goes on with the next case. Cases that the record
holds are not run again, so an interrupted shard can go on (``--again`` starts it anew).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent / "chainer")]

from places import CACHE, python_path, wheel  # noqa: E402
from results import figures, known_failures, listed, read  # noqa: E402

VERSION = "5.4.0"
ARCHIVE = ROOT.parent / "shared/suites" / f"chainer-{VERSION}-tests.tar.xz"
WORK = ROOT / "build/chainer-suite"
NODE = ("node", "--disable-warning=ExperimentalWarning", "worker-runtime/node/python_command.ts")
PLACES = ("native_cpu", "node_cpu", "node_webgpu")
WHEELS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
#: An interpreter that records nothing for this many seconds is ended.
STILL_S = 900
#: The share of cases that each figure must reach, in every place (:func:`.results.figures`).
GOALS = {
    "gpu_passed": 0.98,
    "gpu_forward_on_device": 0.97,
    "links_passed": 0.97,
    "optimizers_passed": 0.97,
    "cpu_passed": 0.974,
}


def unpacked() -> Path | None:
    """Return the folder of the unpacked tests, or None if this machine does not have them."""
    folder = WORK / f"chainer-{VERSION}" / "tests"
    if not folder.is_dir():
        if not ARCHIVE.is_file():
            return None
        WORK.mkdir(parents=True, exist_ok=True)
        with tarfile.open(ARCHIVE) as archive:
            # In Debian 12's Python, tarfile has no extraction filters yet.
            filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(WORK, **filters)
    return folder


def command(place: str, tests: Path, record: Path, options: list[str]) -> tuple[list[str], Any]:
    """Return the command line of one interpreter, and its environment."""
    script = [str(HERE / "run_cases.py"), "--tests", str(tests), "--record", str(record), *options]
    env = dict(os.environ)
    if place == "native_cpu":
        env["PYTHONPATH"] = python_path(VERSION)
        env.setdefault("ARRAYCORE_LIBRARY", str(ROOT / "build/release/lib/libarraycore.so"))
        return [sys.executable, *script], env
    wheels = [wheel(VERSION)]
    wheels += [path for name in WHEELS for path in (CACHE / "downloads").glob(f"{name}-*.whl")]
    mounts = (tests, record.parent, ROOT / "worker-runtime/python")
    return [
        *NODE, "--backend", place.removeprefix("node_"),
        *(word for path in mounts for word in ("--mount", str(path))),
        *(word for path in wheels for word in ("--wheel", str(path))),
        *script,
    ], env  # fmt: skip


def ran_on(process: subprocess.Popen[bytes], record: Path, deadline: float) -> int | None:
    """Wait for an interpreter; return its exit code, or None if it hung or the time was over."""
    seen, since = -1, time.monotonic()
    while True:
        try:
            return process.wait(2)
        except subprocess.TimeoutExpired:
            size = record.stat().st_size if record.is_file() else 0
            now = time.monotonic()
            if size != seen:
                seen, since = size, now
            if now - since > STILL_S or now > deadline:
                process.kill()
                process.wait()
                return None


def run(place: str, record: Path, options: list[str], limit_s: float) -> bool:
    """Run cases until none is left; return whether the time was enough."""
    tests = unpacked()
    assert tests is not None
    record.parent.mkdir(parents=True, exist_ok=True)
    deadline, before = time.monotonic() + limit_s, -1
    while time.monotonic() < deadline:
        line, env = command(place, tests, record, options)
        with record.with_suffix(".log").open("ab") as log:
            process = subprocess.Popen(line, cwd=ROOT, env=env, stdout=log, stderr=log)
            try:
                status = ran_on(process, record, deadline)
            except KeyboardInterrupt:
                process.kill()
                raise
        if status in (0, 1, 5):  # pytest: all passed, some failed, none chosen
            return True
        size = record.stat().st_size if record.is_file() else 0
        if size == before:
            raise SystemExit(f"{place} ended with {status} before any case: {log.name}")
        before = size
        mark_unfinished(record)
    return False


def mark_unfinished(record: Path) -> None:
    """If the last line of a record begins a case, record that this case has failed."""
    lines = record.read_text().splitlines()
    last: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if "id" in last and "end" not in last:
        name = last["id"]
        # The interpreter ended before it recorded whether this case needs a GPU. The case's name
        # shows whether it does.
        line = {"id": name, "end": "failed", "why": "the interpreter ended, or stood still"}
        line |= {"gpu": 1} if "_gpu" in name or "use_cuda_true" in name else {}
        with record.open("a") as out:
            out.write(json.dumps(line, separators=(",", ":")) + "\n")


def report(place: str, numbers: dict[str, float]) -> dict[str, Any]:
    """Return a place's figures in the form that ``./run report`` reads."""
    rows = []
    for name, value in numbers.items():
        row: dict[str, Any] = {"name": f"chainer_suite_{name}_{place}", "value": value}
        if name in GOALS and (name != "gpu_forward_on_device" or "webgpu" in place):
            row |= {"op": ">=", "goal": GOALS[name]}
        rows.append(row)
    return {"name": f"chainer-suite-{place}", "figures": rows}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--place", choices=PLACES, default="node_webgpu")
    parser.add_argument("--shard", metavar="K/N", help="one part of the cases; without it all")
    parser.add_argument("--share", type=int, default=1, help="one case of so many")
    parser.add_argument("--kind", choices=("all", "gpu", "cpu"), default="all")
    parser.add_argument("--only", nargs="+", default=[], help="files or folders of chainer_tests")
    parser.add_argument("--limit-s", type=float, default=2_700)
    parser.add_argument("--again", action="store_true", help="forget what was run")
    parser.add_argument("--list", action="store_true", help="join all records of the place")
    options = parser.parse_args()
    if unpacked() is None:
        print(f"SKIPPED Chainer's own tests: {ARCHIVE} is not on this machine")
        return 0
    folder = WORK / options.place
    if options.list:
        return write_list(options.place, sorted(folder.glob("*.jsonl")))
    chosen = [(options.shard or "all").replace("/", "_of_"), options.kind]
    name = "-".join((*chosen, *([f"one_of_{options.share}"] if options.share > 1 else [])))
    record = folder / f"{name}.jsonl"
    if options.again:
        record.unlink(missing_ok=True)
    words = ["--share", str(options.share), "--kind", options.kind]
    words += ["--shard", options.shard] if options.shard else []
    words += ["--only", *options.only] if options.only else []
    in_time = run(options.place, record, words, options.limit_s)
    cases = read([record])
    print(json.dumps(figures(cases)))
    if not in_time:
        print(f"after {options.limit_s:.0f} s cases are left; the same command goes on with them")
        return 1
    return told_of(options.place, cases)


def told_of(place: str, cases: dict[str, dict[str, Any]]) -> int:
    """Print each failed case that the place's committed list does not name. Return 1 if there is
    one, else 0.
    """
    path = HERE / "results" / f"{place}.json"
    known = known_failures(json.loads(path.read_text())) if path.is_file() else set()
    new = {name for name, case in cases.items() if case["end"] == "failed"} - known
    for name in sorted(new):
        print(f"FAILED {name}: {cases[name].get('why', '')}")
    print(f"{len(cases)} cases, {len(new)} failed that {path.name} does not name")
    return 1 if new else 0


def write_list(place: str, records: list[Path]) -> int:
    """Join the records of a place; write its list, and the figures for ``./run report``."""
    cases = read(records)
    made = listed(cases)
    target = HERE / "results" / f"{place}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(made, indent=1) + "\n")
    reports = ROOT / "build/reports"
    reports.mkdir(parents=True, exist_ok=True)
    (reports / f"chainer-suite-{place}.json").write_text(
        json.dumps(report(place, made["figures"]), indent=1) + "\n"
    )
    print(json.dumps(made["figures"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
