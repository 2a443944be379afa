"""Webhooks: what a server posts to an address about a study, and how a receiver checks it.

    client.grid(objective, space, webhook="https://hooks.example.org/me")
    event = verify_webhook(body, headers["Hyperflock-Signature"], secret)

The module is pure; any thread may use it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Sequence
from typing import Any, cast

from hyperflock._base.errors import HyperflockError
from hyperflock._transport.messages import Webhook, WebhookEvent
from hyperflock._transport.validation import convert

_SIGNATURE = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
# Signatures that are more seconds old than this are refused, so that nobody can send a copied
# request again much later.
TOLERANCE_S = 300.0


def webhook_of(url: str | None, events: Sequence[WebhookEvent] | None) -> Webhook | None:
    """Return the webhook of a study from its options.

    Raises
    ------
    HyperflockError
        ``bad_field``: there are events and no address, or events are a single text.
    ProtocolError
        The address or an event has a form that the server refuses.
    """
    if url is None:
        if events is not None:
            raise HyperflockError(
                "webhook_events was given without a webhook",
                code="bad_field",
                field="webhook_events",
            )
        return None
    if isinstance(events, str):
        raise HyperflockError(
            f"webhook_events is the text {events!r:.100}, but must be a list of events",
            code="bad_field",
            field="webhook_events",
        )
    told: dict[str, Any] = {"url": url}
    if events is not None:
        told["events"] = list(events)
    return convert(told, Webhook)


def verify_webhook(
    body: bytes, signature: str, secret: str, *, tolerance_s: float = TOLERANCE_S
) -> dict[str, Any]:
    """Check that a request comes from the server, and return what it says.

    Parameters
    ----------
    body
        The request's body, byte for byte.
    signature
        The request's header ``Hyperflock-Signature``.
    secret
        What `Client.webhook_secret` returns.
    tolerance_s
        By how many seconds the signature's time may differ from this machine's clock.

    Returns
    -------
    dict
        The event: ``delivery``, ``event``, ``at``, ``study`` and perhaps ``page``. A delivery may
        come more than once, always with the same ``delivery``.

    Raises
    ------
    HyperflockError
        ``bad_signature``: the request was changed, is old, or was signed with another secret.
    """
    match = _SIGNATURE.fullmatch(signature)
    if match is None:
        raise _bad("the signature has another form than t=SECONDS,v1=HEX")
    signed = match[1].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, match[2]):
        raise _bad("the body does not fit the signature and the secret")
    if abs(time.time() - int(match[1])) > tolerance_s:
        raise _bad(f"the signature is not within {tolerance_s:g} s of this machine's time")
    return cast("dict[str, Any]", json.loads(body))


def _bad(why: str) -> HyperflockError:
    return HyperflockError(why, code="bad_signature")
