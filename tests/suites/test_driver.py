"""Tests ``./run test`` on a toy tree, with the real scripts, a few small steps, and no package to
install.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import descendants, start_of

SUITES = Path(__file__).resolve().parent
ROOT = SUITES.parents[1]
#: The longest time that a test waits. It is enough for a slow machine that also does other work.
PATIENCE_S = 900.0

DECLARATIONS = """
cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES NONE)
enable_testing()
include(suites.cmake)
setup(tools ABOUT "made first" INPUTS tools.txt)
setup(broken ABOUT "cannot be made")
suite(good ABOUT "passes" NEEDS tools INPUTS good)
suite(bad ABOUT "fails unless it is mended" NEEDS tools INPUTS bad)
suite(blocked ABOUT "needs what cannot be made" NEEDS broken)
extra(slow ABOUT "runs until somebody ends it")
extra(killed ABOUT "is ended by CTest" TIMEOUT 1)
"""
STEPS = """
# The script that runs a step outlives the step at an interrupt, and writes how the step ended.
[[ $0 != */step ]] || trap : TERM PIPE
bootstrap() { :; }
step_tools() { echo made; }
step_broken() { echo "no such compiler"; false; echo "went on"; }
step_good() { echo "3 passed in 0.1s"; }
step_bad() {
  check test -f bad/mended
  check echo "2 failed, 1 passed in 0.1s"
}
step_blocked() { :; }
step_slow() {
  # A child as others, one in a session of its own, one in a session and with an environment of its
  # own that is stopped, and one that ignores a polite end.
  sleep 600 & echo $! >>children
  setsid sleep 600 & echo $! >>children
  env -i setsid sleep 600 & kill -STOP $!; echo $! >>children
  (trap "" TERM; echo "$BASHPID" >>children; while :; do sleep 0.2; done) &
  wait
}
step_killed() { sleep 600; }
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Return a tree in git with this tree's driver, and with steps of its own."""
    suites = tmp_path / "tests/suites"
    suites.mkdir(parents=True)
    for path in (*SUITES.glob("*.py"), *SUITES.glob("*.sh"), SUITES / "suites.cmake"):
        shutil.copy(path, suites)
    # A child that ignores SIGTERM runs for END_S more seconds before it is killed. A smaller END_S
    # makes the tests of interrupts faster.
    shorter = (SUITES / "processes.py").read_text().replace("\nEND_S = 10.0\n", "\nEND_S = 1.0\n")
    (suites / "processes.py").write_text(shorter)
    shutil.copy(SUITES / "step", suites)
    shutil.copy(ROOT / "run", tmp_path)
    shutil.copy(ROOT / "tests/bench.sh", tmp_path / "tests")
    (tmp_path / "deploy").mkdir()
    for name in ("debian.sh", "bare.sh"):
        shutil.copy(ROOT / "deploy" / name, tmp_path / "deploy")
    (suites / "CMakeLists.txt").write_text(DECLARATIONS)
    (tmp_path / "part").mkdir()
    (tmp_path / "part/steps.sh").write_text(STEPS)
    (tmp_path / "tools.txt").write_text("1")
    (tmp_path / ".gitignore").write_text("/build/\n/children\n")
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "source").write_text("1")
    git = ["git", "-c", "user.name=toy", "-c", "user.email=toy@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "toy"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def run(toy: Path) -> Run:
    """Return a function that calls ``./run`` in the toy tree."""

    def call(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [toy / "run", *words],
            cwd=toy,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    return call


def hear_interrupts() -> None:
    """Undo what a shell does to a command in its background: the command ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def slow(toy: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield ``./run test --loaded slow`` once its children run."""
    with subprocess.Popen(
        [toy / "run", "test", "--loaded", "slow"],
        cwd=toy,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    ) as process:
        until(lambda: len(children(toy)) == 4, lambda: "the children run")
        yield process
        for pid in (process.pid, *children(toy)):
            if start_of(pid) is not None:
                os.kill(pid, signal.SIGKILL)


def children(toy: Path) -> list[int]:
    """Return the processes that step ``slow`` has started."""
    path = toy / "children"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def names_of(processes: dict[int, int | None]) -> list[str]:
    """Return the command lines of those processes that still run. ``processes`` maps each id to the
    process's start time.
    """
    left = [pid for pid, start in processes.items() if start_of(pid) == start is not None]
    return [subprocess.getoutput(f"ps -ww -o pid=,stat=,args= -p {pid}") for pid in left]


def until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    """Wait until a condition holds. Fail after PATIENCE_S with the text of ``what``."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"not yet: {what()}"
        time.sleep(0.05)


def ran(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the names of the steps that ended by themselves, passed or failed, according to a
    run's output.
    """
    return set(re.findall(r"^  [+x] (\S+) +[\d.]+ s ", done.stdout, re.MULTILINE))


def test_a_failing_suite_does_not_end_the_others(run: Run) -> None:
    done = run("test")
    assert done.returncode == 1, done.stdout + done.stderr
    assert ran(done) == {"tools", "broken", "good", "bad"}
    assert "3 passed in 0.1s" in done.stdout
    assert done.stdout.splitlines()[-1] == "suites: 1 passed, 2 failed"


def test_failures_come_at_the_end_with_their_logs(run: Run) -> None:
    failures = run("test").stdout.partition("\nfailed:\n")[2]
    assert "x bad" in failures
    assert "failed: test -f bad/mended" in failures
    assert "no such compiler" in failures
    assert "x blocked                  Not Run" in failures
    assert "x good" not in failures


def test_failed_tests_are_named_before_their_log(run: Run, toy: Path) -> None:
    (toy / "test_two.py").write_text(
        "def test_adds():\n    assert 1 + 1 == 3, 'a sum'\ndef test_holds():\n    pass\n"
    )
    # The end of the log does not mention the failed test.
    step = 'step_bad() { run_pytest test_two.py; for i in {1..99}; do echo "$i"; done; }\n'
    (toy / "part/steps.sh").write_text(STEPS + step)
    failures = run("test", "bad").stdout.partition("\nfailed:\n")[2]
    named, _, log = failures.partition("the end of")
    assert "  FAILED test_two::test_adds: AssertionError: a sum" in named
    assert "test_holds" not in failures
    assert "a sum" not in log


def test_many_failed_tests_are_counted(run: Run, toy: Path) -> None:
    cases = "".join(f'<testcase classname="c" name="t{i}"><failure/></testcase>' for i in range(40))
    report = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
    step = (
        f"step_bad() {{ echo '{report}' >\"$JUNIT/1.xml\"; echo '<' >\"$JUNIT/2.xml\"; false; }}\n"
    )
    (toy / "part/steps.sh").write_text(STEPS + step)
    failures = run("test", "bad").stdout.partition("\nfailed:\n")[2]
    assert failures.count("  FAILED c::t") == 30
    assert "  FAILED and 11 more" in failures


def test_a_failed_command_ends_its_step(run: Run, toy: Path) -> None:
    run("test", "blocked")
    assert "went on" not in (toy / "build/logs/broken.log").read_text()


def test_a_suite_by_name_brings_what_it_needs(run: Run) -> None:
    done = run("test", "good")
    assert (done.returncode, ran(done)) == (0, {"tools", "good"}), done.stdout
    assert done.stdout.splitlines()[-1] == "suites: 1 passed, 0 failed"


@pytest.mark.parametrize("name", ["goood", "tools", "."])
def test_an_unknown_name_is_one_sentence(run: Run, name: str) -> None:
    done = run("test", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"run: there is no suite '{name}'")
    assert done.stderr.count("\n") == 1


def test_the_list_has_every_suite_and_runs_none(run: Run) -> None:
    done = run("test", "--list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")] == [
        "good", "bad", "blocked", "slow", "killed",
    ]  # fmt: skip


def test_failed_runs_what_failed_last(run: Run, toy: Path) -> None:
    run("test")
    assert ran(run("test", "--failed")) == {"tools", "broken", "bad"}
    (toy / "bad/mended").touch()
    run("test", "--failed")
    assert ran(run("test", "--failed")) == {"broken"}


def test_failed_without_a_failure_runs_nothing(run: Run) -> None:
    run("test", "good")
    done = run("test", "--failed")
    assert (done.returncode, done.stdout) == (0, "no suite failed last\n")


@pytest.mark.parametrize("path", ["good/source", "good/new", "tools.txt"])
def test_changed_runs_what_reads_a_changed_file(run: Run, toy: Path, path: str) -> None:
    (toy / "bad/mended").touch()
    run("test", "good", "bad")
    assert "good" not in ran(run("test", "--changed"))
    (toy / path).write_text("2")
    both = {"good", "bad"} if path == "tools.txt" else {"good"}
    assert ran(run("test", "--changed")) - {"tools", "broken"} == both


@pytest.mark.parametrize("path", ["part/steps.sh", "tests/suites/shell.sh", "tests/suites/step"])
def test_changed_runs_what_is_run_otherwise(run: Run, toy: Path, path: str) -> None:
    (toy / "bad/mended").touch()
    run("test", "good", "bad")
    with (toy / path).open("a") as file:
        file.write("# changed\n")
    assert {"good", "bad"} < ran(run("test", "--changed"))


def test_changed_goes_by_content_not_by_time(run: Run, toy: Path) -> None:
    run("test", "good")
    (toy / "good/source").write_text("2")
    (toy / "good/source").write_text("1")
    assert "good" not in ran(run("test", "--changed"))


def test_changed_includes_what_failed(run: Run) -> None:
    run("test")
    assert {"bad", "good"} & ran(run("test", "--changed")) == {"bad"}


def test_what_changes_while_a_suite_runs_counts_as_changed(run: Run, toy: Path) -> None:
    steps = toy / "part/steps.sh"
    steps.write_text(STEPS + "step_good() { echo 2 >good/source; }\n")
    run("test", "good")
    assert "good" in ran(run("test", "--changed"))


def test_a_suite_beyond_its_limit_fails(run: Run, toy: Path) -> None:
    done = run("test", "killed")
    assert done.returncode == 1
    assert "x killed                   Timeout" in done.stdout
    assert json.loads((toy / "build/suites/state.json").read_text())["killed"]["passed"] is False


def test_a_full_disk_ends_a_run_before_its_first_step(run: Run) -> None:
    done = run("test", "good", LEAST_FREE_BYTES=str(1 << 60))
    assert (done.returncode, ran(done)) == (1, set())
    assert re.fullmatch(r"run: only [\d.]+ GB are free .*\n", done.stderr)


def test_a_disk_that_fills_ends_the_steps(run: Run, toy: Path) -> None:
    # The driver sees what `df` would say: the file `full` stands for a disk without room.
    driver = toy / "tests/suites/driver.py"
    room = "free = 0 if (ROOT / 'full').exists() else"
    driver.write_text(driver.read_text().replace("    free =", f"    {room}"))
    (toy / "part/steps.sh").write_text(STEPS + "step_tools() { touch full; }\n")
    done = run("test", "good", "slow")
    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith("run: only 0.0 GB are free")
    assert not names_of({pid: start_of(pid) for pid in children(toy)})


def test_junit_has_every_step(run: Run, toy: Path) -> None:
    run("test")
    cases = ElementTree.parse(toy / "build/reports/junit/suites.xml").getroot().iter("testcase")
    status = {case.get("name"): case.get("status") for case in cases}
    assert status == {
        "tools": "run", "good": "run", "bad": "fail", "broken": "fail", "blocked": "notrun",
    }  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_children(
    slow: subprocess.Popen[str], toy: Path, number: signal.Signals
) -> None:
    # Start times are kept, because the number of an ended process may be used again.
    family = {pid: start_of(pid) for pid in descendants(slow.pid)}
    assert family.keys() > set(children(toy))
    assert len(family) > 8 + len(children(toy))  # the busy processes are among them
    os.killpg(slow.pid, number)
    until(lambda: slow.poll() is not None, lambda: f"./run has ended, but {names_of(family)}")
    out = slow.communicate(timeout=PATIENCE_S)[0]
    assert "interrupted" in out
    until(lambda: not names_of(family), lambda: f"all have ended, but {names_of(family)}")
    assert slow.returncode == (130 if number == signal.SIGINT else -signal.SIGTERM)


def test_results_before_an_interrupt_are_kept(
    run: Run, slow: subprocess.Popen[str], toy: Path
) -> None:
    os.killpg(slow.pid, signal.SIGINT)
    slow.communicate(timeout=PATIENCE_S)
    assert run("test", "--failed").stdout == "no suite failed last\n"


def test_the_load_ends_with_the_run(run: Run, toy: Path) -> None:
    # The step's parent is CTest ($PPID). The busy processes are children of CTest's own parent.
    write = "ps -ww -o pid=,args= --ppid $(ps -o ppid= -p $PPID) >busy"
    (toy / "part/steps.sh").write_text(STEPS + f"step_good() {{ {write}; }}\n")
    assert run("test", "--loaded", "good").returncode == 0
    listed = (toy / "busy").read_text()
    busy = [int(pid) for pid in re.findall(r"^ *(\d+) .* -c .*getppid", listed, re.MULTILINE)]
    assert len(busy) == 8, listed
    assert not [pid for pid in busy if start_of(pid) is not None]


def test_whole_runs_every_case_of_a_sample(run: Run, toy: Path) -> None:
    (toy / "part/steps.sh").write_text(STEPS + 'step_good() { echo "$(one_in 4) passed in 1s"; }\n')
    assert "4 passed in 1s" in run("test", "good").stdout
    assert "1 passed in 1s" in run("test", "--whole", "good").stdout


def test_time_of_processes_that_no_step_waits_for_is_counted(run: Run, toy: Path) -> None:
    # Like a process of a browser, this one outlives its parent. It computes for two seconds.
    burn = "import time\nwhile time.process_time() < 2: pass"
    (toy / "burn.py").write_text(burn)
    start = "(setsid python3 burn.py & echo $! >burning)"
    ends = "while [[ -d /proc/$(<burning) ]]; do sleep 0.1; done"
    (toy / "part/steps.sh").write_text(STEPS + f"step_good() {{ {start}; {ends}; }}\n")
    closing = re.search(r"(\d+) s cpu, (\d+) of them in browsers", run("test", "good").stdout)
    assert closing is not None
    assert int(closing[1]) >= int(closing[2]) >= 2


def test_colours_of_runners_do_not_reach_the_report(run: Run, toy: Path) -> None:
    (toy / "part/steps.sh").write_text(
        STEPS + "step_good() { printf '\\033[32m3 passed\\033[0m in 1s\\n'; false; }\n"
    )
    done = run("test", "good")
    assert "3 passed in 1s" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_reader_that_ends_early_gets_no_traceback(toy: Path) -> None:
    command = "set -o pipefail; ./run test --list | true"
    done = subprocess.run(
        ["bash", "-c", command], cwd=toy, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode in (0, 141), done.stderr) == (True, "")


def test_an_unknown_command_is_refused(run: Run) -> None:
    done = run("tset")
    assert done.returncode == 1
    assert done.stderr.endswith("run: there is no command 'tset'\n")
