"""Answers the fake console's requests about blobs. Pure, but for the console's blobs."""

from __future__ import annotations

import hashlib
import json
from typing import Protocol

from fakes.answers import Answer, json_answer, refusal

SALT = "5a" * 32


class HasBlobs(Protocol):
    """A console with the uploaded bytes by hash."""

    blobs: dict[str, bytes]
    of_others: set[str]


def answer(console: HasBlobs, method: str, sha256: str, rest: list[str], body: bytes) -> Answer:
    """Return the answer to a request about one blob."""
    content = console.blobs.get(sha256)
    owned = content is not None and sha256 not in console.of_others
    match method, rest:
        case "HEAD", []:
            return Answer(200 if owned else 404, kind="application/json")
        case "POST", ["salt"] if owned:
            return json_answer(200, {"owned": True})
        case "POST", ["salt"]:
            large = json.loads(body)["bytes"] >= 64 << 10
            return json_answer(200, {"owned": False} | ({"salt": SALT} if large else {}))
        case "POST", ["proof"]:
            right = hashlib.sha256(bytes.fromhex(SALT) + (content or b"")).hexdigest()
            if content is None or json.loads(body)["proof"] != right:
                return refusal(404, "unknown_blob", "upload it")
        case "PUT", []:
            if hashlib.sha256(body).hexdigest() != sha256:
                return refusal(422, "hash_mismatch", "the bytes have another hash")
            console.blobs[sha256] = body
        case _:
            return refusal(404, "not_found", "there is no such page")
    console.of_others.discard(sha256)
    return json_answer(200 if owned or method == "POST" else 201, {"sha256": sha256})
