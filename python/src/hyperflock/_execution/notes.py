"""Describes how this machine differs from devices, because such a difference may change the result
of a run.

    notes = version_notes({"python": "3.12.1", "numpy": "1.26.4"}, runtime="chainer-7.8.1")

Any thread may use this module.
"""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Mapping

from hyperflock._bundle.source.runtime import RUNTIME_VERSIONS, chainer_of

_SHOWN = {"python": "Python", "numpy": "NumPy", "chainer": "Chainer"}


def version_notes(versions: Mapping[str, str], runtime: str | None) -> tuple[str, ...]:
    """Return a sentence for each software version here that differs from the devices' version.

    Only the first two numbers of a version count. ``runtime`` is None if devices may have any
    version of Chainer.
    """
    there = {name: RUNTIME_VERSIONS[name] for name in ("python", "numpy")}
    if runtime is not None:
        there["chainer"] = chainer_of(runtime)
    return tuple(
        f"{_SHOWN[name]} is {versions[name]} here and {version} on devices"
        for name, version in there.items()
        if name in versions and _minor(versions[name]) != _minor(version)
    )


def process_notes() -> tuple[str, ...]:
    """Return the sentences for a run in this process. If Chainer is not installed, one of them says
    so.
    """
    versions = {"python": platform.python_version()}
    for name in ("numpy", "chainer"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version
    notes = version_notes(versions, None)
    if "chainer" not in sys.modules and importlib.util.find_spec("chainer") is None:
        notes += (without("chainer"),)
    return notes


def without(package: str) -> str:
    """Return the sentence for a package that browsers have and this machine lacks."""
    shown = _SHOWN.get(package, package)
    return f"{shown} is not installed here, so what a trial does with it was not looked at"


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
