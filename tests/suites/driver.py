"""Runs steps by CTest, and prints at the end the result of each suite.

    driver.py test [--list] [--changed] [--failed] [--loaded] [--whole] [NAME...]   # ./run test
    driver.py steps NAME...                        # steps that another command of ./run needs

CMakeLists.txt declares the steps, CTest orders them, and the script ``step`` runs one. This script
chooses suites, prints a line when a step starts or ends, and ends every process on Ctrl-C. It needs
Python 3.11 and nothing else, because the first step has yet to make the virtual environment.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import failures
import inputs
import processes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "suites"
LOGS = ROOT / "build" / "logs"
JUNIT = ROOT / "build" / "reports" / "junit"
#: The number of CTest's job slots. A build takes two slots, although it runs as many compilers as
#: there are cores.
PLACES = max(4, os.cpu_count() or 1)
BUSY_PROCESSES = 8
LOG_LINES = 80
#: A run ends when less than this is free where it builds. A server refuses to store with less than
#: 1 GiB, so tests would wait for what cannot come.
LEAST_FREE_BYTES = int(os.environ.get("LEAST_FREE_BYTES", 2 << 30))
EVERY_STEP_READS = ("tests/suites/shell.sh", "tests/suites/step")

STARTED = re.compile(r"^\s*Start\s+\d+: (\S+)$")
ENDED = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) \.*\s*(.*?)\s+[\d.]+ sec")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
#: Matches the last lines that each test runner prints: its summary.
CLOSING = re.compile(
    r"=+ .*(passed|failed).* =+|\d+ passed.*|\d+ failed.*|100% tests passed.*"
    r"|.*tests failed out of.*| *(Test Files|Tests) +.*(passed|failed).*|SKIPPED .*"
    r"|.*: \d+ passed, \d+ failed.*|\d+ checks? .*|TOTAL .*%|\d+ of \d+ sites.*|\{\"parity_cases.*"
)


@dataclass(frozen=True)
class Step:
    """A step that CMakeLists.txt declares. ``kind`` is ``setup``, ``suite`` or ``extra``."""

    kind: str
    name: str
    needs: tuple[str, ...]
    inputs: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class Result:
    """How a step ended. ``status`` is None if CTest did not start the step, or stopped it."""

    status: int | None
    wall_s: float = 0
    cpu_s: float = 0
    remark: str = ""


class UsageError(Exception):
    """The command line names something that does not exist."""


class DiskFullError(Exception):
    """There is too little room on the disk for steps to run."""


def check_room() -> None:
    """Raise DiskFullError if less than LEAST_FREE_BYTES are free on the disk of build/."""
    free = shutil.disk_usage(BUILD).free
    if free < LEAST_FREE_BYTES:
        raise DiskFullError(
            f"only {free / 1e9:.1f} GB are free on the disk of {BUILD.parent}, and steps need "
            f"{LEAST_FREE_BYTES / 1e9:.1f} GB. Make room, then run it again."
        )


def configure() -> dict[str, Step]:
    """Let CMake write CTest's files. Return the steps by name, in the order of CMakeLists.txt."""
    LOGS.mkdir(parents=True, exist_ok=True)
    command = ["cmake", "-S", str(HERE), "-B", str(BUILD), "-G", "Ninja"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"run: tests/suites/CMakeLists.txt is wrong:\n{done.stderr}")
    steps = {}
    for line in (BUILD / "steps.tsv").read_text().splitlines():
        kind, name, needs, paths, about = line.split("\t")
        steps[name] = Step(kind, name, tuple(needs.split()), tuple(paths.split()), about)
    return steps


def steps_file(name: str) -> str:
    """Return the steps.sh that defines a step."""
    for path in sorted(ROOT.glob("*/steps.sh")):
        if f"\nstep_{name}()" in "\n" + path.read_text():
            return str(path.relative_to(ROOT))
    raise UsageError(f"no steps.sh defines step_{name}")


def inputs_of(steps: dict[str, Step], name: str) -> set[str]:
    """Return the paths that a step reads, with those that the steps it needs read. The files that
    define its commands are included.
    """
    found = {*steps[name].inputs, *EVERY_STEP_READS, steps_file(name)}
    for need in steps[name].needs:
        found |= inputs_of(steps, need)
    return found


# ---- which suites -------------------------------------------------------------------------------


