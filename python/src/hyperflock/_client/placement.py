"""Which devices may run a study's trials: its back end, and what it asks of them.

    backend_of(None, bundle)               # "auto" where the code asks for a device
    requirements_of({"memory_mb": 4096})   # checked
    Placement(devices=3, matching=0, reasons={"no_webgpu": 3})

Pure; any thread.
"""

from __future__ import annotations

import io
import re
import typing
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from msgspec import UNSET, UnsetType

from hyperflock._base.errors import HyperflockError, ProtocolError
from hyperflock._bundle.bundle import Bundle
from hyperflock._transport.messages import Backend, Requirements
from hyperflock._transport.validation import convert

BACKENDS: tuple[Backend, ...] = typing.get_args(Backend)

# Code that asks for a device, or that imports what only a device's runtime has. To find too much
# costs a volunteer 0.7 MB.
_IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:arraycore|cupyx?)\b", re.MULTILINE)
_CALLS = re.compile(r"\bdevice[ \t]*\(")
_PACKAGE = re.compile(r"\bhyperflock\b")


class Requires(TypedDict, total=False):
    """What `Client.grid` takes as ``requires``.

    Attributes
    ----------
    memory_mb : int
        Of the device, in MiB. A browser that does not say how much it has, as Firefox and Safari,
        counts as having none.
    cores : int
        Processor cores.
    buffer_mb : int
        The largest array on the GPU, in MiB.
    f16 : bool
        WebGPU with native half precision.
    graphics_card : bool
        WebGPU that is no program on the CPU.
    """

    memory_mb: int
    cores: int
    buffer_mb: int
    f16: bool
    graphics_card: bool


@dataclass(frozen=True)
class Placement:
    """Where a study's trials may run now.

    Attributes
    ----------
    devices : int
        Connected in the study's project.
    matching : int
        Of those, the ones that may run its trials.
    reasons : dict of str to int
        Why the others may not, and how many: ``no_webgpu``, ``no_graphics_card``, ``no_f16``,
        ``small_buffers``, ``little_memory``, ``few_cores``.
    """

    devices: int
    matching: int
    reasons: dict[str, int]


def backend_of(wanted: Backend | None, bundle: Bundle) -> Backend | UnsetType:
    """What a study asks for; UNSET: no device.

    Raises
    ------
    HyperflockError
        ``bad_field``: there is no such back end.
    """
    if wanted is None:
        return "auto" if asks_for_device(bundle) else UNSET
    if wanted not in BACKENDS:
        raise HyperflockError(
            f"backend is {wanted!r}, but may be {', '.join(map(repr, BACKENDS))} or None",
            code="bad_field",
            field="backend",
        )
    return wanted


def asks_for_device(bundle: Bundle) -> bool:
    """Whether a bundle's sources call ``hyperflock.device`` or import array-core, as text."""
    with zipfile.ZipFile(io.BytesIO(bundle.content)) as archive:
        for name in archive.namelist():
            if not name.endswith(".py"):
                continue
            text = archive.read(name).decode("utf-8", "replace")
            if _IMPORTS.search(text) or (_PACKAGE.search(text) and _CALLS.search(text)):
                return True
    return False


def requirements_of(requires: Mapping[str, Any] | None) -> Requirements | UnsetType:
    """Check what a study asks of devices; UNSET: nothing.

    Raises
    ------
    HyperflockError
        ``bad_field``: a name or a value that is none.
    """
    if not requires:
        return UNSET
    unknown = sorted(set(requires) - set(Requirements.__struct_fields__))
    if unknown:
        raise HyperflockError(
            f"requires has no {unknown[0]!r}; it takes {', '.join(Requirements.__struct_fields__)}",
            code="bad_field",
            field=f"requires.{unknown[0]}",
        )
    try:
        return convert(dict(requires), Requirements)
    except ProtocolError as error:
        raise HyperflockError(
            f"requires is wrong at {error.field}: {error}", code="bad_field", field="requires"
        ) from None


def placement_of(answer: Mapping[str, Any]) -> Placement:
    """Make it of the server's answer."""
    reasons = {str(one["code"]): int(one["devices"]) for one in answer["reasons"]}
    return Placement(int(answer["devices"]), int(answer["matching"]), reasons)
