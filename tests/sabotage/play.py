"""One study on a real server, computed by a crowd of which a part is dishonest.

verdict = play(Setup("constant", share=0.1, seed=1), folder)
"""

from __future__ import annotations

import hashlib
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowd import Begun, Crowd
from patience import until
from real_server import Server
from saboteurs import SABOTEURS, Scene
from servers import ask_json
from truth import OBJECTIVES
from verdict import Verdict, judge

# The bundle of a study that nobody runs.
_BUNDLE = b"PK\x05\x06" + bytes(18)
_PAGE = 1000
_JOINING = 4
# A study whose results are rejected runs again. So it has ended if it has for so long.
_OPTIONS = (
    *("--min-free-bytes", "0", "--log-level", "warning"),
    # All emulated devices have one address.
    *("--max-connections-per-address", "20000", "--joins-burst", "100000"),
)


@dataclass(frozen=True)
class Setup:
    """What is played.

    Attributes
    ----------
    kind
        Of the saboteurs; one of `SABOTEURS`.
    share
        Of the devices that are saboteurs.
    pace
        Seconds that an honest device computes on average.
    """

    kind: str
    share: float
    seed: int
    devices: int = 200
    trials: int = 2000
    pace: float = 0.5
    objective: str = "loss"


def play(setup: Setup, folder: Path) -> Verdict:
    """Play it in an empty folder."""
    server = Server(folder, *_OPTIONS).start()
    try:
        return _Play(setup, server).run()
    finally:
        server.kill()


class _Play:
    def __init__(self, setup: Setup, server: Server) -> None:
        self._setup = setup
        self._server = server
        self._scene = Scene(setup.seed, OBJECTIVES[setup.objective])
        self._headers = {"Authorization": f"Bearer {server.credentials['researcher_token']}"}

    def run(self) -> Verdict:
        setup = self._setup
        study = self._submit()
        chance = random.Random(setup.seed)
        dishonest = set(chance.sample(range(setup.devices), round(setup.share * setup.devices)))
        kind = SABOTEURS[setup.kind]
        minds = {
            one: kind.make(self._scene, random.Random(f"{setup.seed} {one}")) for one in dishonest
        }
        crowd = Crowd(self._join(), self._server.compute_port, self._scene, minds, pace=setup.pace)
        crowd.start()
        try:
            paused = self._wait(study, crowd)
        finally:
            crowd.leave()
        crowd.check()
        rows = self._rows(study)
        rows += [
            {"trial": trial, "state": "paused", "values": [], "attempts": 0}
            for trial in set(range(setup.trials)) - {row["trial"] for row in rows}
        ]
        verdict = judge(
            self._scene, rows, crowd.begun, crowd.ended,
            dishonest=dishonest, devices=setup.devices,
        )  # fmt: skip
        verdict.paused = paused
        rejected = {row["trial"] for row in rows if row.get("rejected")}
        verdict.honest_rejected = self._honest_rejected(study, rejected, dishonest, crowd.begun)
        return verdict

    def _submit(self) -> int:
        setup = self._setup
        sha256 = hashlib.sha256(_BUNDLE).hexdigest()
        ask_json("PUT", f"{self._server.console}/api/blobs/{sha256}", self._headers, _BUNDLE)
        spec: dict[str, Any] = {
            "name": setup.kind, "submit_key": setup.kind, "direction": "minimize", "entry": "a:b",
            "bundle": {"sha256": sha256, "bytes": len(_BUNDLE)},
            "space": [{"name": "x", "values": list(range(setup.trials))}],
            "runtime": {"chainer": "7.8.1"},
        }  # fmt: skip
        if value_range := SABOTEURS[setup.kind].value_range:
            spec["value_range"] = [value_range]
        made = ask_json("POST", f"{self._server.console}/api/studies", self._headers, spec)
        return int(made["study"])

    def _join(self) -> list[tuple[str, str]]:
        code = self._server.credentials["enrolment_code"]
        body = {"code": code, "class": "node", "engine": "sabotage 1"}

        def join(_: int) -> tuple[str, str]:
            joined = ask_json("POST", f"{self._server.compute}/api/join", {}, body)
            return joined["device"], joined["secret"]

        with ThreadPoolExecutor(_JOINING) as pool:
            return list(pool.map(join, range(self._setup.devices)))

    def _wait(self, study: int, crowd: Crowd) -> bool:
        """Wait until the study has ended. Return whether it has paused itself instead."""
        address = f"{self._server.console}/api/studies/{study}"

        def state() -> str:
            row = ask_json("GET", f"{address}?space=names", self._headers)
            return "paused" if row.get("stopped_by") else str(row["state"])

        def end() -> str:
            crowd.check()
            # The last result may let the server reject others, so that the study goes on. Changes
            # are stored in turn: the first of these two is stored after that result was judged,
            # and the second one after what was rejected.
            for _ in range(2):
                if state() == "running":
                    return ""
                ask_json("POST", f"{address}/priority", self._headers, {"priority": 0})
            found = state()
            return "" if found == "running" else found

        return until("the end of the study", end) == "paused"

    def _rows(self, study: int) -> list[dict[str, Any]]:
        rows: dict[int, dict[str, Any]] = {}
        after = 0
        while True:
            path = f"{self._server.console}/api/studies/{study}/trials?after={after}&limit={_PAGE}"
            page = ask_json("GET", path, self._headers)
            if not page["trials"]:
                return [rows[trial] for trial in sorted(rows)]
            rows.update({row["trial"]: row for row in page["trials"]})
            after = page["cursor"]

    def _honest_rejected(
        self, study: int, trials: set[int], dishonest: set[int], begun: list[Begun]
    ) -> int:
        """Count rejected attempts of honest devices among these trials."""
        owner = {one.attempt: one.device for one in begun}
        count = 0
        for trial in trials:
            path = f"{self._server.console}/api/studies/{study}/trials/{trial}"
            for attempt in ask_json("GET", path, self._headers)["attempts_list"]:
                is_known = attempt["attempt"] in owner
                if (
                    "rejected" in attempt
                    and is_known
                    and owner[attempt["attempt"]] not in dishonest
                ):
                    count += 1
        return count
