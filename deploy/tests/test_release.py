"""Runs ``./run release`` on a small tree in git whose built products are only a few bytes."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

DEPLOY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DEPLOY))
import release  # noqa: E402

PRODUCTS = (
    "build/release/bin/hyperflock-server",
    "build/web/join.html",
    "build/runtime/index.json",
    "build/sbom.cdx.json",
)
IMAGE_SOURCES = ("deploy/image/rootfs.sh", "deploy/image/server.Dockerfile")
WHOLE = "build/wheel/hyperflock-9.8.7-py3-none-manylinux_2_35_x86_64.whl"
BASE = f"debian@sha256:{'0123456789abcdef' * 4}"
PACKAGES = (
    "build/packages/hyperflock-server_9.8.7-1_amd64.deb",
    "build/packages/hyperflock-server-9.8.7-linux-x86_64.tar.gz",
)
CHAINER = "build/wheel/chainer-7.8.1-py3-none-any.whl"


def commit(root: Path) -> None:
    """Commit all files of a tree."""
    git = ["git", "-c", "user.name=toy", "-c", "user.email=toy@localhost"]
    for words in (["add", "."], ["commit", "-q", "-m", "toy"]):
        subprocess.run([*git, *words], cwd=root, check=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a committed tree of version 9.8.7 with this project's Dockerfile and all products."""
    (tmp_path / "deploy/image").mkdir(parents=True)
    (tmp_path / "CMakeLists.txt").write_text("project(hyperflock VERSION 9.8.7 LANGUAGES CXX)\n")
    for name in IMAGE_SOURCES:
        shutil.copy(DEPLOY.parent / name, tmp_path / name)
    (tmp_path / ".gitignore").write_text("/build/\n")
    wheels = [f"build/wheel/{name}-9.8.7-py3-none-any.whl" for name in ("hyperflock", "arraycore")]
    for name in (*PRODUCTS, *wheels, *PACKAGES, WHOLE, CHAINER):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / PRODUCTS[0]).chmod(0o755)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path)
    return tmp_path


def made(tree: Path) -> Path:
    """Make a release and return its folder."""
    return release.release(tree, tree / "build/wheel", BASE)


def test_a_release_has_its_files_and_their_checksums(tree: Path) -> None:
    out = made(tree)
    assert out == tree / "build/release-9.8.7"
    assert sorted(path.name for path in out.iterdir()) == [
        "SHA256SUMS",
        "arraycore-9.8.7-py3-none-any.whl",
        "chainer-7.8.1-py3-none-any.whl",
        "hyperflock-9.8.7-py3-none-any.whl",
        "hyperflock-9.8.7-py3-none-manylinux_2_35_x86_64.whl",
        "hyperflock-9.8.7.cdx.json",
        "hyperflock-9.8.7.tar.gz",
        "hyperflock-server-9.8.7-image.tar.gz",
        "hyperflock-server-9.8.7-linux-x86_64.tar.gz",
        "hyperflock-server_9.8.7-1_amd64.deb",
    ]
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=out, check=True)
    assert (out / "SHA256SUMS").read_text().count("\n") == 9


def test_the_source_archive_is_the_commit(tree: Path) -> None:
    with tarfile.open(made(tree) / "hyperflock-9.8.7.tar.gz") as archive:
        names = {entry.name for entry in archive if entry.isfile()}
    assert names == {
        "hyperflock-9.8.7/.gitignore",
        "hyperflock-9.8.7/CMakeLists.txt",
        *(f"hyperflock-9.8.7/{name}" for name in IMAGE_SOURCES),
    }


def test_the_image_context_has_what_its_dockerfile_copies(tree: Path) -> None:
    with tarfile.open(made(tree) / "hyperflock-server-9.8.7-image.tar.gz") as archive:
        entries = {entry.name: entry for entry in archive}
        stream = archive.extractfile("Dockerfile")
        assert stream is not None
        dockerfile = stream.read().decode()
    lines = [line.split() for line in dockerfile.splitlines() if line.startswith("COPY")]
    copied = [words[1] for words in lines if not words[1].startswith("--")]
    assert copied == [
        "deploy/image/rootfs.sh",
        "build/release/bin/hyperflock-server",
        "build/web",
        "build/runtime",
        "build/sbom.cdx.json",
    ]
    assert set(copied) | set(PRODUCTS) <= set(entries)
    assert set(re.findall(r"--from=(\S+)", dockerfile)) == {"system"}
    assert dockerfile.startswith(f"ARG BASE={BASE}\nFROM ${{BASE}} AS system\n")
    assert re.findall(r"^FROM (.*)$", dockerfile, re.MULTILINE) == ["${BASE} AS system", "scratch"]
    assert entries["deploy/image/rootfs.sh"].mode == 0o755
    assert entries[PRODUCTS[0]].mode == 0o755
    assert {entry.uname for entry in entries.values()} == {""}


