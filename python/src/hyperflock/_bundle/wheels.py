"""Reads declared wheels: pure Python packages that are sent with a bundle.

    wheels = read_wheels(["downloads/tabulate-0.9.0-py3-none-any.whl"])
    wheels[0].units                  # {"tabulate"}

The files are read and neither installed nor run. Any thread may use this module.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperflock._base.codes import cannot
from hyperflock._model.data import DataSet, hash_file
from hyperflock._transport.messages import DataRef

MAX_WHEEL_BYTES = 64 << 20

# PEP 427: name-version(-build)?-python-abi-platform.whl
_NAME = re.compile(
    r"[^-]+-[^-]+(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl"
)
_COMPILED = (".so", ".pyd", ".dylib", ".dll")


@dataclass(frozen=True)
class Wheel:
    """A wheel that is sent with a bundle.

    Attributes
    ----------
    data : DataSet
        The wheel as a data set.
    file : str
        Its file name.
    units : frozenset of str
        The top-level modules in it.
    """

    data: DataSet
    file: str
    units: frozenset[str]


def read_wheels(paths: Sequence[str | Path]) -> list[Wheel]:
    """Return checked wheels that are ready to be sent.

    Raises
    ------
    BundleError
        ``cannot_bundle_wheel``: a file is missing, is not a wheel, is compiled, or is too large.
    """
    found: dict[str, Wheel] = {}
    for path in paths:
        wheel = _read_wheel(Path(path))
        found[wheel.file] = wheel
    return list(found.values())


def _read_wheel(path: Path) -> Wheel:
    if not path.is_file():
        raise cannot("wheel", f"there is no wheel '{path}'")
    tags = _NAME.fullmatch(path.name)
    if tags is None:
        raise cannot("wheel", f"'{path.name}' is not named as a wheel is")
    if "py3" not in tags["python"].split(".") or (tags["abi"], tags["platform"]) != ("none", "any"):
        raise cannot(
            "wheel",
            f"'{path.name}' is made for one kind of machine; "
            "only wheels named '...-py3-none-any.whl' run in a browser",
        )
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise cannot("wheel", f"'{path.name}' cannot be read: {error}") from None
    compiled = [name for name in names if name.endswith(_COMPILED)]
    if compiled:
        raise cannot("wheel", f"'{path.name}' holds '{compiled[0]}', compiled for one machine")
    size, digest = hash_file(path)
    if size > MAX_WHEEL_BYTES:
        raise cannot(
            "wheel",
            f"'{path.name}' has {size:,} bytes; at most {MAX_WHEEL_BYTES >> 20} MiB can travel",
        )
    firsts = {name.split("/")[0] for name in names}
    units = {first.removesuffix(".py") for first in firsts if "-" not in first}
    ref = DataRef(f"wheel:{path.name}"[:256], "file", path.name, digest, size)
    return Wheel(DataSet(ref, path), path.name, frozenset(units))