class State:
    """The results of earlier runs: whether each suite passed, and with which inputs."""

    def __init__(self, steps: dict[str, Step]) -> None:
        self._path = BUILD / "state.json"
        self._steps = steps
        try:
            self._suites: dict[str, dict[str, Any]] = json.loads(self._path.read_text())
        except (OSError, ValueError):
            self._suites = {}

    def failed(self, name: str) -> bool:
        """Return whether the suite ran, or should have run, and did not pass."""
        return self._suites.get(name, {}).get("passed") is False

    def changed(self, name: str, hashes: dict[str, str]) -> bool:
        """Return whether the suite has not passed with its present inputs."""
        return self._suites.get(name) != {"passed": True, "inputs": hashes[name]}

    def record(self, name: str, passed: bool, before: str, after: str) -> None:
        """Keep a result. If inputs changed while the suite ran, they count as changed after the
        run.
        """
        self._suites[name] = {"passed": passed, "inputs": before if before == after else ""}

    def save(self) -> None:
        """Write the whole file at once, so that it is never half written."""
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self._suites, indent=1, sort_keys=True))
        new.replace(self._path)

    def hashes(self) -> dict[str, str]:
        """Return for each suite, by its name, one hash over its inputs."""
        tree = inputs.Tree(ROOT)
        return {
            step.name: tree.fingerprint(inputs_of(self._steps, step.name))
            for step in self._steps.values()
            if step.kind == "suite"
        }


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise UsageError for the first name that is not known."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; {near[0]} is the nearest" if near else ""
            raise UsageError(
                f"there is no suite '{name}'{hint}. ./run test --list shows the names."
            )


def chosen(options: argparse.Namespace, steps: dict[str, Step], state: State) -> list[str]:
    """Return the suites that the command line asks for."""
    suites = [step.name for step in steps.values() if step.kind == "suite"]
    extras = [step.name for step in steps.values() if step.kind == "extra"]
    check_names(options.names, suites + extras)
    if not (options.names or options.changed or options.failed):
        return suites
    wanted = set(options.names)
    if options.failed:
        wanted |= {name for name in suites + extras if state.failed(name)}
    if options.changed:
        hashes = state.hashes()
        wanted |= {name for name in suites if state.changed(name, hashes)}
    return [name for name in suites + extras if name in wanted]


def list_suites(steps: dict[str, Step]) -> None:
    """Print the suites, and then the steps that run only by name."""
    for kind, title in (("suite", "./run test"), ("extra", "by name alone")):
        print(f"{title}:")
        for step in steps.values():
            if step.kind == kind:
                print(f"  {step.name:24} {step.about}")


# ---- running ------------------------------------------------------------------------------------


def show_log(name: str, out: TextIO) -> None:
    """Print which tests of a step failed, and the end of its log."""
    for line in failures.failed_tests(JUNIT / name):
        print(f"  FAILED {line}", file=out)
    path = LOGS / f"{name}.log"
    print(f"  the end of {path.relative_to(ROOT)}:", file=out)
    with contextlib.suppress(OSError):
        for line in path.read_text(errors="replace").splitlines()[-LOG_LINES:]:
            print(f"    {COLOUR.sub('', line)}", file=out)


def result_of(name: str, verdict: str) -> Result:
    """Return the result that ``step`` wrote. If it wrote none, return one with CTest's verdict."""
    try:
        status, wall_s, cpu_s = (BUILD / "results" / name).read_text().split()
    except (OSError, ValueError):
        return Result(None, remark=verdict.strip("*"))
    return Result(int(status), float(wall_s), float(cpu_s))


def forget_results() -> None:
    """Remove the last run's results, so that none is mistaken for one of this run."""
    for path in (BUILD / "results").glob("*"):
        path.unlink()


def run_ctest(names: Sequence[str], results: dict[str, Result], out: TextIO) -> None:
    """Run steps and the steps that they need. When one starts or ends, print a line; when it ends,
    add its result to ``results``. After an interrupt, ``results`` has the steps that ended before.
    End the steps and raise DiskFullError if there is too little room.
    """
    check_room()
    JUNIT.mkdir(parents=True, exist_ok=True)
    pattern = "^(" + "|".join(map(re.escape, names)) + ")$"
    command = ["ctest", "--test-dir", str(BUILD), "-R", pattern, "-j", str(PLACES)]
    command += ["--output-junit", str(JUNIT / "suites.xml"), "--no-tests=error"]
    command += ["--test-output-size-passed", "20000", "--test-output-size-failed", "100000"]
    other = []
    with processes.Family(command) as ctest:
        for line in ctest.lines():
            if started := STARTED.match(line):
                print(f"  > {started[1]}", file=out, flush=True)
            elif ended := ENDED.match(line):
                name = ended[1]
                results[name] = result_of(name, ended[2])
                print(progress_line(name, results[name]), file=out, flush=True)
            else:
                other.append(line)
                continue
            check_room()
        if ctest.wait() and all(result.status == 0 for result in results.values()):
            print("".join(other), file=out)
            sys.exit(1)


