"""Attacks with the signed addresses of data (links)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from ground import Ground
from wire import enrol

_DATA = b"code of the attacker"
_SECRET = b"code of the neighbour"
_MANY = 100_000
_THREADS = 8


def forge_links(ground: Ground) -> Iterator[str]:
    """Change each part of a link, and add to it, until the server has had enough of it."""
    ground.study(content=_DATA)
    theirs = ground.blob(_SECRET, ground.other.token)
    link = _link(ground, _asker(ground), ground.blob(_DATA))
    _, _, project, until, signature, sha256 = link.split("/")
    later = str(int(until) + 86_400)
    for path in (
        f"/blobs/{project}/{until}/{'0' * 64}/{sha256}",
        f"/blobs/{project}/{until}/{signature[:-1]}/{sha256}",
        f"/blobs/{int(project) + 1}/{until}/{signature}/{sha256}",
        f"/blobs/0{project}/{until}/{signature}/{sha256}",
        f"/blobs/{project}/{later}/{signature}/{sha256}",
        f"/blobs/{project}/{until}/{signature}/{theirs}",
        f"/blobs/{project}/{until}/{signature}/{sha256.upper()}",
        f"{link}?until={later}",
    ):
        answer = ground.http("GET", path, at="compute")
        assert answer.headers["Cache-Control"] == "no-store"
        yield answer.code
    for _ in range(40):
        yield ground.http("GET", f"{link}?again", at="compute").code
    assert ground.http("GET", link, at="compute").status == 200


def links_for_blobs_of_others(ground: Ground) -> Iterator[str]:
    """Ask for a link to the neighbour's code, which is uploaded, and which a study names."""
    sha256 = ground.blob(_SECRET, ground.other.token)
    asker = _asker(ground)
    path = f"/api/blobs/{sha256}/link"
    yield ground.http("GET", path, at="compute", token=asker).code
    ground.study(ground.other.token, content=_SECRET)
    yield ground.http("GET", path, at="compute", token=asker).code
    yield ground.http("GET", f"/api/blobs/{'0' * 64}/link", at="compute", token=asker).code
    # A researcher's token, and none, are no device's.
    yield ground.http("GET", path, at="compute", token=ground.attacker.token).code
    yield ground.http("GET", path, at="compute").code


def links_after_the_end(ground: Ground) -> Iterator[str]:
    """Use a link after its study was deleted, and after its code was barred."""
    study = ground.study(content=_DATA)
    asker = _asker(ground)
    sha256 = ground.blob(_DATA)
    link = _link(ground, asker, sha256)
    assert ground.http("POST", f"/api/barred/{sha256}", {}, token=ground.admin).code == "ok"
    yield ground.http("GET", link, at="compute").code
    assert ground.http("POST", f"/api/barred/{sha256}/lift", {}, token=ground.admin).code == "ok"
    assert ground.http("GET", link, at="compute").status == 200
    token = ground.attacker.token
    assert ground.http("POST", f"/api/studies/{study}/cancel", {}, token=token).code == "ok"
    assert ground.http("DELETE", f"/api/studies/{study}", token=token).code == "ok"
    yield ground.http("GET", link, at="compute").code
    yield ground.http("GET", f"/api/blobs/{sha256}/link", at="compute", token=asker).code


def a_hundred_thousand_links(ground: Ground) -> Iterator[str]:
    """Ask for a link 100,000 times, on several connections, and use each."""
    ground.study(content=_DATA)
    asker = _asker(ground)
    sha256 = ground.blob(_DATA)
    path = f"/api/blobs/{sha256}/link"
    links: set[str] = set()

    def ask(_: int) -> str:
        answer = ground.http("GET", path, at="compute", token=asker)
        if answer.code == "ok":
            links.add(answer.body["url"])
        return answer.code

    with ThreadPoolExecutor(_THREADS) as pool:
        yield from set(pool.map(ask, range(_MANY)))
    # One address, or two if a day has ended meanwhile: nothing is kept for a link.
    assert len(links) <= 2
    for link in links:
        assert ground.http("GET", link, at="compute").status == 200


def _asker(ground: Ground) -> str:
    """Join as a device of the attacker's project and return its credential."""
    who = enrol(ground, ground.attacker.link)
    return f"Device {who['device']}:{who['secret']}"


def _link(ground: Ground, asker: str, sha256: str) -> str:
    answer = ground.http("GET", f"/api/blobs/{sha256}/link", at="compute", token=asker)
    assert answer.code == "ok", answer
    url: str = answer.body["url"]
    assert url.startswith("/blobs/")
    return url
