"""Builds the wheels of the researcher's package: ``./run wheels``.

    hyperflock-VERSION-py3-none-PLATFORM.whl   with the server, the pages and the browsers' runtime
    hyperflock-VERSION-py3-none-any.whl        without them, for every other system

Both have the same project name, so ``pip install`` takes the first one on its platform and the
second one elsewhere. The server's program determines the platform: a static Linux program runs on
every Linux, and a dynamic one needs the glibc version that introduced its newest symbol. On macOS
and Windows, ``--tag`` names the platform; those wheels are built in the same way, and nobody has
tested them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from products import report

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python/src"))
from hyperflock._local.pack import write_pack  # noqa: E402
from hyperflock._local.parts import BINARY  # noqa: E402

MOST_BYTES = 45_000_000
#: The libraries that every Linux with glibc has.
EVERYWHERE = re.compile(r"^(ld-linux[\w-]*|libc|libm|libdl|libpthread|librt)\.so\.\d+$")
#: The oldest glibc version in the platform tags of these wheels.
LEAST_GLIBC = (2, 17)
MACHINES = {62: "x86_64", 183: "aarch64"}


class WheelError(Exception):
    """The wheel cannot be built; the message says why."""


def platform_tag(program: Path) -> str:
    """Return the platforms on which a program runs, as the platform tag of a wheel's file name.

    Raises
    ------
    WheelError
        The program is for no platform that is known here, or needs libraries of its build machine.
    """
    with program.open("rb") as file:
        head = file.read(64)
    if head[:2] == b"MZ":
        return "win_amd64"
    if head[:4] == b"\xcf\xfa\xed\xfe":
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    if head[:4] != b"\x7fELF":
        raise WheelError(f"{program} is not a program of Linux, macOS or Windows.")
    (number,) = struct.unpack_from("<H", head, 18)
    machine = MACHINES.get(number)
    if machine is None:
        raise WheelError(f"{program} is for an unknown processor ({number}).")
    listed = _readelf(program)
    libraries = re.findall(r"\(NEEDED\)\s+Shared library: \[([^]]+)\]", listed)
    foreign = [name for name in libraries if not EVERYWHERE.match(name)]
    if foreign:
        raise WheelError(f"{program} needs {', '.join(foreign)}, which other systems lack.")
    if not libraries:
        # A static program runs with glibc of any version, and with musl.
        least = "_".join(map(str, LEAST_GLIBC))
        return f"manylinux2014_{machine}.manylinux_{least}_{machine}.musllinux_1_1_{machine}"
    found = re.findall(r"\bGLIBC_(\d+)\.(\d+)", listed)
    newest = max(((int(major), int(minor)) for major, minor in found), default=LEAST_GLIBC)
    major, minor = max(newest, LEAST_GLIBC)
    return f"manylinux_{major}_{minor}_{machine}"


def _readelf(program: Path) -> str:
    command = ["readelf", "--wide", "--dynamic", "--version-info", str(program)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise WheelError(f"{program} cannot be read by readelf: {error}") from None
    return done.stdout


def build(out: Path, packed: Path | None = None, tag: str | None = None) -> Path:
    """Build one wheel, pure if there are no packed files, and return its path."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HYPERFLOCK_WHEEL")}
    if packed is not None:
        environment |= {"HYPERFLOCK_WHEEL_PACKED": str(packed), "HYPERFLOCK_WHEEL_TAG": str(tag)}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        subprocess.run(command, cwd=ROOT / "python", env=environment, check=True)
        (made,) = Path(folder).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(made, out / made.name))


def build_all(server: Path, trees: dict[str, Path], out: Path, tag: str | None) -> list[Path]:
    """Build both wheels."""
    for path in (server, *trees.values()):
        if not path.exists():
            raise WheelError(f"{path} is not built.")
    platform = tag or platform_tag(server)
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder)
        write_pack(packed, trees)
        program = packed / (f"{BINARY}.exe" if platform.startswith("win") else BINARY)
        shutil.copyfile(server, program)
        program.chmod(0o755)
        whole = build(out, packed, f"py3-none-{platform}")
    if whole.stat().st_size > MOST_BYTES:
        raise WheelError(f"{whole} has {whole.stat().st_size:,} bytes, more than {MOST_BYTES:,}.")
    return [whole, build(out)]


def main() -> int:
    """Build the wheels of this tree and print their sizes."""
    parser = argparse.ArgumentParser(description="Build the wheels of the researcher's package.")
    parser.add_argument("--server", type=Path, required=True, help="the server's program")
    parser.add_argument(
        "--tree", action="append", default=[], metavar="NAME=FOLDER", help="a folder to pack"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tag", help="the platform; default: what the server's program says")
    options = parser.parse_args()
    trees = {name: Path(folder) for name, _, folder in (t.partition("=") for t in options.tree)}
    return report(lambda: build_all(options.server, trees, options.out, options.tag), WheelError)


if __name__ == "__main__":
    sys.exit(main())
