"""Determines which devices may run a study's trials: its back end and its requirements.

    backend_of(None, bundle)               # "auto" if the code asks for a device
    requirements_of({"memory_mb": 4096})   # checked
    Placement(devices=3, matching=0, reasons={"no_webgpu": 3})

The module is pure; any thread may use it.
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

# These patterns match code that calls `hyperflock.device` or imports array-core. A false match
# costs a volunteer a download of 0.7 MB.
_IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:arraycore|cupyx?)\b", re.MULTILINE)
_CALLS = re.compile(r"\bdevice[ \t]*\(")
_PACKAGE = re.compile(r"\bhyperflock\b")


class Requires(TypedDict, total=False):
    """The requirements of a study on devices, for ``requires`` of `Client.grid`.

    Attributes
    ----------
    memory_mb : int
        The least memory of a device in MiB. Firefox and Safari do not report it and count as 0.
    cores : int
        The least number of processor cores.
    buffer_mb : int
        The size in MiB that one array on the GPU must be able to have.
    f16 : bool
        Whether WebGPU must have native half precision.
    graphics_card : bool
        Whether WebGPU must run on a graphics card and not in software.
    """

    memory_mb: int
    cores: int
    buffer_mb: int
    f16: bool
    graphics_card: bool


@dataclass(frozen=True)
class DeviceShare:
    """The share that a study's owner has of the devices of the study's project.

    Of the devices of the project, the owner gets ``weight / weights`` over time, as long as the
    owner has trials to lease.

    Attributes
    ----------
    weight : int
        The owner's weight; 100 if no administrator has set one.
    weights : int
        The sum of the weights of all researchers who have trials to lease there, with the owner's.
    guaranteed : int
        How many devices the owner gets before the weights count.
    devices : int
        How many devices compute for the owner now, in all projects.
    ahead : int or None
        How many researchers are served before the owner; None if the owner has no trial to lease.
    """

    weight: int
    weights: int
    guaranteed: int
    devices: int
    ahead: int | None = None


@dataclass(frozen=True)
class Placement:
    """How many connected devices may run a study's trials.

    Attributes
    ----------
    devices : int
        The number of devices that are connected in the study's project.
    matching : int
        The number of those that may run its trials.
    reasons : dict of str to int
        How many others may not, by reason: ``no_webgpu``, ``no_graphics_card``, ``no_f16``,
        ``small_buffers``, ``little_memory``, ``few_cores``.
    share : DeviceShare or None
        The owner's share of the devices. None: an older server, which does not say it.
    waits : str
        Why no device computes the next trial yet: ``no_device``, ``no_match``, ``busy``,
        ``others_first``, ``own_priority``, ``ceiling``, ``no_trial``, ``no_owner``, ``held``,
        ``server`` or ``ended``. Empty: it is leased as soon as a device asks.
    """

    devices: int
    matching: int
    reasons: dict[str, int]
    share: DeviceShare | None = None
    waits: str = ""


def backend_of(wanted: Backend | None, bundle: Bundle) -> Backend | UnsetType:
    """Return the back end that a study asks for; UNSET if it asks for none.

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
    """Return whether the text of a bundle's sources calls ``hyperflock.device`` or imports
    array-core.
    """
    with zipfile.ZipFile(io.BytesIO(bundle.content)) as archive:
        for name in archive.namelist():
            if not name.endswith(".py"):
                continue
            text = archive.read(name).decode("utf-8", "replace")
            if _IMPORTS.search(text) or (_PACKAGE.search(text) and _CALLS.search(text)):
                return True
    return False


def requirements_of(requires: Mapping[str, Any] | None) -> Requirements | UnsetType:
    """Return checked requirements on devices; UNSET if there are none.

    Raises
    ------
    HyperflockError
        ``bad_field``: a name or a value is invalid.
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
    """Return the placement in the server's response."""
    reasons = {str(one["code"]): int(one["devices"]) for one in answer["reasons"]}
    return Placement(
        int(answer["devices"]),
        int(answer["matching"]),
        reasons,
        _share_of(answer.get("share")),
        str(answer.get("waits", "")),
    )


def _share_of(answer: Mapping[str, Any] | None) -> DeviceShare | None:
    if answer is None:
        return None
    ahead = answer.get("ahead")
    return DeviceShare(
        int(answer["weight"]),
        int(answer["weights"]),
        int(answer["guaranteed"]),
        int(answer["devices"]),
        None if ahead is None else int(ahead),
    )
