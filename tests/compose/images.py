"""The images of the compose file, built by buildah without a registry.

The server's image is the one of `./run image`. Those of Caddy and Prometheus come from a registry
that tests cannot reach: in their place are Debian's, with busybox for their health checks. Debian
has no Grafana.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
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
PROMETHEUS = """\
FROM scratch
COPY rootfs /
COPY --chown=65534:65534 data /prometheus
ENV PATH=/usr/bin:/bin
USER 65534
ENTRYPOINT ["prometheus"]
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


def _add_wget(rootfs: Path) -> None:
    busybox = next(path for path in rootfs.rglob("busybox") if path.parent.name == "bin")
    (rootfs / "usr/bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(busybox, rootfs / "usr/bin/wget")


def _on_debian(buildah: make_image.Buildah, folder: Path, name: str) -> str:
    """Build an image of ours on a Debian of this machine's mirror, which is kept in ``build/cache``
    because it takes minutes.
    """
    kept = ROOT / "build/cache/compose-debian.tar"
    if not kept.exists():
        words = [ROOT / "tests/compose/debian.sh", folder / "debian", kept]
        subprocess.run(words, check=True)
    base = folder / "base"
    if not base.exists():
        base.mkdir()
        shutil.copy(kept, base / "root.tar")
        (base / "Dockerfile").write_text("FROM scratch\nADD root.tar /\n")
        buildah.build(base / "Dockerfile", base, "localhost/debian", "--layers=false")
    tag = f"localhost/hyperflock-{name}"
    argument = "--build-arg=BASE=localhost/debian"
    file = ROOT / f"deploy/image/{name}.Dockerfile"
    buildah.build(file, ROOT, tag, "--layers=false", argument)
    return tag


def server(buildah: make_image.Buildah, _folder: Path) -> str:
    """Build the server's image."""
    return make_image.build(ROOT, buildah)


def python(buildah: make_image.Buildah, folder: Path) -> str:
    """Build the image of the researcher's package."""
    return _on_debian(buildah, folder, "python")


def postgres(buildah: make_image.Buildah, folder: Path) -> str:
    """Build the image of the database."""
    return _on_debian(buildah, folder, "postgres")


def caddy(buildah: make_image.Buildah, folder: Path) -> str:
    """Build the image with Debian's Caddy."""
    rootfs = folder / "caddy" / "rootfs"
    shutil.rmtree(folder / "caddy", ignore_errors=True)
    unpack(["caddy", "busybox-static", "libc6", "libzstd1"], rootfs)
    _add_wget(rootfs)
    for name in ("data", "config"):
        (rootfs / name).mkdir()
    (folder / "caddy" / "Dockerfile").write_text(CADDY)
    tag = "localhost/caddy"
    buildah.build(folder / "caddy" / "Dockerfile", folder / "caddy", tag, "--layers=false")
    return tag


def prometheus(buildah: make_image.Buildah, folder: Path) -> str:
    """Build the image with Debian's Prometheus."""
    context = folder / "prometheus"
    unpack(["prometheus", "busybox-static", "libc6"], context / "rootfs")
    _add_wget(context / "rootfs")
    (context / "data").mkdir()
    (context / "Dockerfile").write_text(PROMETHEUS)
    tag = "localhost/prometheus"
    buildah.build(context / "Dockerfile", context, tag, "--layers=false")
    return tag


_BUILDERS: dict[str, Callable[[make_image.Buildah, Path], str]] = {
    "hyperflock-server": server,
    "hyperflock-python": python,
    "hyperflock-postgres": postgres,
    "caddy": caddy,
    "prom/prometheus": prometheus,
}


class Images:
    """The images by the names of the compose files, each built when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._buildah = make_image.Buildah(folder / "buildah")
        self._built: dict[str, Image] = {}

    def __getitem__(self, name: str) -> Image:
        short = name.split(":")[0]
        if short not in self._built:
            self._built[short] = of(self._buildah, _BUILDERS[short](self._buildah, self._folder))
        return self._built[short]
