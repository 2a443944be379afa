"""Writes the attributes of an enqueued trial as JSON text for its device.

    text = attributes_text(3, {"epochs": np.int64(12)}, {})    # '{"user": {"epochs": 12}}'

The module is pure; any thread may use it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hyperflock._base.errors import HyperflockError
from hyperflock._trial.attributes import plain

# The limit in bytes for an enqueued trial's attributes. The device may add attributes, until all
# together have 56 KiB.
MAX_ATTRS_BYTES = 32 << 10


def attributes_text(number: int, user: Mapping[str, Any], system: Mapping[str, Any]) -> str:
    """Return a trial's attributes as JSON; an empty text if there are none.

    Parameters
    ----------
    number
        The trial's number, for messages.
    user, system
        Optuna's attributes; a study in memory accepts any object in them.

    Raises
    ------
    HyperflockError
        ``attribute_not_json``, ``attributes_too_large``.
    """
    given = {kind: values for kind, values in (("user", user), ("system", system)) if values}
    if not given:
        return ""
    try:
        text = json.dumps(given, default=plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise HyperflockError(
            f"an attribute that trial {number} was enqueued with has no JSON form: {error}",
            code="attribute_not_json",
        ) from None
    size = len(text.encode())
    if size > MAX_ATTRS_BYTES:
        raise HyperflockError(
            f"the attributes that trial {number} was enqueued with take {size} bytes as JSON, but "
            f"may take {MAX_ATTRS_BYTES} at most; give data by optimize(data=...)",
            code="attributes_too_large",
        )
    return text
