"""Attacks by requests of a researcher: false hashes, too many bytes, odd paths and numbers."""

from __future__ import annotations

from collections.abc import Iterator

from connections import code_of, sent
from ground import EMPTY_ZIP, Ground

_WRONG_PAGES = (
    "after=-1", "after=9223372036854775808", "after=1e3", "after=0x1", "after=%31", "after=",
    "limit=x", "limit=-5", "limit=0", "limit=999999999", "after=1&limit=18446744073709551617",
)  # fmt: skip
_LISTS_OF_A_STUDY = (
    "trials", "unfinished", "best", "artifacts", "series", "series/trials", "series/unfinished",
    "trials/0/log",
)  # fmt: skip


def hash_of_other_bytes(ground: Ground) -> Iterator[str]:
    """Upload bytes under the hash of other bytes."""
    path = f"/api/blobs/{'ab' * 32}"
    yield ground.http("PUT", path, b"not these", token=ground.attacker.token).code


def upload_too_large(ground: Ground) -> Iterator[str]:
    """Announce more bytes than a blob may have."""
    head = (
        f"PUT /api/blobs/{'0' * 64} HTTP/1.1\r\nHost: a\r\nContent-Length: {1 << 50}\r\n"
        f"Authorization: Bearer {ground.attacker.token}\r\n\r\n"
    )
    yield code_of(sent(ground, head.encode(), at="console"))


def spec_too_large(ground: Ground) -> Iterator[str]:
    """Submit a spec that is larger than 512 KiB."""
    body = ground.spec(provenance={"text": "x" * 600_000})
    yield ground.http("POST", "/api/studies", body, token=ground.attacker.token).code


def paths_outside(ground: Ground) -> Iterator[str]:
    """Ask for files outside the folders that are served."""
    for path in (
        "/app/../../state/hyperflock.db",
        "/app/%2e%2e/%2e%2e/state/hyperflock.db",
        "/app//etc/passwd",
        "/runtime/..%2f..%2fstate/hyperflock.db",
        "/app/\\..\\state",
        "/app/a%00b",
    ):
        head = f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        yield code_of(sent(ground, head.encode()))


def other_methods(ground: Ground) -> Iterator[str]:
    """Use methods that a path does not have."""
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        yield ground.http(method, "/api/studies", {}, token=ground.attacker.token).code


def numbers_out_of_range(ground: Ground) -> Iterator[str]:
    """Ask for pages of each listing with invalid cursors and limits, and after the last cursor."""
    study = f"/api/studies/{ground.study()}"
    lists = [f"{study}/{part}" for part in _LISTS_OF_A_STUDY]
    lists += [f"/api/{name}" for name in ("studies", "workers", "projects", "enrolment", "tokens")]
    for path in lists:
        for query in _WRONG_PAGES:
            yield ground.http("GET", f"{path}?{query}", token=ground.attacker.token).code
        last = ground.http("GET", f"{path}?after={2**53 - 1}&limit=1", token=ground.attacker.token)
        assert last.status in (200, 404), (path, last)


def studies_over_quota(ground: Ground) -> Iterator[str]:
    """Submit one more study than the quota allows."""
    ground.set_quota(studies=2)
    for _ in range(2):
        ground.study()
    body = ground.spec()
    yield ground.http("POST", "/api/studies", body, token=ground.attacker.token).code


def bytes_over_quota(ground: Ground) -> Iterator[str]:
    """Upload more bytes than the quota allows."""
    ground.set_quota(bytes=100_000)
    path = f"/api/blobs/{'0' * 64}"
    yield ground.http("PUT", path, bytes(200_000), token=ground.attacker.token).code


def study_of_too_many_points(ground: Ground) -> Iterator[str]:
    """Submit a grid of more points than a 64-bit integer can count."""
    ground.blob(EMPTY_ZIP)
    body = ground.spec(space=[{"name": f"x{i}", "values": list(range(1000))} for i in range(40)])
    yield ground.http("POST", "/api/studies", body, token=ground.attacker.token).code