def test_the_same_commit_gives_the_same_bytes(tree: Path) -> None:
    first = (made(tree) / "SHA256SUMS").read_text()
    for name in PRODUCTS:
        (tree / name).touch()
    assert (made(tree) / "SHA256SUMS").read_text() == first


@pytest.mark.parametrize("name", ["CMakeLists.txt", "new.txt"])
def test_changes_that_are_not_committed_are_refused(tree: Path, name: str) -> None:
    with (tree / name).open("a") as stream:
        stream.write("# changed\n")
    with pytest.raises(release.ReleaseError, match=name):
        made(tree)
    assert not (tree / "build/release-9.8.7").exists()


def test_changes_are_refused_before_anything_is_built(tree: Path) -> None:
    shutil.copy(DEPLOY / "release.py", tree / "deploy")
    commit(tree)
    check = [sys.executable, "deploy/release.py", "--check", "--base", BASE]
    ready = subprocess.run(check, cwd=tree, capture_output=True, text=True, check=False)
    assert (ready.returncode, ready.stdout, ready.stderr) == (0, "", "")
    (tree / "new.txt").touch()
    refused = subprocess.run(check, cwd=tree, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "new.txt" in refused.stderr


@pytest.mark.parametrize(
    "base", ["", "debian:bookworm-slim", "debian@sha256:0", f"{BASE}\nRUN id", f"{BASE}0"]
)
def test_a_base_without_its_digest_is_refused(tree: Path, base: str) -> None:
    with pytest.raises(release.ReleaseError, match="by its digest"):
        release.release(tree, tree / "build/wheel", base)
    assert not (tree / "build/release-9.8.7").exists()


def test_the_signature_covers_every_file(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    keys = tmp_path_factory.mktemp("keys")
    public, secret = keys / "hyperflock.pub", keys / "hyperflock.key"
    make = ["minisign", "-G", "-W", "-p", str(public), "-s", str(secret)]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    out = release.release(tree, tree / "build/wheel", BASE, secret)
    # This is the command that deploy/README.md gives to users.
    line = "minisign -Vm SHA256SUMS -p hyperflock.pub && sha256sum --check --strict SHA256SUMS"
    assert line in (DEPLOY / "README.md").read_text()
    shutil.copy(public, out)

    def verified() -> bool:
        return subprocess.run(line, shell=True, cwd=out, capture_output=True).returncode == 0

    assert verified()
    wheel = out / Path(WHOLE).name
    wheel.write_text("changed")
    assert not verified()
    (out / "SHA256SUMS").write_text(release.checksums(out))
    assert not verified()


def test_a_release_that_cannot_be_signed_fails(tree: Path) -> None:
    with pytest.raises(release.ReleaseError, match="not signed"):
        release.release(tree, tree / "build/wheel", BASE, tree / "no.key")


def test_a_wheel_of_another_version_is_refused(tree: Path) -> None:
    (tree / "CMakeLists.txt").write_text("project(hyperflock VERSION 9.8.8 LANGUAGES CXX)\n")
    commit(tree)
    with pytest.raises(release.ReleaseError, match=r"0 wheels of hyperflock 9\.8\.8"):
        made(tree)


def test_a_release_without_a_wheel_that_has_a_server_is_refused(tree: Path) -> None:
    (tree / WHOLE).unlink()
    with pytest.raises(release.ReleaseError, match=r"No wheel of hyperflock 9\.8\.7 .* a server"):
        made(tree)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_release_without_a_package_is_refused(tree: Path, name: str) -> None:
    (tree / name).unlink()
    with pytest.raises(release.ReleaseError, match=r"There is no hyperflock-server.9\.8\.7"):
        made(tree)


def test_a_release_without_chainer_is_refused(tree: Path) -> None:
    (tree / CHAINER).unlink()
    with pytest.raises(release.ReleaseError, match="0 wheels of Chainer"):
        made(tree)


def test_what_is_not_built_is_named(tree: Path) -> None:
    (tree / PRODUCTS[0]).unlink()
    with pytest.raises(release.ReleaseError, match="hyperflock-server is not built"):
        made(tree)


def test_this_trees_version_can_be_read() -> None:
    assert release.version_of(DEPLOY.parent).count(".") == 2
