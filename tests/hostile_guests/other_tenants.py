"""Attacks by a researcher on other researchers, their projects and the administrator."""

from __future__ import annotations

from collections.abc import Iterator

from ground import EMPTY_ZIP, Ground
from wire import enrol


def read_studies(ground: Ground) -> Iterator[str]:
    """Read the neighbour's study, in every way there is."""
    for part in ("", "/spec", "/trials", "/trials/0", "/trials/0/log", "/artifacts", "/placement"):
        path = f"/api/studies/{ground.neighbour.study}{part}"
        yield ground.http("GET", path, token=ground.attacker.token).code


def change_studies(ground: Ground) -> Iterator[str]:
    """Cancel, pause, extend and delete the neighbour's study."""
    path = f"/api/studies/{ground.neighbour.study}"
    token = ground.attacker.token
    for part, body in (
        ("cancel", {}),
        ("pause", {}),
        ("resume", {}),
        ("priority", {"priority": 1}),
        ("replay", {}),
        ("extend", {"space": [{"name": "x", "values": [1]}]}),
        ("webhook", {"url": "https://example.org/"}),
    ):
        yield ground.http("POST", f"{path}/{part}", body, token=token).code
    yield ground.http("DELETE", path, token=token).code
    yield ground.http("DELETE", f"{path}/webhook", token=token).code


def administer(ground: Ground) -> Iterator[str]:
    """Do what only administrators may do."""
    own = f"/api/researchers/{ground.attacker.person}"
    for method, path, body in (
        ("GET", "/api/researchers", None),
        ("GET", "/api/audit", None),
        ("GET", "/api/audit/export", None),
        ("POST", "/api/researchers", {"name": "second me", "role": "admin"}),
        ("POST", own, {"quota": {"studies": 0, "trials": 0, "bytes": 0}}),
        ("POST", own, {"projects": [ground.other.project]}),
        ("POST", "/api/projects", {"project": "mine"}),
    ):
        yield ground.http(method, path, body, token=ground.attacker.token).code


def make_links_for_another_project(ground: Ground) -> Iterator[str]:
    """Make a join link of the neighbour's project, and of one that does not exist."""
    for project in (ground.other.project, "no such project"):
        body = {"project": project}
        yield ground.http("POST", "/api/enrolment", body, token=ground.attacker.token).code


def submit_into_another_project(ground: Ground) -> Iterator[str]:
    """Let the neighbour's volunteers compute a study of the attacker."""
    ground.blob(EMPTY_ZIP)
    body = ground.spec(EMPTY_ZIP, project=ground.other.project)
    yield ground.http("POST", "/api/studies", body, token=ground.attacker.token).code


def revoke_others(ground: Ground) -> Iterator[str]:
    """Revoke tokens, devices and join links of others."""
    device = enrol(ground, ground.other.link)["device"]
    for path in (
        "/api/tokens/1/revoke",
        f"/api/devices/{device}/revoke",
        f"/api/devices/{device}/erase",
        "/api/enrolment/1/revoke",
    ):
        yield ground.http("POST", path, {}, token=ground.attacker.token).code


def download_blobs_of_others(ground: Ground) -> Iterator[str]:
    """Download the neighbour's code, as a device of another project and as a researcher."""
    sha256 = ground.blob(b"a secret of the neighbour", ground.other.token)
    who = enrol(ground, ground.attacker.link)
    proof = f"Device {who['device']}:{who['secret']}"
    yield ground.http("GET", f"/api/blobs/{sha256}", at="compute", token=proof).code
    own = ground.study()
    path = f"/api/studies/{own}/blobs/{sha256}"
    yield ground.http("GET", path, token=ground.attacker.token).code
