"""Runs a study's failed trials again, with mended code for them and for the trials that follow.

    row = await retry(http, study_id, bundle, keep_checkpoints=False)

The coroutines run on any event loop.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from hyperflock._bundle.bundle import Bundle, needing
from hyperflock._bundle.source.runtime import RUNTIME_VERSIONS
from hyperflock._client.packs import check_packs, pack_refs
from hyperflock._client.submission import blobs_of, made_with
from hyperflock._client.uploads import upload_missing
from hyperflock._execution.replay import fetch_spec
from hyperflock._transport.http import Http
from hyperflock._transport.messages import BlobRef, DataRef, NewCode, Reissue, Versions

# The prefixes of names of data items that belong to the code: its large arrays, and wheels.
_OF_CODE = ("array:", "wheel:")


async def retry(
    http: Http, study: int, bundle: Bundle | None, *, keep_checkpoints: bool = False
) -> Any:
    """Issue the failed trials again, and return the study's row as the server sent it.

    With ``bundle``, the trials that start from now on run it. It is uploaded first.
    """
    if bundle is None:
        return await http.post(f"/api/studies/{study}/replay", {})
    spec = await fetch_spec(http, study)
    if any(one.name == "pandas" for one in spec.packs or ()):
        bundle = needing(bundle, frozenset({"pandas"}))  # the study's data may be its tables
    code = new_code(bundle, spec.data, keep_checkpoints=keep_checkpoints)
    await check_packs(http, bundle.content)
    await upload_missing(http, blobs_of(bundle))
    return await http.post(f"/api/studies/{study}/replay", msgspec.json.encode(Reissue(code)))


def new_code(bundle: Bundle, data: list[DataRef], *, keep_checkpoints: bool) -> NewCode:
    """Return what the request says about the mended code; the study keeps its own data sets."""
    own = [ref for ref in data if not ref.name.startswith(_OF_CODE)]
    return NewCode(
        entry=bundle.entry,
        bundle=BlobRef(bundle.sha256, len(bundle.content)),
        data=[*own, *(item.ref for item in bundle.attached)],
        versions=Versions(**RUNTIME_VERSIONS),
        packs=pack_refs(bundle.content) or UNSET,
        provenance=made_with(bundle),
        checkpoints=keep_checkpoints,
    )
