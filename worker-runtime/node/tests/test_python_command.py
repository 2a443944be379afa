"""Tests ``./run python`` as a caller sees it, on both hosts: output, exit codes, files, Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Only a program that hangs reaches this limit, never a busy machine.
LIMIT_S = 900
COMMAND = [
    "node",
    "--disable-warning=ExperimentalWarning",
    str(ROOT / "worker-runtime/node/python_command.ts"),
]


@pytest.fixture(params=["node", "chromium"])
def host(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    given = {"capture_output": True, "text": True, "timeout": LIMIT_S, "cwd": ROOT, **options}
    return subprocess.run([*COMMAND, *arguments], check=False, **given)  # type: ignore[call-overload,no-any-return]


def write(folder: Path, source: str) -> str:
    path = folder / "script.py"
    path.write_text(source)
    return str(path)


def test_arguments_streams_and_exit_code_pass_through(host: str, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import sys\n"
        "import helper\n"
        "print(sys.argv[1:], helper.VALUE, __name__)\n"
        "print('to the side', file=sys.stderr)\n"
        "sys.stdout.write('no line end')\n"
        "sys.exit(41)\n",
    )
    (tmp_path / "helper.py").write_text("VALUE = 'beside the script'\n")
    done = run("--host", host, script, "--mount", "a b")
    assert done.returncode == 41
    assert done.stdout == "['--mount', 'a b'] beside the script __main__\nno line end"
    assert done.stderr == "to the side\n"


def test_threads_help_python_and_end_with_it(host: str, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import arraycore as ac\n"
        "import numpy as np\n"
        "random = np.random.default_rng(1)\n"
        "a, b = (random.integers(-4, 5, (300, 300)).astype('f4') for _ in range(2))\n"
        "x, y = ac.array(a), ac.array(b)\n"
        "right = all(np.array_equal((x @ y).get(), a @ b) for _ in range(5))\n"
        "print(ac.device_info().cpu_threads, right)\n",
    )
    done = run("--host", host, "--threads", "3", script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 True\n", "")


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
        ("", 0, ""),
        ("raise SystemExit('a sentence')", 1, "a sentence"),
        ("raise ValueError('wrong')", 1, "ValueError: wrong"),
        ("import nowhere", 1, "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_exit_codes_are_pythons(tmp_path: Path, ending: str, code: int, last: str) -> None:
    done = run(write(tmp_path, f"def end():\n    {ending or 'pass'}\nend()\n"))
    assert (done.returncode, done.stdout) == (code, "")
    assert (done.stderr.splitlines() or [""])[-1] == last


def test_a_traceback_shows_the_script_and_nothing_of_ours(tmp_path: Path) -> None:
    script = write(tmp_path, "def end():\n    raise ValueError('wrong')\nend()\n")
    lines = run(script).stderr.splitlines()
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


def test_mounted_folders_are_read_and_written(host: str, tmp_path: Path) -> None:
    data = tmp_path / "data with space"
    (data / "in").mkdir(parents=True)
    (data / "in" / "numbers.bin").write_bytes(bytes(range(256)) * 1000)
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    script = write(
        scripts,
        "import os, sys\n"
        "data = sys.argv[1]\n"
        "read = open(f'{data}/in/numbers.bin', 'rb').read()\n"
        "os.makedirs(f'{data}/out/deep')\n"
        "open(f'{data}/out/deep/reversed.bin', 'wb').write(read[::-1])\n"
        "open(f'{data}/in/numbers.bin', 'ab').write(b'more')\n",
    )
    done = run("--host", host, "--mount", str(data), script, str(data))
    assert (done.returncode, done.stderr) == (0, "")
    numbers = bytes(range(256)) * 1000
    assert (data / "out" / "deep" / "reversed.bin").read_bytes() == numbers[::-1]
    assert (data / "in" / "numbers.bin").read_bytes() == numbers + b"more"


def test_mounted_folders_are_searched_for_modules(host: str, tmp_path: Path) -> None:
    library, scripts = tmp_path / "library", tmp_path / "scripts"
    (library / "shelf").mkdir(parents=True)
    (library / "shelf" / "__init__.py").write_text("VALUE = 'of the mount'\n")
    (library / "shelf" / "__main__.py").write_text("from shelf import VALUE; print(VALUE)\n")
    (library / "helper.py").write_text("VALUE = 'of the mount'\n")
    scripts.mkdir()
    (scripts / "helper.py").write_text("VALUE = 'beside the script'\n")
    script = write(scripts, "import helper, shelf; print(helper.VALUE, shelf.VALUE)")
    done = run("--host", host, "--mount", str(library), script)
    assert (done.stdout, done.stderr) == ("beside the script of the mount\n", "")
    done = run("--host", host, "--mount", str(library), "-m", "shelf")
    assert (done.stdout, done.stderr) == ("of the mount\n", "")


def test_what_is_not_mounted_is_not_there(host: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "file"
    secret.parent.mkdir()
    secret.write_text("x")
    (tmp_path / "scripts").mkdir()
    done = run("--host", host, write(tmp_path / "scripts", f"open({str(secret)!r})"))
    assert done.returncode == 1
    assert "FileNotFoundError" in done.stderr


def test_wheels_are_unpacked_and_modules_run(host: str, tmp_path: Path) -> None:
    wheel = tmp_path / "parcel-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("parcel/__init__.py", "")
        archive.writestr("parcel/__main__.py", "import sys; print(sys.argv[1:])")
    done = run("--host", host, "--wheel", str(wheel), "-m", "parcel", "-m", "x")
    assert (done.returncode, done.stdout, done.stderr) == (0, "['-m', 'x']\n", "")


def test_arraycore_is_there_with_the_limits_of_a_phone(host: str, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import arraycore as ac, numpy as np\n"
        "a = ac.array(np.arange(3, dtype='float32'))\n"
        "print((a + a).get())\n"
        "try:\n"
        "    ac.zeros(1 << 28)\n"
        "except MemoryError as error:\n"
        "    print(error.code)\n",
    )
    done = run("--host", host, "--limits", "phone", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[0. 2. 4.]\nover_budget\n"


WEBGPU = (
    "import arraycore as ac, numpy as np\n"
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


@pytest.mark.parametrize("limits", [[], ["--limits", "phone"]])
def test_webgpu_computes_on_its_device(host: str, tmp_path: Path, limits: list[str]) -> None:
    script = write(tmp_path, WEBGPU % "")
    done = run("--host", host, "--backend", "webgpu", *limits, script)
    assert (done.returncode, done.stdout) == (0, "True\n301 0 1\n"), done.stderr
    assert done.stderr == ""


def test_hooks_are_there_only_where_they_were_asked_for(host: str, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import arraycore as ac, importlib.util\n"
        "if importlib.util.find_spec('_arraycore_hooks') is None:\n"
        "    raise SystemExit(3)\n"
        "import _arraycore_hooks\n"
        "_arraycore_hooks.destroy_device(0)\n"
        "try:\n"
        "    ac.zeros(3, 'float32').get()\n"
        "except ac.DeviceLostError as error:\n"
        "    print(error.code)\n",
    )
    done = run("--host", host, "--backend", "webgpu", "--hooks", script)
    assert (done.returncode, done.stdout) == (0, "device_lost\n"), done.stderr
    assert run("--host", host, "--backend", "webgpu", script).returncode == 3


def test_a_script_may_end_with_work_on_the_way(host: str, tmp_path: Path) -> None:
    script = write(tmp_path, WEBGPU % "for _ in range(3000):\n    b *= 1.0\nraise SystemExit(9)")
    done = run("--host", host, "--backend", "webgpu", script)
    assert (done.returncode, done.stderr) == (9, "")


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

    # Even on a busy machine, one of ten runs ends early. None would if Ctrl-C did not end the wait.
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
        (["--backend", "cuda", "x.py"], "--backend is one of webgpu, cpu, not 'cuda'."),
        (["-m"], "-m needs a value."),
        (["--frob", "1"], "There is no option --frob."),
    ],
)
def test_a_wrong_command_line_is_told_in_one_sentence(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0].startswith(says)
    assert done.stderr.splitlines()[1].startswith("usage: ./run python")
