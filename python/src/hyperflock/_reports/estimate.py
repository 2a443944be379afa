"""How long a study will still take, as the server estimates it from its devices and their runs.

    told = progress_of(row)
    told.left_s, told.device_s, str(told)

The server's formula and its source are in server/src/dispatch/estimate.h. The module is pure; any
thread may use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from hyperflock._base.text import clean
from hyperflock._transport.messages import EstimateRow, StudyRow

_WHY = {
    "paused": "the study is paused",
    "held": "an administrator lets nothing of it run",
    "no_total": "its sampler has not said how many trials it wants",
    "no_run": "no trial has finished since the server started",
    "no_device": "no device computes it now",
    "no_estimate": "the server gives no estimate",
}


@dataclass(frozen=True)
class Progress:
    """How far a study is, and how long it will still take if its devices go on as now.

    Attributes
    ----------
    done : int
        The number of trials that have finished.
    total : int
        The number of trials that the study will have, as far as is known.
    running : int
        The number of trials that have begun and not finished.
    devices : int
        The number of devices that compute the study now.
    left_s : float or None
        Seconds until its end; None if they cannot be estimated.
    device_s : float or None
        The computing time in seconds that is still needed, for all devices together; None if that
        is not known.
    finish : datetime or None
        When the study will end, in UTC; None if ``left_s`` is None.
    why : str or None
        Why ``left_s`` is None: ``paused``, ``held``, ``no_total``, ``no_run``, ``no_device``,
        ``ended`` or ``no_estimate``.
    """

    done: int
    total: int
    running: int
    devices: int
    left_s: float | None
    device_s: float | None
    finish: datetime | None
    why: str | None

    def __str__(self) -> str:
        counts = f"{self.done} of {self.total} trials"
        return f"{counts}, {_left_text(self)}" if self.why != "ended" else f"{counts}, ended"


def progress_of(row: StudyRow, now: datetime | None = None) -> Progress:
    """Return the progress of a study whose row was just read; ``now`` is in UTC."""
    told = row.estimate if isinstance(row.estimate, EstimateRow) else None
    left_ms = told.left_ms if told is not None and isinstance(told.left_ms, int) else None
    device_ms = told.device_ms if told is not None and isinstance(told.device_ms, int) else None
    why: str | None = None
    if row.state != "running":
        why = "ended"
    elif left_ms is None:
        why = str(told.why) if told is not None and told.why else "no_estimate"
    left_s = None if left_ms is None else left_ms / 1000
    now = datetime.now(timezone.utc) if now is None else now
    return Progress(
        done=row.done,
        total=row.goal,
        running=row.running,
        devices=0 if told is None else told.devices,
        left_s=left_s,
        device_s=None if device_ms is None else device_ms / 1000,
        finish=None if left_s is None else now + timedelta(seconds=left_s),
        why=why,
    )


def estimate_text(row: StudyRow) -> str | None:
    """Return a running study's estimate as text for people; None if the study does not run."""
    told = progress_of(row)
    return None if told.why in ("ended", "no_estimate") else _left_text(told)


def estimate_dict(row: StudyRow) -> dict[str, Any] | None:
    """Return a running study's estimate as plain values for JSON; None if it does not run."""
    told = progress_of(row)
    if told.why in ("ended", "no_estimate"):
        return None
    return {
        "left_s": told.left_s,
        "device_s": told.device_s,
        "devices": told.devices,
        "why": told.why,
    }


def duration_text(seconds: float) -> str:
    """Return a duration as text in its two largest units: ``40 s``, ``12 min``, ``2 h 5 min``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def _left_text(told: Progress) -> str:
    work = "" if told.device_s is None else f"{duration_text(told.device_s)} of device time"
    if told.left_s is None:
        reason = _WHY.get(told.why or "", clean(str(told.why), limit=60))
        return f"unknown when it ends: {reason}" + (f"; it needs about {work}" if work else "")
    devices = "1 device" if told.devices == 1 else f"{told.devices} devices"
    return f"about {duration_text(told.left_s)} left on {devices}" + (f", {work}" if work else "")
