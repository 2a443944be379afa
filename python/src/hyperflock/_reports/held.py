"""Writes why an administrator lets nothing of a study run. Pure; any thread may use it.

held_text(row)       # "", unless the study is stopped, awaits approval or was refused
"""

from __future__ import annotations

from hyperflock._base.text import clean
from hyperflock._transport.messages import HeldRow, StudyRow

_TEXTS = {
    "owner_suspended": "an administrator suspended the owner of this study",
    "project_frozen": "an administrator froze the project of this study",
    "bundle_barred": "an administrator barred the code or the data of this study",
    "approval_pending": "it waits for approval by an administrator",
    "approval_refused": "an administrator refused this study",
}
_SHORT = {"approval_pending": "waiting for approval", "approval_refused": "refused"}


def held_text(row: StudyRow) -> str:
    """Return why an administrator lets nothing of the study run; empty if none does."""
    held = row.held
    if not isinstance(held, HeldRow):
        return ""
    text = _TEXTS.get(held.code, f"an administrator holds it ({clean(held.code)})")
    return f"{text}: {clean(held.reason)}" if isinstance(held.reason, str) else text


def held_state(row: StudyRow) -> str:
    """Return the state of a held study in a few words; empty if it is not held."""
    if not isinstance(row.held, HeldRow):
        return ""
    return _SHORT.get(row.held.code, "stopped by an administrator")
