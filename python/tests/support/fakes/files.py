"""The files that a console sends to anybody: pages, runtime, and the list of packs."""

from __future__ import annotations

import json
from pathlib import Path

from hyperflock._bundle.source.runtime import PACKS

from fakes.answers import Answer, refusal

_NO_PAGE = "there is no such page"


def opened(built: Path | None, path: str) -> Answer:
    """Answer a request for a file of a folder ``build``; None: the console serves no files."""
    if built is None:
        return refusal(404, "not_found", _NO_PAGE)
    folder = built if path.startswith("/runtime/") else built / "web"
    file = folder / path[1:]
    if not file.is_file():
        return refusal(404, "not_found", _NO_PAGE)
    return Answer(200, file.read_bytes())


def listed() -> bytes:
    """Return a list of all packs, as a server has it that was built here."""
    return json.dumps({"packs": {n: {"version": p.version} for n, p in PACKS.items()}}).encode()


def packs(listing: bytes | None) -> Answer:
    """Answer a request for the list; None: the server has no packs."""
    return refusal(404, "not_found", _NO_PAGE) if listing is None else Answer(200, listing)
