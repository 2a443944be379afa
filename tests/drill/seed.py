"""One seed of the drill: servers die, the database restarts, and each result counts once.

    outcome = play(stage, seed=3)
    outcome.problems, outcome.takeovers_s

In an order that the seed chooses: the server that serves is killed with SIGKILL, until each of the
three was; one is stopped with SIGSTOP until another has taken the database, and goes on then; one
ends by SIGTERM, as for an upgrade; the database restarts, by a crash or in order.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from balancer import Balancer
from fleet import Fleet
from judge import judge
from local_postgres import LocalPostgres
from owners import Researcher
from patience import until
from servers import Node, Servers, ask_json

SERVERS = 3
EVENTS = ("kill", "stop", "end", "restart")
# Tables that the server may change while nobody sends anything: its own row, and the time.
_MOVING = ("shards", "kept_time")
_QUIET_S = 0.5
_JOINING = 8
Say = Callable[[str], None]


@dataclass
class Outcome:
    """What came of a seed."""

    seed: int
    events: list[str] = field(default_factory=list)
    takeovers_s: list[float] = field(default_factory=list)
    acknowledged: int = 0
    accepted: int = 0
    studies: int = 0
    refusals: dict[str, int] = field(default_factory=dict)
    seconds: float = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Size:
    """How much a seed does.

    Attributes
    ----------
    workers
        Emulated devices.
    points, trials
        Of each grid and each Optuna study.
    pace
        How long trials take, as a part of the usual 0.5 to 3.5 seconds.
    events
        What happens; each as often as it is named. ``kill`` happens until each server was killed.
    relay
        Whether spares pass connections on. Then nobody looks for the server that serves: each
        device stays with one address, and connections of researchers go to the servers in turn.
    """

    workers: int = 1000
    points: int = 1500
    trials: int = 300
    pace: float = 1.0
    events: tuple[str, ...] = EVENTS
    relay: bool = False


class Stage:
    """What a seed is played on: the server's program, a PostgreSQL and a folder."""

    def __init__(self, binary: Path, postgres: LocalPostgres, folder: Path, say: Say) -> None:
        self.binary = binary
        self.postgres = postgres
        self.folder = folder
        self.say = say


