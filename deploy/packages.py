"""Builds what operators install without containers: ``./run packages``.

    build/packages/hyperflock-server_VERSION-1_ARCH.deb
                    for Debian 12: the server with Debian's libraries, which Debian keeps secure
    build/packages/hyperflock-server-VERSION-linux-MACHINE.tar.gz
                    for other Linux systems with systemd: one static program, for /usr/local

Both have the files that ``cmake --install`` places (deploy/CMakeLists.txt). The same build and the
same commit give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

from products import report
from release import ReleaseError, git, tar_of, version_of, write_gzip

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "hyperflock-server"
#: What a user may change: dpkg asks before it replaces one of these.
CONFFILES = ("etc/hyperflock/server.toml",)
DOCUMENTS = ("server/docs/operate.md", "server/docs/settings.md", "server/docs/phones.md")


def run(*words: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command and return what it prints.

    Raises
    ------
    ReleaseError
        It fails.
    """
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
    return done.stdout


def install(root: Path, build: Path, stage: Path, prefix: str) -> None:
    """Place the files of one CMake build below ``stage``, and the pages of documentation."""
    words = ("cmake", "--install", build, "--prefix", prefix, "--component", "server", "--strip")
    run(*words, DESTDIR=str(stage))
    documents = stage / prefix.strip("/") / "share/doc" / PACKAGE
    for name in DOCUMENTS:
        shutil.copy(root / name, documents)


def files_of(stage: Path) -> Iterator[Path]:
    """Yield the files below a folder in a fixed order, relative to it."""
    for path in sorted(stage.rglob("*")):
        if path.is_file():
            yield path.relative_to(stage)


def libraries(program: Path) -> str:
    """Return the packages of the libraries with which a program is linked, as dpkg names them."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "debian").mkdir()
        # dpkg-shlibdeps reads this file only to find out that it is in a source package.
        (Path(folder) / "debian/control").write_text(
            f"Source: {PACKAGE}\n\nPackage: {PACKAGE}\nArchitecture: any\n"
        )
        printed = run("dpkg-shlibdeps", "-O", program, cwd=Path(folder))
    found = re.search(r"^shlibs:Depends=(.+)$", printed, re.MULTILINE)
    if found is None:
        raise ReleaseError(f"dpkg-shlibdeps knows no library of {program}.")
    return found[1]


def compress(path: Path, text: bytes) -> None:
    """Write a compressed file of documentation, without a name and a time in it."""
    path.write_bytes(gzip.compress(text, 9, mtime=0))


def add_documents(root: Path, stage: Path, version: str, time_s: int) -> None:
    """Add what Debian wants in a package's folder of documentation."""
    folder = stage / "usr/share/doc" / PACKAGE
    (folder / "LICENSE").unlink()  # it is in the file `copyright`
    shutil.copy(root / "deploy/package/copyright", folder)
    maintainer = re.search(
        r"^Maintainer: (.+)$", (root / "deploy/package/control").read_text(), re.MULTILINE
    )
    assert maintainer is not None
    entry = (
        f"{PACKAGE} ({version}) bookworm; urgency=medium\n\n"
        f"  * Release {version.split('-')[0]}; see changelog.gz.\n\n"
        f" -- {maintainer[1]}  {formatdate(time_s)}\n"
    )
    compress(folder / "changelog.Debian.gz", entry.encode())
    compress(folder / "changelog.gz", (root / "CHANGELOG.md").read_bytes())


def add_control(root: Path, stage: Path, version: str) -> str:
    """Write the package's control files and return its architecture."""
    control = stage / "DEBIAN"
    control.mkdir()
    architecture = run("dpkg", "--print-architecture").strip()
    names = list(files_of(stage))
    sizes = sum((stage / name).stat().st_size for name in names)
    values = {
        "VERSION": version,
        "ARCHITECTURE": architecture,
        "KIB": str(sizes // 1024 + 1),
        "LIBRARIES": libraries(stage / "usr/bin" / PACKAGE),
    }
    text = (root / "deploy/package/control").read_text()
    (control / "control").write_text(re.sub(r"@(\w+)@", lambda found: values[found[1]], text))
    (control / "conffiles").write_text("".join(f"/{name}\n" for name in CONFFILES))
    sums = "".join(
        f"{hashlib.md5((stage / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
        if str(name) not in CONFFILES
    )
    (control / "md5sums").write_text(sums)
    for script in ("postinst", "prerm", "postrm"):
        shutil.copy(root / "deploy/package" / script, control)
    return architecture


def plain_modes(stage: Path) -> None:
    """Give files and folders the modes of a package, whatever the umask was."""
    for path in stage.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    stage.chmod(0o755)


def debian_package(root: Path, build: Path, out: Path, version: str, time_s: int) -> Path:
    """Build the Debian package of one build of the server."""
    full = f"{version}-1"
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder) / PACKAGE
        install(root, build, stage, "/usr")
        add_documents(root, stage, full, time_s)
        architecture = add_control(root, stage, full)
        plain_modes(stage)
        made = out / f"{PACKAGE}_{full}_{architecture}.deb"
        # Pages and runtime are compressed already, so a low level does.
        words = ("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", stage, made)
        run(*words, SOURCE_DATE_EPOCH=str(time_s))
    return made


def tarball(root: Path, build: Path, out: Path, version: str, time_s: int) -> Path:
    """Build the archive of one static build of the server."""
    name = f"{PACKAGE}-{version}"
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder) / "stage"
        install(root, build, stage, "/usr/local")
        top = Path(folder) / name
        (stage / "usr/local").rename(top)
        # An upgrade must not replace the operator's settings, so these are only an example.
        shutil.move(stage / CONFFILES[0], top / "share/hyperflock/server.toml")
        made = out / f"{name}-linux-{os.uname().machine}.tar.gz"
        write_gzip(made, tar_of(Path(folder), {}, [name], time_s))
    return made


def packages(root: Path, out: Path, dynamic: Path, static: Path) -> list[Path]:
    """Build both packages anew and return them."""
    version = version_of(root)
    time_s = int(git(root, "log", "-1", "--format=%ct"))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    return [
        debian_package(root, dynamic, out, version, time_s),
        tarball(root, static, out, version, time_s),
    ]


def main() -> int:
    """Build the packages of this tree and print their sizes."""
    parser = argparse.ArgumentParser(description="Build the packages of the server.")
    parser.add_argument("--out", type=Path, default=ROOT / "build/packages")
    options = parser.parse_args()
    builds = (ROOT / "build/release", ROOT / "build/portable")
    return report(lambda: packages(ROOT, options.out, *builds), ReleaseError)


if __name__ == "__main__":
    sys.exit(main())
