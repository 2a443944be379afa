"""Builds the server's image without a registry and without an engine: ``./run image``.

    build/image/hyperflock-server-VERSION.tar    for `docker load` and `podman load`

It is the last stage of ``server.Dockerfile``. What that copies from earlier stages is there
already: the products of ``./run build``, and the system of ``rootfs.sh``. buildah runs in chroot
isolation and keeps its storage in ``build/image``. An image above 120 MB is refused, and so is one
whose program does not start or that lacks its bills of materials.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))
from release import DOCKERFILE, version_of  # noqa: E402

MOST_BYTES = 120_000_000
NAME = "hyperflock-server"
BILLS = ("sbom.cdx.json", "system.cdx.json")


class ImageError(Exception):
    """The image cannot be built, or is not as it has to be."""


class Buildah:
    """buildah with a storage of its own in a folder."""

    def __init__(self, folder: Path) -> None:
        self._words = ["buildah", "--storage-driver=vfs", f"--root={folder / 'storage'}"]
        self._words += [f"--runroot={folder / 'run'}"]
        # buildah wants a policy about signatures even where nothing is fetched.
        self._policy = folder / "policy.json"
        folder.mkdir(parents=True, exist_ok=True)
        self._policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')

    def __call__(self, command: str, *words: object) -> str:
        """Run a command and return what it prints.

        Raises
        ------
        ImageError
            The command fails.
        """
        line = [*self._words, command]
        if command in ("build", "push", "pull"):
            line.append(f"--signature-policy={self._policy}")
        try:
            done = subprocess.run(
                [*line, *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise ImageError(f"buildah {command}: {error}") from None
        return done.stdout.strip()

    def build(self, dockerfile: Path, context: Path, tag: str, *more: str) -> None:
        """Build a Dockerfile's image from local files."""
        self(
            "build",
            "--isolation=chroot",
            "--pull-never",
            "--format=docker",
            "--quiet",
            f"--file={dockerfile}",
            f"--tag={tag}",
            *more,
            context,
        )

    def rootfs(self, tag: str) -> Path:
        """Return a folder with the content of an image."""
        return Path(self("mount", self("from", "--pull-never", tag)))

    def config(self, tag: str) -> dict[str, object]:
        """Return an image's configuration: its user, its environment, what it runs."""
        found = json.loads(self("inspect", "--type=image", tag))
        config: dict[str, object] = found["Docker"]["config"]
        return config


def last_stage(dockerfile: str) -> tuple[str, dict[str, str]]:
    """Return the Dockerfile's last stage, which copies from the context only, and where the context
    has to get each of these paths from: a name of ``build/image``, or a path of the tree.
    """
    final = dockerfile[dockerfile.rindex("FROM ") :]
    sources: dict[str, str] = {}

    def from_context(found: re.Match[str]) -> str:
        stage, flags, source = found.groups()
        path = source.removeprefix("/src/").strip("/")
        sources[path] = path if stage == "build" else f"build/image/{path}"
        return f"COPY {flags}{path}"

    text = re.sub(r"^COPY --from=(\w+) ((?:--\S+ )*)(\S+)", from_context, final, flags=re.M)
    if "--from" in text:
        raise ImageError(f"{DOCKERFILE} copies in a way that this script does not know")
    return text, sources


def make_context(root: Path, folder: Path) -> Path:
    """Make the folder that the image is built from, and return its Dockerfile."""
    text, sources = last_stage((root / DOCKERFILE).read_text())
    shutil.rmtree(folder, ignore_errors=True)
    for path, source in sources.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (root / source).exists():
            raise ImageError(f"{source} is not built.")
        # Links instead of copies; they are only read.
        subprocess.run(["cp", "--archive", "--link", root / source, target], check=True)
    dockerfile = folder / "Dockerfile"
    dockerfile.write_text(text)
    return dockerfile


def system(root: Path) -> None:
    """Make ``build/image/rootfs`` and an empty ``build/image/state``."""
    folder = root / "build/image"
    (folder / "state").mkdir(parents=True, exist_ok=True)
    command = [root / "deploy/image/rootfs.sh", folder / "rootfs"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def check(rootfs: Path, version: str) -> int:
    """Return how many bytes an image's files have.

    Raises
    ------
    ImageError
        They are too many, or something is missing.
    """
    doc = rootfs / "usr/share/doc/hyperflock-server"
    for name in BILLS:
        if not json.loads((doc / name).read_text())["components"]:
            raise ImageError(f"{name} lists nothing")
    command = ["chroot", "--userspec=10001:10001", str(rootfs), "/usr/bin/hyperflock-server"]
    shown = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    if not shown.stdout.startswith(f"{version} "):
        raise ImageError(f"the image's program does not start: {shown.stdout}{shown.stderr}")
    size = sum(
        path.lstat().st_size for path in rootfs.rglob("*") if path.is_symlink() or path.is_file()
    )
    if size > MOST_BYTES:
        raise ImageError(f"the image has {size:,} bytes; at most {MOST_BYTES:,} are allowed")
    return size


def build(root: Path, buildah: Buildah) -> str:
    """Build the server's image in buildah's storage and return its name."""
    version = version_of(root)
    system(root)
    context = root / "build/image/context"
    dockerfile = make_context(root, context)
    git = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
    time_s = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    tag = f"localhost/{NAME}:{version}"
    buildah.build(dockerfile, context, tag, "--layers=false", f"--timestamp={time_s}")
    shutil.rmtree(context)
    return tag


def main() -> int:
    """Build the image, check it, and write its archive."""
    parser = argparse.ArgumentParser(description="Build the server's image without an engine.")
    parser.parse_args()
    folder = ROOT / "build/image"
    version = version_of(ROOT)
    archive = folder / f"{NAME}-{version}.tar"
    try:
        if os.geteuid() != 0:
            raise ImageError("only root can build an image in chroot isolation")
        shutil.rmtree(folder / "storage", ignore_errors=True)
        buildah = Buildah(folder)
        tag = build(ROOT, buildah)
        size = check(buildah.rootfs(tag), version)
        archive.unlink(missing_ok=True)
        buildah("push", "--quiet", tag, f"docker-archive:{archive}:{NAME}:{version}")
    except (ImageError, OSError, subprocess.CalledProcessError) as error:
        print(f"run: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder / "storage", ignore_errors=True)
    print(f"{size:>12,} bytes of files in the image (at most {MOST_BYTES:,})")
    print(f"{archive.stat().st_size:>12,}  {archive.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
