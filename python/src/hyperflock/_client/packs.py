"""Asks a server which packs it has: packages such as scikit-learn, which a browser fetches by need.

    pack_refs(bundle.content)                    # for the study's spec
    await check_packs(http, bundle.content)      # before a study is submitted
    await packs_of(http)                         # {"scikit-learn": "1.8.0", ...}

The coroutines run on any event loop; any thread may call `pack_refs`.
"""

from __future__ import annotations

import msgspec

from hyperflock._base.errors import HyperflockError, NotFoundError
from hyperflock._base.text import clean
from hyperflock._bundle.archive import needs_of
from hyperflock._bundle.source.runtime import PACKS, with_needs
from hyperflock._transport.http import Http
from hyperflock._transport.messages import PackRef

PACK_LIST = "/packs.json"


class _Pack(msgspec.Struct):
    version: str


class _Packs(msgspec.Struct):
    packs: dict[str, _Pack]


def pack_refs(bundle: bytes) -> list[PackRef]:
    """Return the packs that a bundle names, sorted, with the versions for which it was made."""
    names = sorted(needs_of(bundle) & PACKS.keys())
    return [PackRef(name, PACKS[name].version) for name in names]


async def packs_of(http: Http) -> dict[str, str]:
    """Return the versions of the packs that a server has, by their names.

    Raises
    ------
    HyperflockError
        ``runtime_damaged``: the server's list cannot be read.
    """
    try:
        text = await http.fetch(PACK_LIST)
    except NotFoundError:
        return {}
    try:
        listed = msgspec.json.decode(text, type=_Packs)
    except msgspec.DecodeError as error:
        raise HyperflockError(
            f"the server's list of packs cannot be read: {clean(str(error))}",
            code="runtime_damaged",
        ) from None
    return {name: pack.version for name, pack in listed.packs.items()}


async def check_packs(http: Http, bundle: bytes) -> None:
    """Check that a server has all packs that a bundle's code needs. If the code needs none, nothing
    is sent.

    Raises
    ------
    HyperflockError
        ``missing_pack``: it lacks one. Also the errors of `packs_of`.
    """
    wanted = with_needs(needs_of(bundle))
    if not wanted:
        return
    found = await packs_of(http)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise HyperflockError(
            f"the server has no {' and no '.join(missing)} for browsers; its operator adds them "
            "with --packs FOLDER (./run build makes the folder build/packs)",
            code="missing_pack",
        )
