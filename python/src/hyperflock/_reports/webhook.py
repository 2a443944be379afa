"""Writes whether a study's webhook was delivered. The module is pure; any thread may use it.

webhook_text(row)       # "hooks.example.org: finished delivered at ...", "" without a webhook
"""

from __future__ import annotations

from datetime import datetime, timezone

from hyperflock._base.text import clean
from hyperflock._transport.messages import DeliveryRow, StudyRow, WebhookRow


def webhook_text(row: StudyRow) -> str:
    """Return the host of a study's webhook, and whether its last event was delivered."""
    hook = row.webhook
    if not isinstance(hook, WebhookRow):
        return ""
    host = clean(hook.host, limit=100)
    if not isinstance(hook.last, DeliveryRow):
        return f"{host}: nothing to send so far"
    return f"{host}: {_delivery_text(hook.last)}"


def _delivery_text(last: DeliveryRow) -> str:
    """Return whether an event was delivered, or when the next try comes and why it failed."""
    event = last.event.replace("_", " ")
    why = ""
    if last.code:
        why = f" ({clean(last.code, limit=60)}): {clean(last.message or '', limit=300)}"
    times = "once" if last.attempts == 1 else f"{last.attempts} times"
    if last.state == "delivered":
        return f"'{event}' of {_time(last.at)} was delivered"
    if last.state == "failed":
        return f"'{event}' of {_time(last.at)} was not delivered, after {last.attempts} tries{why}"
    if not last.attempts:
        return f"'{event}' of {_time(last.at)} is being sent"
    after = f"; again at {_time(last.next_at)}" if isinstance(last.next_at, int) else ""
    return f"'{event}' of {_time(last.at)} was sent {times} in vain{after}{why}"


def _time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