def progress_line(name: str, result: Result) -> str:
    """Return one line for a step that ended."""
    if result.status is None:
        return f"  x {name:24} {result.remark}"
    mark = "x" if result.status else "+"
    return f"  {mark} {name:24} {result.wall_s:7.1f} s   cpu {result.cpu_s:7.1f} s"


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hold a lock while the block runs, so that only one ./run of this clone runs steps at a time.
    All of them use the same folders and logs.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("run: waiting for another ./run of this folder", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---- the two commands ---------------------------------------------------------------------------


def closing_lines(name: str) -> list[str]:
    """Return the summary lines of the test runners from a suite's log."""
    text = COLOUR.sub("", (LOGS / f"{name}.log").read_text(errors="replace"))
    return [line for line in text.splitlines() if CLOSING.fullmatch(line)][-12:]


def children_cpu_s() -> float:
    """Return the CPU seconds of all ended processes below this one.

    A step's own figure lacks processes whose parents ended before them, such as those of a browser.
    This process adopts them (``processes.adopt_orphans``), so they count here.
    """
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(
    names: Sequence[str], results: dict[str, Result], wall_s: float, all_cpu_s: float
) -> bool:
    """Print each suite's closing lines, the failures, the times and a count.

    Return whether all passed.
    """
    failed = [name for name, result in results.items() if result.status != 0]
    for name in names:
        print(f"-- {name}")
        if name in results and results[name].status is not None:
            print("\n".join(closing_lines(name)))
    if failed:
        print("\nfailed:")
    for name in failed:
        print(progress_line(name, results[name]))
        if results[name].remark != "Not Run":
            show_log(name, sys.stdout)
    print("\ntimes:")
    for name, result in sorted(results.items(), key=lambda item: -item[1].wall_s):
        if result.wall_s >= 1:
            print(f"  {name:24} {result.wall_s:7.1f} s   cpu {result.cpu_s:7.1f} s")
    cpu_s = sum(result.cpu_s for result in results.values())
    print(
        f"all steps: {wall_s:.0f} s wall, {all_cpu_s:.0f} s cpu, "
        f"{max(0.0, all_cpu_s - cpu_s):.0f} of them in browsers and others that no step waited for"
    )
    if failed:
        print(f"failed: {' '.join(failed)}   (again: ./run test --failed)")
    bad = sum(name not in results or results[name].status != 0 for name in names)
    print(f"suites: {len(names) - bad} passed, {bad} failed")
    return not failed and not bad


def test(arguments: Sequence[str]) -> int:
    """Run the command ``./run test``."""
    parser = argparse.ArgumentParser(
        prog="./run test", description="Run suites with what they need: all of them, or a choice."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these suites")
    parser.add_argument("--list", action="store_true", help="print the names and run nothing")
    parser.add_argument("--failed", action="store_true", help="those that failed last")
    parser.add_argument(
        "--changed", action="store_true", help="those that did not yet pass with the tree as it is"
    )
    parser.add_argument(
        "--loaded", action="store_true", help=f"with {BUSY_PROCESSES} busy processes at the side"
    )
    parser.add_argument(
        "--whole", action="store_true", help="every case where a suite otherwise runs a sample"
    )
    options = parser.parse_args(arguments)
    if options.whole:
        os.environ["HYPERFLOCK_WHOLE"] = "1"
    steps = configure()
    if options.list:
        list_suites(steps)
        return 0
    state = State(steps)
    names = chosen(options, steps, state)
    if not names:
        print("no suite failed last" if options.failed else "every suite passed with this tree")
        return 0
    forget_results()
    before = state.hashes()
    began = time.monotonic()
    cpu_began_s = children_cpu_s()
    all_cpu_s = 0.0
    results: dict[str, Result] = {}
    try:
        with processes.busy(BUSY_PROCESSES if options.loaded else 0):
            run_ctest(names, results, sys.stdout)
            all_cpu_s = children_cpu_s() - cpu_began_s
    finally:
        # A step that an interrupt ended has no result, although it may have written a status.
        after = state.hashes()
        for name in names:
            if name in results:
                passed = results[name].status == 0
                state.record(name, passed, before.get(name, ""), after.get(name, ""))
        try:
            state.save()
        except OSError as error:  # must not hide why the run ended
            print(f"run: the results could not be kept: {error}", file=sys.stderr)
    return 0 if report(names, results, time.monotonic() - began, all_cpu_s) else 1


def run_steps(names: Sequence[str]) -> int:
    """Run steps for another command of ./run. If some fail, print their logs."""
    steps = configure()
    check_names(names, list(steps))
    forget_results()
    results: dict[str, Result] = {}
    run_ctest(names, results, sys.stdout)
    failed = [name for name, result in results.items() if result.status != 0]
    for name in failed:
        if results[name].remark != "Not Run":
            print(progress_line(name, results[name]))
            show_log(name, sys.stdout)
    return 1 if failed else 0


def main(arguments: Sequence[str]) -> int:
    """Run one command. The exit code 2 means a wrong command line, 130 an interrupt."""
    command = {"test": test, "steps": run_steps}[arguments[0]]
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, signal.default_int_handler)
    try:
        with alone():
            status = command(arguments[1:])
            sys.stdout.flush()
            return status
    except UsageError as error:
        print(f"run: {error}", file=sys.stderr)
        return 2
    except DiskFullError as error:
        print(f"run: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The program that reads the output, such as `head`, has ended. Python's last flush would
        # fail, so it goes to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
