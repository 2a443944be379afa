"""Makes a release in one folder and publishes nothing: ``./run release``.

    hyperflock-VERSION.tar.gz             the sources, as git has them
    hyperflock-VERSION-py3-none-any.whl   the researcher's package
    hyperflock-VERSION-py3-none-*.whl     the same with a server, for each system on which
                                          `./run wheels` ran
    arraycore-VERSION-*.whl               the array library, for tests outside of a browser
    chainer-*.whl                         Chainer, for the package's extra `chainer`; PyPI has no
                                          wheel of it
    hyperflock-server-VERSION-image.tar.gz
                                          the inputs of `docker build` for the server's image
    hyperflock-server_VERSION-1_ARCH.deb  the server for Debian 12, as a service
    hyperflock-server-VERSION-linux-MACHINE.tar.gz
                                          the same for other Linux systems
    hyperflock-VERSION.cdx.json           what all of these carry, as CycloneDX
    SHA256SUMS                            for `sha256sum --check`
    SHA256SUMS.minisig                    the signature of SHA256SUMS, if a key is given

Built files come from ``build/``; the Dockerfile says which of them are in the image. The archives
have the commit's time and no owner, so that the same commit gives the same source archive.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIGEST = re.compile(r"[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}")
DOCKERFILE = "deploy/image/server.Dockerfile"
COPY_FROM_BUILD = re.compile(r"^COPY --from=build /src/(\S+) (\S+)$", re.MULTILINE)
COPY_FROM_CONTEXT = re.compile(r"^COPY ([^-\s]\S*) \S+$", re.MULTILINE)


class ReleaseError(Exception):
    """The tree cannot be released in its present state."""


def git(root: Path, *words: str) -> bytes:
    """Return what a git command prints."""
    done = subprocess.run(["git", *words], cwd=root, stdout=subprocess.PIPE, check=True)
    return done.stdout


def version_of(root: Path) -> str:
    """Return the version that CMakeLists.txt names."""
    found = re.search(
        r"^project\(hyperflock VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.M
    )
    if found is None:
        raise ReleaseError("CMakeLists.txt names no version.")
    return found[1]


def check_tree(root: Path) -> None:
    """Refuse a tree with changes, because the released sources would not be those that were built.

    Raises
    ------
    ReleaseError
        A file is changed or unknown to git.
    """
    changed = git(root, "status", "--porcelain").decode()
    if changed:
        raise ReleaseError(f"Commit or remove these before a release:\n{changed}")


def write_gzip(path: Path, content: bytes) -> None:
    """Compress ``content`` into a file, without the current time in the header."""
    with path.open("wb") as stream, gzip.GzipFile("", "wb", 9, stream, mtime=0) as packed:
        packed.write(content)


def source_archive(root: Path, out: Path, version: str) -> None:
    """Write an archive of the committed sources, all of them below one folder."""
    prefix = f"hyperflock-{version}/"
    write_gzip(
        out / f"hyperflock-{version}.tar.gz", git(root, "archive", f"--prefix={prefix}", "HEAD")
    )


def image_dockerfile(dockerfile: str) -> tuple[str, list[str]]:
    """Return the stages of the image's Dockerfile that need no build of the tree, and the paths
    that they copy. What the Dockerfile takes from its build is copied from the context.
    """
    stages = dockerfile[dockerfile.index("FROM ${BASE} AS system") :]
    products = [source for source, _ in COPY_FROM_BUILD.findall(stages)]
    if not products:
        raise ReleaseError("The Dockerfile copies nothing from its build.")
    copied = COPY_FROM_CONTEXT.findall(stages)
    return COPY_FROM_BUILD.sub(r"COPY \1 \2", stages), products + copied


def image_context(root: Path, out: Path, version: str, base: str) -> None:
    """Write an archive for `docker build -`: the Dockerfile, and what it copies. The Dockerfile
    names its base by its digest.
    """
    dockerfile, copied = image_dockerfile((root / DOCKERFILE).read_text())
    dockerfile = f"ARG BASE={base}\n{dockerfile}"
    texts = {"Dockerfile": dockerfile.encode()}
    time_s = int(git(root, "log", "-1", "--format=%ct"))
    write_gzip(
        out / f"hyperflock-server-{version}-image.tar.gz", tar_of(root, texts, copied, time_s)
    )


def tar_of(root: Path, texts: Mapping[str, bytes], paths: Sequence[str], time_s: int) -> bytes:
    """Return a tar with ``texts`` and with files and folders of the tree, in a fixed order and
    without owners.
    """
    packed = io.BytesIO()

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = time_s
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in texts.items():
            entry = plain(tarfile.TarInfo(name))
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
        for path in paths:
            if not (root / path).exists():
                raise ReleaseError(f"{path} is not built.")
            # `add` visits the entries of a folder in the order of their names.
            archive.add(root / path, path, filter=plain)
    return packed.getvalue()


def checksums(out: Path) -> str:
    """Return a line for each file in the form of sha256sum."""
    lines = []
    for path in sorted(out.iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f"{digest}  {path.name}\n")
    return "".join(lines)


def wheels_of(folder: Path, version: str) -> list[Path]:
    """Return the wheels of a release: the pure ones, and those with a server."""
    found = sorted(folder.glob("chainer-*-any.whl"))
    if len(found) != 1:
        raise ReleaseError(f"There are {len(found)} wheels of Chainer in {folder}.")
    for name in ("hyperflock", "arraycore"):
        pure = sorted(folder.glob(f"{name}-{version}-*-any.whl"))
        if len(pure) != 1:
            raise ReleaseError(f"There are {len(pure)} wheels of {name} {version} in {folder}.")
        found += pure
    whole = sorted(set(folder.glob(f"hyperflock-{version}-*.whl")) - set(found))
    if not whole:
        raise ReleaseError(f"No wheel of hyperflock {version} in {folder} has a server.")
    return found + whole


def packages_of(folder: Path, version: str) -> list[Path]:
    """Return the packages with which operators install the server."""
    patterns = (
        f"hyperflock-server_{version}-1_*.deb",
        f"hyperflock-server-{version}-linux-*.tar.gz",
    )
    found = []
    for pattern in patterns:
        matching = sorted(folder.glob(pattern))
        if not matching:
            raise ReleaseError(f"There is no {pattern} in {folder}.")
        found += matching
    return found


def check_base(base: str) -> None:
    """Refuse a base of the image that is not named by its digest, because its tag can be moved."""
    if DIGEST.fullmatch(base) is None:
        raise ReleaseError(
            "Name the image's base by its digest: --base debian@sha256:..., as `docker buildx "
            "imagetools inspect debian:bookworm-slim` shows it."
        )


def sign(out: Path, key: Path) -> None:
    """Sign the checksums, and so every file, by the operator's minisign key.

    Raises
    ------
    ReleaseError
        minisign is missing or refuses the key.
    """
    command = ["minisign", "-S", "-s", str(key), "-m", str(out / "SHA256SUMS")]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ReleaseError(f"The release is not signed: {error}") from None


def release(root: Path, wheels: Path, base: str, key: Path | None = None) -> Path:
    """Make the release's folder anew and return it."""
    version = version_of(root)
    check_base(base)
    check_tree(root)
    out = root / f"build/release-{version}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for built in (*wheels_of(wheels, version), *packages_of(root / "build/packages", version)):
        shutil.copy(built, out)
    source_archive(root, out, version)
    image_context(root, out, version, base)
    bill = root / "build/sbom.cdx.json"
    if not bill.exists():
        raise ReleaseError(f"{bill} is not written.")
    shutil.copy(bill, out / f"hyperflock-{version}.cdx.json")
    (out / "SHA256SUMS").write_text(checksums(out))
    if key is not None:
        sign(out, key)
    return out


def main() -> int:
    """Make the release of this tree and print its content."""
    parser = argparse.ArgumentParser(description="Make a release's files; publish nothing.")
    parser.add_argument("--wheels", type=Path, default=ROOT / "build/wheel")
    parser.add_argument("--base", default="", help="the image's base, NAME@sha256:DIGEST")
    parser.add_argument("--key", type=Path, help="the minisign key that signs the checksums")
    parser.add_argument("--check", action="store_true", help="only say whether the tree is ready")
    options = parser.parse_args()
    try:
        if options.check:
            check_base(options.base)
            check_tree(ROOT)
            return 0
        out = release(ROOT, options.wheels, options.base, options.key)
    except ReleaseError as error:
        print(f"run: {error}", file=sys.stderr)
        return 1
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(ROOT)}")
    if options.key is None:
        print("The release is not signed; give a key of `minisign -G` by --key.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
