"""Tests ``./run python`` as a caller sees it, on both hosts: output, exit codes, files, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Only a program that hangs reaches this limit, never a busy machine.
LIMIT_S = 900
COMMAND = [
    "node",
    "--disable-warning=ExperimentalWarning",
    str(ROOT / "worker-runtime/node/python_command.ts"),
]


@pytest.fixture(scope="module", params=["node", "chromium"])
def host(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    given = {"capture_output": True, "text": True, "timeout": LIMIT_S, "cwd": ROOT, **options}
    return subprocess.run([*COMMAND, *arguments], check=False, **given)  # type: ignore[call-overload,no-any-return]


def write(folder: Path, source: str) -> str:
    path = folder / "script.py"
    path.write_text(source)
    return str(path)


@dataclass(frozen=True)
class Seen:
    """What was observed of one script. Several tests share it, because starting the interpreter
    takes longer than most scripts.
    """

    done: subprocess.CompletedProcess[str]
    data: Path

    @property
    def said(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.done.stdout.splitlines()[0])
        return said


NUMBERS = bytes(range(256)) * 1000


@pytest.fixture(scope="module")
def seen(host: str, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Run a script with arguments, a module next to it, and mounted folders of data and of modules.
    Return what was observed.
    """
    folder = tmp_path_factory.mktemp("seen")
    data, library, scripts = folder / "data with space", folder / "library", folder / "scripts"
    for path in (data / "in", library / "shelf", scripts, folder / "secret"):
        path.mkdir(parents=True)
    (data / "in" / "numbers.bin").write_bytes(NUMBERS)
    (folder / "secret" / "file").write_text("x")
    (library / "shelf" / "__init__.py").write_text("VALUE = 'of the mount'\n")
    (library / "shelf" / "__main__.py").write_text("from helper import VALUE; print(VALUE)\n")
    (library / "helper.py").write_text("VALUE = 'of the mount'\n")
    (scripts / "helper.py").write_text("VALUE = 'beside the script'\n")
    script = write(
        scripts,
        "import json, os, sys\n"
        "import helper, shelf\n"
        "data, secret = sys.argv[2:]\n"
        "read = open(f'{data}/in/numbers.bin', 'rb').read()\n"
        "os.makedirs(f'{data}/out/deep')\n"
        "open(f'{data}/out/deep/reversed.bin', 'wb').write(read[::-1])\n"
        "open(f'{data}/in/numbers.bin', 'ab').write(b'more')\n"
        "try:\n"
        "    open(secret)\n"
        "except OSError as error:\n"
        "    refusal = type(error).__name__\n"
        "said = {'argv': sys.argv[1:], 'name': __name__, 'refusal': refusal}\n"
        "print(json.dumps({**said, 'helper': helper.VALUE, 'shelf': shelf.VALUE}))\n"
        "print('to the side', file=sys.stderr)\n"
        "sys.stdout.write('no line end')\n"
        "sys.exit(41)\n",
    )
    mounts = ("--mount", str(data), "--mount", str(library))
    return Seen(run("--host", host, *mounts, script, "--mount", str(data), secret_in(folder)), data)


def secret_in(folder: Path) -> str:
    return str(folder / "secret" / "file")


def test_arguments_streams_and_exit_code_pass_through(seen: Seen) -> None:
    assert seen.done.returncode == 41
    assert seen.done.stdout.splitlines()[1:] == ["no line end"]
    assert not seen.done.stdout.endswith("\n")
    assert seen.done.stderr == "to the side\n"
    assert seen.said["argv"] == ["--mount", str(seen.data), secret_in(seen.data.parent)]
    assert seen.said["name"] == "__main__"


def test_mounted_folders_are_read_and_written(seen: Seen) -> None:
    assert (seen.data / "out" / "deep" / "reversed.bin").read_bytes() == NUMBERS[::-1]
    assert (seen.data / "in" / "numbers.bin").read_bytes() == NUMBERS + b"more"


def test_compiled_modules_do_not_lie_in_the_mounts_and_follow_their_sources(
    seen: Seen, host: str
) -> None:
    library = seen.data.parent / "library"
    assert not [path for path in seen.data.parent.rglob("*") if path.suffix == ".pyc"]
    if host == "node":
        (library / "helper.py").write_text("VALUE = 'changed'\n")
        done = run("--mount", str(library), "-m", "shelf")
        assert (done.returncode, done.stdout, done.stderr) == (0, "changed\n", "")


