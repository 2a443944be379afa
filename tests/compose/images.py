"""The images of the compose file, built by buildah without a registry.

The server's image is the one of `./run image`. Caddy's comes from a registry that tests cannot
reach: in its place is Debian's Caddy, with busybox for its health check.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy" / "image"))
import make_image  # noqa: E402

CADDY = """\
FROM scratch
COPY rootfs /
ENV PATH=/usr/bin:/bin XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
"""


@dataclass(frozen=True)
class Image:
    """An image's files, and what its configuration says."""

    root: Path  #: The checkout, from which relative paths of the compose file begin.
    rootfs: Path
    user: str
    environment: dict[str, str]
    entrypoint: list[str]
    command: list[str]


def of(buildah: make_image.Buildah, tag: str) -> Image:
    """Return a built image."""
    config: dict[str, Any] = buildah.config(tag)
    variables = dict(each.split("=", 1) for each in config.get("Env") or [])
    return Image(
        ROOT,
        buildah.rootfs(tag),
        config.get("User", ""),
        {"PATH": "/usr/local/bin:/usr/bin:/bin", **variables},
        config.get("Entrypoint") or [],
        config.get("Cmd") or [],
    )


def unpack(packages: list[str], folder: Path) -> None:
    """Unpack Debian's packages into a folder. Nothing of them runs."""
    folder.mkdir(parents=True)
    command = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", *packages]
    debs = folder.parent / "debs"
    debs.mkdir()
    if subprocess.run(command, cwd=debs, check=False).returncode != 0:
        # The lists of apt may be older than its mirror.
        subprocess.run(["apt-get", "-q", "update"], check=True)
        subprocess.run(command, cwd=debs, check=True)
    for deb in debs.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", deb, folder], check=True)


def python(buildah: make_image.Buildah, folder: Path) -> str:
    """Build the image of the researcher's package on a Debian of this machine's mirror, which is
    kept in ``build/cache`` because it takes minutes.
    """
    kept = ROOT / "build/cache/compose-debian.tar"
    if not kept.exists():
        words = [ROOT / "tests/compose/debian.sh", folder / "debian", kept]
        subprocess.run(words, check=True)
    base = folder / "base"
    base.mkdir()
    shutil.copy(kept, base / "root.tar")
    (base / "Dockerfile").write_text("FROM scratch\nADD root.tar /\n")
    buildah.build(base / "Dockerfile", base, "localhost/debian", "--layers=false")
    tag = "localhost/hyperflock-python"
    argument = "--build-arg=BASE=localhost/debian"
    file = ROOT / "deploy/image/python.Dockerfile"
    buildah.build(file, ROOT, tag, "--layers=false", argument)
    return tag


def caddy(buildah: make_image.Buildah, folder: Path) -> str:
    """Build the image with Debian's Caddy."""
    rootfs = folder / "caddy" / "rootfs"
    shutil.rmtree(folder / "caddy", ignore_errors=True)
    unpack(["caddy", "busybox-static", "libc6", "libzstd1"], rootfs)
    busybox = next(path for path in rootfs.rglob("busybox") if path.parent.name == "bin")
    (rootfs / "usr/bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(busybox, rootfs / "usr/bin/wget")
    for name in ("data", "config"):
        (rootfs / name).mkdir()
    (folder / "caddy" / "Dockerfile").write_text(CADDY)
    tag = "localhost/caddy"
    buildah.build(folder / "caddy" / "Dockerfile", folder / "caddy", tag, "--layers=false")
    return tag