class Play:
    """A seed while it is played."""

    def __init__(self, stage: Stage, seed: int, size: Size) -> None:
        self._stage = stage
        self._size = size
        self._chance = random.Random(seed)
        self._name = f"drill_{seed}"
        self._folder = stage.folder / self._name
        self.outcome = Outcome(seed)

    def run(self) -> Outcome:
        """Play it."""
        began = time.monotonic()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        url = self._stage.postgres.database(self._name)
        with ExitStack() as stack:
            binary = self._stage.binary
            relay = self._size.relay
            servers = stack.enter_context(Servers(binary, self._folder, url, SERVERS, relay=relay))
            self._servers, self._nodes = servers, servers.nodes
            self._balancer = Balancer([one.console_port for one in self._nodes], blind=relay)
            balancer = stack.enter_context(self._balancer)
            people = self._people(balancer.console)
            fleet = self._fleet = self._join()
            stack.callback(fleet.leave)
            self._people_at_work = people
            for one in people:
                one.begin()
            fleet.start()
            self._progress()
            for event in self._order():
                self._stage.say(f"seed {self.outcome.seed}: {event}")
                self.outcome.events.append(event)
                happens = {
                    "kill": self._kill_each,
                    "stop": self._stop,
                    "end": self._end_one,
                    "restart": self._restart,
                }
                happens[event]()
                self._progress()
            self._end(people)
        if not self.outcome.problems:
            shutil.rmtree(self._folder)
            self._stage.postgres.drop(self._name)
        self.outcome.seconds = time.monotonic() - began
        return self.outcome

    # ---- the begin

    def _people(self, console: str) -> list[Researcher]:
        """Make two researchers, each with two studies."""
        serving = self._servers.serving()
        admin = {"Authorization": f"Bearer {self._servers.credentials()['admin_token']}"}
        (project,) = ask_json("GET", f"{serving.console}/api/projects", admin)["projects"]
        found = []
        for name in ("ada", "grace"):
            body = {"name": name, "projects": [project["project"]]}
            made = ask_json("POST", f"{serving.console}/api/researchers", admin, body)
            size = self._size
            found.append(Researcher(name, console, made["token"], size.points, size.trials))
        return found

    def _join(self) -> Fleet:
        """Let the devices join."""
        port = self._servers.serving().compute_port
        body = {
            "code": self._servers.credentials()["enrolment_code"],
            "class": "node",
            "engine": "drill 1",
        }

        def join(_: int) -> tuple[str, str]:
            joined = ask_json("POST", f"http://127.0.0.1:{port}/api/join", {}, body)
            return joined["device"], joined["secret"]

        with ThreadPoolExecutor(_JOINING) as pool:
            devices = list(pool.map(join, range(self._size.workers)))
        ports = [node.compute_port for node in self._nodes]
        return Fleet(
            devices, ports, self.outcome.seed, pace=self._size.pace, roams=not self._size.relay
        )

    def _order(self) -> list[str]:
        events = list(self._size.events)
        self._chance.shuffle(events)
        return events

    # ---- what happens

    def _kill_each(self) -> None:
        """Kill the server that serves, until each was killed."""
        left = set(self._nodes)
        while left:
            node = self._servers.serving()
            if node in left:
                left.remove(node)
                self._fleet.watch()
                began = time.monotonic()
                node.kill()
                self._taken_over(began)
                self._come_back(node)
                self._progress()
            else:  # it was killed already, and gives the database to another one
                self._end_one()

    def _end_one(self) -> None:
        """End the server that serves with SIGTERM. Another one takes over at once."""
        node = self._servers.serving()
        node.stop()
        self._come_back(node)

    def _come_back(self, node: Node) -> None:
        """Start a server again when another one has the database."""
        self._servers.serving(other_than=node)
        node.start()
        until("a server that comes back as a spare", node.waits)

    def _stop(self) -> None:
        """Stop the server that serves through a takeover. When it goes on, nothing may change."""
        node, fleet = self._servers.serving(), self._fleet
        lost = node.log().count('"shard_lost"')
        fleet.has_frozen = True
        fleet.watch()
        began = time.monotonic()
        node.freeze()
        self._taken_over(began)
        self._servers.serving(other_than=node)
        # Nobody may claim a study meanwhile, because that is stored, too.
        fleet.is_paused = self._balancer.is_held = True
        before = self._quiet()
        node.thaw()
        until("a stopped server that waits as a spare", node.waits)
        if node.log().count('"shard_lost"') != lost + 1:
            self._wrong("the server that was stopped did not log shard_lost")
        after = self._everything()
        for place in sorted(before.keys() | after.keys()):
            if before.get(place) != after.get(place):
                self._wrong(f"{place} changed when the stopped server went on")
        fleet.is_paused = self._balancer.is_held = fleet.has_frozen = False

    def _restart(self) -> None:
        """Restart the database. It moves nothing."""
        node = self._servers.serving()
        crash = self._chance.random() < 0.5
        self._stage.postgres.restart("immediate" if crash else "fast")
        self._fleet.watch()
        until("a result after the restart", self._fleet.first_accepted)
        if self._servers.serving() is not node:
            self._wrong("the restart of the database moved it to another server")

    def _taken_over(self, began: float) -> None:
        first = until("a result that another server accepts", self._fleet.first_accepted)
        assert first is not None
        self.outcome.takeovers_s.append(first - began)
        self._stage.say(f"seed {self.outcome.seed}: taken over after {first - began:.1f} s")

    def _progress(self) -> None:
        """Wait until the servers have accepted some results."""
        wanted = self._fleet.accepted + self._size.workers // 4
        until("results", lambda: self._is_fine() and self._fleet.accepted >= wanted)

    def _is_fine(self) -> bool:
        self._fleet.check()
        for one in self._people_at_work:
            one.check()
        return True

    # ---- what must be

    def _quiet(self) -> dict[str, str]:
        """Wait until nothing changes in the database and the files, and return what is there."""
        seen: list[dict[str, str]] = [{}]

        def is_quiet() -> bool:
            time.sleep(_QUIET_S)
            seen.append(self._everything())
            return seen[-1] == seen[-2]

        until("quiet", is_quiet)
        return seen[-1]

    def _everything(self) -> dict[str, str]:
        """Return a hash of each table, and of the files of the servers."""
        rows = self._ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = sorted({row[0] for row in rows} - set(_MOVING))
        hashes = (
            f"SELECT '{table}', md5(string_agg(row, '' ORDER BY row))"
            f" FROM (SELECT md5(t::text) AS row FROM {table} AS t) AS rows"
            for table in tables
        )
        found = dict(self._ask(" UNION ALL ".join(hashes)))
        digest = hashlib.sha256()
        for place in sorted(self._servers.shared.rglob("*")):
            seen = place.lstat()
            digest.update(f"{place} {seen.st_size} {seen.st_mtime_ns}\n".encode())
        found["the shared files"] = digest.hexdigest()
        return found

    def _end(self, people: list[Researcher]) -> None:
        """Let everything finish, and judge."""
        outcome, fleet = self.outcome, self._fleet
        self._stage.say(f"seed {outcome.seed}: finishing")
        results = {}
        for one in people:
            results.update(one.end())
        fleet.end()
        until("devices that have finished", fleet.is_idle)
        fleet.leave()
        outcome.studies = len(results)
        outcome.acknowledged, outcome.accepted = len(fleet.acknowledged), fleet.accepted
        outcome.refusals = dict(fleet.refusals)
        for problem in judge(self._ask, fleet.acknowledged, results):
            self._wrong(problem)
        self._verify()

    def _verify(self) -> None:
        """Make a backup and verify it, because that has the invariants of the database."""
        node = self._servers.serving()
        backups = self._folder / "backups"
        for words in (
            ["backup", str(backups), "--state", str(node.state)],
            ["verify", str(backups)],
        ):
            command = [str(self._stage.binary), *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                self._wrong(f"{words[0]}: {(done.stdout + done.stderr).strip()[:500]}")

    def _ask(self, sql: str) -> list[list[str]]:
        return self._stage.postgres.ask(self._name, sql)

    def _wrong(self, problem: str) -> None:
        self.outcome.problems.append(problem)
        self._stage.say(f"seed {self.outcome.seed}: WRONG: {problem}")