def test_mounted_folders_are_searched_for_modules_after_the_scripts(seen: Seen) -> None:
    assert (seen.said["helper"], seen.said["shelf"]) == ("beside the script", "of the mount")


def test_what_is_not_mounted_is_not_there(seen: Seen) -> None:
    assert Path(secret_in(seen.data.parent)).is_file()
    assert seen.said["refusal"] == "FileNotFoundError"


def test_modules_of_wheels_and_of_mounted_folders_run(host: str, tmp_path: Path) -> None:
    library = tmp_path / "library"
    (library / "shelf").mkdir(parents=True)
    (library / "shelf" / "__init__.py").touch()
    (library / "shelf" / "__main__.py").write_text("print('shelf of the mount')")
    wheel = tmp_path / "parcel-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("parcel/__init__.py", "")
        archive.writestr(
            "parcel/__main__.py",
            "import runpy, sys\n"
            "print(sys.argv[1:])\n"
            "runpy.run_module('shelf', run_name='__main__')\n",
        )
    mounted = ("--mount", str(library), "--wheel", str(wheel))
    done = run("--host", host, *mounted, "-m", "parcel", "-m", "x")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['-m', 'x']\nshelf of the mount\n"


def test_arraycore_has_the_limits_of_a_phone_and_threads_that_end_with_python(
    host: str, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import arraycore as ac\n"
        "import numpy as np\n"
        "random = np.random.default_rng(1)\n"
        "a, b = (random.integers(-4, 5, (300, 300)).astype('f4') for _ in range(2))\n"
        "x, y = ac.array(a), ac.array(b)\n"
        "right = all(np.array_equal((x @ y).get(), a @ b) for _ in range(5))\n"
        "print(ac.device_info().cpu_threads, right)\n"
        "try:\n"
        "    ac.zeros(1 << 28)\n"
        "except MemoryError as error:\n"
        "    print(error.code)\n",
    )
    done = run("--host", host, "--limits", "phone", "--threads", "3", script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 True\nover_budget\n", "")


def test_links_in_the_scripts_folder_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("by a link")
    (tmp_path / "file").symlink_to("real.txt")
    (tmp_path / "circle").symlink_to(".")
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "nothing").symlink_to("missing")
    script = write(
        tmp_path, "import pathlib\nprint(pathlib.Path(__file__).with_name('file').read_text())"
    )
    done = run("--host", "chromium", script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "by a link\n", "")


