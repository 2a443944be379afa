"""Builds a wheel of Chainer, because PyPI has none: ``./run wheels``.

    chainer-VERSION-py3-none-any.whl     Chainer's own files, unchanged, with its licence

Chainer's setup.py needs ``pkg_resources``, which today's setuptools lacks. So pip cannot install
PyPI's source distribution. This script builds the wheel with an old setuptools from that source
distribution, whose hash the browser runtime pins. The wheel has no compiled code. Its version is
the one that the extra ``chainer`` of the researcher's package asks for.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from pathlib import Path

from products import report

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = ROOT / "worker-runtime/runtime"
sys.path.insert(0, str(RUNTIME))
from fetching import GatherError, Tools, build_wheel, fetch  # noqa: E402
from gather import load_manifest  # noqa: E402

#: The oldest time that a zip can hold. All files get it, because the times of a build would make
#: each wheel a different file.
TIME = (1980, 1, 1, 0, 0, 0)


def version_of(root: Path) -> str:
    """Return the version of Chainer that the extra of the researcher's package names."""
    found = re.search(
        r'^chainer = \["chainer==([\d.]+)"\]$', (root / "python/pyproject.toml").read_text(), re.M
    )
    if found is None:
        raise GatherError("python/pyproject.toml names no version of Chainer.")
    return found[1]


def copy_without_times(wheel: Path, out: Path) -> Path:
    """Copy a wheel with one time for all files, so that equal files give equal wheels. Return the
    copy.
    """
    out.mkdir(parents=True, exist_ok=True)
    target = out / wheel.name
    with zipfile.ZipFile(wheel) as built, zipfile.ZipFile(target, "w") as archive:
        # The files of the folder .dist-info come last, as the wheel format advises.
        for name in sorted(built.namelist(), key=lambda each: (".dist-info/" in each, each)):
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, built.read(name), compresslevel=9)
    return target


def build(cache: Path, out: Path) -> Path:
    """Build the wheel from the verified source distribution and return its path.

    Raises
    ------
    GatherError
        The source distribution cannot be fetched, or does not build into a pure wheel.
    """
    name = f"chainer-{version_of(ROOT)}"
    piece = next(p for p in load_manifest(RUNTIME / "manifest.json") if p["name"] == name)
    cache.mkdir(parents=True, exist_ok=True)
    tools = Tools(sys.executable, "node", cache.resolve(), None)
    return copy_without_times(build_wheel(fetch(piece, tools), tools), out)


def main() -> int:
    """Build the wheel and print its size."""
    parser = argparse.ArgumentParser(description="Build a wheel of Chainer.")
    parser.add_argument(
        "--cache", type=Path, required=True, help="verified downloads are kept here"
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    return report(lambda: [build(options.cache, options.out)], GatherError)


if __name__ == "__main__":
    sys.exit(main())
