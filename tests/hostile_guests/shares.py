"""Attacks by a researcher on the devices that others of the same project would get, and by devices
that pretend to belong to another project.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from ground import Ground
from wire import Wire

_PHONES = 40


def split_into_many_studies(ground: Ground) -> Iterator[str]:
    """Submit twenty studies of the highest priority, next to one study of another researcher of the
    project. Each phone of the project then takes one trial.
    """
    members = {"name": "modest", "projects": [ground.attacker.project]}
    other = ground.http("POST", "/api/researchers", members, token=ground.admin)
    assert other.code == "ok", other
    theirs = ground.study(other.body["token"], project=ground.attacker.project)
    own = [ground.study(name=f"part {part}", project=ground.attacker.project) for part in range(20)]
    for study in own:
        path = f"/api/studies/{study}/priority"
        yield ground.http("POST", path, {"priority": 100}, token=ground.attacker.token).code
    with ExitStack() as phones:
        leased = [phones.enter_context(Wire(ground)).lease()["study"] for _ in range(_PHONES)]
    assert set(leased) <= {theirs, *own}
    # Each of the two researchers gets half.
    got = leased.count(theirs)
    yield "half" if abs(got - _PHONES // 2) <= 1 else f"{got} of {_PHONES}"


def give_oneself_a_share(ground: Ground) -> Iterator[str]:
    """Set a weight and a guarantee for oneself, and let the neighbour's project lend its phones."""
    for share in (
        {"scope": "researcher", "name": "attacker", "weight": 1000, "guaranteed": 100},
        {"scope": "project", "name": ground.attacker.project, "guaranteed": 100},
        {"scope": "project", "name": ground.other.project, "lends": ["*"]},
    ):
        yield ground.http("POST", "/api/shares", share, token=ground.attacker.token).code
    yield ground.http("GET", "/api/shares", token=ground.attacker.token).code


def pretend_to_belong(ground: Ground) -> Iterator[str]:
    """Join by the own link, but name the neighbour's project, and ask for the neighbour's work."""
    lies = {"project": ground.other.project, "projects": ["*"], "lent": True}
    body = {"code": ground.attacker.link, "class": "node", "engine": "guest 1", **lies}
    joined = ground.http("POST", "/api/join", body, at="compute")
    yield joined.code
    if joined.code != "ok":
        return
    yield "own" if joined.body["project"] == ground.attacker.project else "other"
    with Wire(ground, greet=False, who=joined.body) as phone:
        phone.send(phone.hello(**lies))
        yield phone.code()
        phone.send({"type": "ready", **lies})
        yield phone.code()