@pytest.mark.parametrize(
    ("ending", "code", "last"),
    [
        ("raise SystemExit('a sentence')", 1, "a sentence"),
        ("import nowhere", 1, "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_exit_codes_are_pythons(tmp_path: Path, ending: str, code: int, last: str) -> None:
    done = run(write(tmp_path, f"def end():\n    {ending}\nend()\n"))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.splitlines()[-1] == last


def test_a_traceback_shows_the_script_and_nothing_of_ours(tmp_path: Path) -> None:
    script = write(tmp_path, "def end():\n    raise ValueError('wrong')\nend()\n")
    done = run(script)
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert lines[-1] == "ValueError: wrong"
    assert lines[0] == "Traceback (most recent call last):"
    assert [line for line in lines if line.startswith("  File")] == [
        f'  File "{script}", line 3, in <module>',
        f'  File "{script}", line 2, in end',
    ]


def test_output_comes_while_the_script_runs(host: str, tmp_path: Path) -> None:
    script = write(tmp_path, "import time\nprint('first')\ntime.sleep(60)\n")
    process = subprocess.Popen(
        [*COMMAND, "--host", host, script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "first\n"
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 130


def test_ctrl_c_is_a_keyboard_interrupt(host: str, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "try:\n"
        "    print('begun')\n"
        "    while True:\n"
        "        pass\n"
        "except KeyboardInterrupt:\n"
        "    print('caught')\n"
        "    raise\n",
    )
    process = subprocess.Popen(
        [*COMMAND, "--host", host, script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, output) == (130, "caught\n")
    assert errors.splitlines()[-1] == "KeyboardInterrupt"


WEBGPU = (
    "import arraycore as ac, importlib.util, numpy as np\n"
    "print('hooks', importlib.util.find_spec('_arraycore_hooks') is not None)\n"
    "a = ac.array(np.arange(1000, dtype='float32'))\n"
    "b = a + a\n"
    "for _ in range(300):\n"
    "    b = b * 1.0\n"
    "print(np.array_equal(b.get(), 2 * np.arange(1000)))\n"
    "counted = ac.counters()\n"
    "launched = counted['dispatches'] + counted['fused']\n"
    "print(launched, counted['cpu_ops'], counted['sync_waits'])\n"
    "%s"
)


def test_webgpu_computes_on_its_device_with_the_limits_of_a_phone(
    host: str, tmp_path: Path
) -> None:
    script = write(tmp_path, WEBGPU % "")
    done = run("--host", host, "--backend", "webgpu", "--limits", "phone", script)
    assert (done.returncode, done.stdout) == (0, "hooks False\nTrue\n301 0 1\n"), done.stderr
    assert done.stderr == ""


def test_webgpu_computes_on_its_device_and_a_script_may_end_with_work_on_the_way(
    host: str, tmp_path: Path
) -> None:
    script = write(tmp_path, WEBGPU % "for _ in range(3000):\n    b *= 1.0\nraise SystemExit(9)")
    done = run("--host", host, "--backend", "webgpu", script)
    assert (done.returncode, done.stdout) == (9, "hooks False\nTrue\n301 0 1\n"), done.stderr
    assert done.stderr == ""


def test_hooks_make_the_device_fail(host: str, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import arraycore as ac\n"
        "import _arraycore_hooks\n"
        "_arraycore_hooks.destroy_device(0)\n"
        "try:\n"
        "    ac.zeros(3, 'float32').get()\n"
        "except ac.DeviceLostError as error:\n"
        "    print(error.code)\n",
    )
    done = run("--host", host, "--backend", "webgpu", "--hooks", script)
    assert (done.returncode, done.stdout) == (0, "device_lost\n"), done.stderr


def test_ctrl_c_ends_a_wait_for_the_device(host: str, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import arraycore as ac, numpy as np, time\n"
        "a = ac.array(np.ones(1 << 22, 'float32'))\n"
        "b = ac.array(a)\n"
        "def launch():\n"
        "    for _ in range(60):\n"
        "        ac.multiply(a, 1.0, out=b)\n"  # launched at once, because b exists
        "launch()\n"
        "began = time.perf_counter()\n"
        "b.get()\n"
        "print(time.perf_counter() - began)\n"
        "launch()\n"
        "try:\n"
        "    print('waiting')\n"
        "    b.get()\n"
        "except KeyboardInterrupt:\n"
        "    print('caught')\n"
        "for _ in range(10):\n"
        "    time.sleep(0.01)\n"
        "print('once')\n",
    )

    def is_ended_early() -> bool:
        process = subprocess.Popen(
            [*COMMAND, "--host", host, "--backend", "webgpu", script],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, process.communicate()  # it ended early: the second part says why
        whole_s = float(said)
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.3)  # so that b.get() begins; without this pause the interrupt is also caught
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "caught\n"
        took = time.monotonic() - began
        output, errors = process.communicate(timeout=LIMIT_S)
        assert (process.returncode, output, errors) == (0, "once\n", "")
        return took < whole_s / 2

    # Even on a busy machine, at least one of ten runs ends early. If Ctrl-C did not end the wait,
    # none would.
    assert any(is_ended_early() for _ in range(10))


def test_standard_input_is_the_scripts(tmp_path: Path) -> None:
    done = run(write(tmp_path, "print(input()[::-1])"), input="abc\n")
    assert (done.returncode, done.stdout) == (0, "cba\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Name a script"),
        (["--host", "moon", "x.py"], "--host is one of node, chromium, not 'moon'."),
        (["--mount", "nowhere", "x.py"], "--mount nowhere: there is no such folder."),
        (["nowhere.py"], "nowhere.py: there is no such file."),
        (["--backend", "cuda", "x.py"], "--backend is one of webgpu, webgl2, cpu, not 'cuda'."),
        (["-m"], "-m needs a value."),
        (["--frob", "1"], "There is no option --frob."),
    ],
)
def test_a_wrong_command_line_is_told_in_one_sentence(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0].startswith(says)
    assert done.stderr.splitlines()[1].startswith("usage: ./run python")
