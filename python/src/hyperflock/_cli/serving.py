"""Runs the parts of ``up``: the server, a tunnel or certificate for phones, and volunteers here.

    Serving(local, parts, addresses, way, Team(engine, 2), show, say).run()

Only one thread may use a `Serving`. `run` blocks until the server ends, and everything that it
started ends too.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hyperflock._base.errors import HyperflockError
from hyperflock._local.addresses import Reach, reaches
from hyperflock._local.engines import Engine
from hyperflock._local.parts import Parts
from hyperflock._local.server import LocalServer, Running
from hyperflock._local.share import Change, Opened, Way
from hyperflock._local.silence import silence
from hyperflock._local.volunteers import Say, Volunteers

# A free tunnel's name may need a minute until every resolver knows it.
ANSWERS_S = 180.0
_FIRST_ASK_S = 2.0
_SAY_S = 15.0
# A wait is split into parts of this many seconds. On some systems Ctrl-C works only between them.
_LOOK_S = 0.5


@dataclass(frozen=True)
class Addresses:
    """The addresses of a server, as given by the options of ``up``.

    Attributes
    ----------
    compute, console : str
        The addresses at which it listens, with their ports.
    public_url, tls_cert, tls_key : str or None
        The values of the options with these names.
    insecure : bool
        The value of ``--insecure``.
    """

    compute: str
    console: str
    public_url: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    insecure: bool = False

    @property
    def port(self) -> int:
        """The port for volunteers."""
        return int(self.compute.rpartition(":")[2])

    def options(self, opened: Opened | None) -> list[str]:
        """Return the options of the server's ``serve``; ``opened`` describes the tunnel or network,
        if there is one.
        """
        if opened is not None:
            at = f"{opened.listens_at}:{self.port}"
            return ["--compute", at, "--console", self.console, *opened.options]
        options = ["--compute", self.compute, "--console", self.console]
        for flag, value in (
            ("--public-url", self.public_url),
            ("--tls-cert", self.tls_cert),
            ("--tls-key", self.tls_key),
        ):
            options += [flag, value] if value else []
        return [*options, *(["--insecure"] if self.insecure else [])]

    def reached(self, running: Running, opened: Opened | None) -> list[Reach]:
        """Return the addresses at which volunteers reach the server, the best for phones first."""
        bound, url = self.compute.rpartition(":")[0], self.public_url
        secure = self.tls_cert is not None
        if opened is not None:
            bound, url, secure = opened.listens_at, opened.origin, opened.authority is not None
        host = bound.strip("[]").replace("localhost", "127.0.0.1")
        return reaches("https" if secure else "http", running.port, bound=host, public_url=url)

    def from_here(self, running: Running, opened: Opened | None) -> tuple[str, Path | None]:
        """Return the address at which volunteers on this machine reach the server. If the server's
        certificate comes from this machine's own authority, return the authority's certificate too,
        otherwise None.
        """
        if opened is not None and opened.authority is not None:
            return f"https://127.0.0.1:{running.port}", opened.authority
        if self.tls_cert:
            return running.compute, None
        return f"http://127.0.0.1:{running.port}", None


@dataclass(frozen=True)
class Team:
    """The volunteers to start on this machine."""

    engine: Engine
    count: int


class Serving:
    """One run of ``up``.

    Parameters
    ----------
    local, parts
        The server and its files.
    addresses
        Where it listens.
    way
        The `Way` by which phones reach it; None if they use the addresses only.
    team
        The volunteers on this machine; None means no volunteers.
    show
        Prints the server's addresses; called again when they have changed.
    say
        Prints a line; called from several threads.
    """

    def __init__(
        self,
        local: LocalServer,
        parts: Parts,
        addresses: Addresses,
        way: Way | None,
        team: Team | None,
        show: Callable[[Running, Opened | None], None],
        say: Say,
    ) -> None:
        self._local = local
        self._parts = parts
        self._addresses = addresses
        self._way = way
        self._team = team
        self._show = show
        self._say = say

    def start(self) -> None:
        """Start a server without tunnel and volunteers. It continues after this process ends."""
        options = self._addresses.options(None)
        self._show(self._local.start(self._parts, options, outlives_this=True), None)
        self._local.detach()

    def run(self, begun: Callable[[], None]) -> int:
        """Run everything until the server ends and return the server's exit status.

        ``begun`` is called once, when everything has started.
        """
        with contextlib.ExitStack() as running_things:
            opened = None
            if self._way is not None:
                running_things.callback(self._way.close)
                opened = self._way.open(self._addresses.port, self._local.folder)
            running_things.callback(self._local.stop)
            running = self._local.start(self._parts, self._addresses.options(opened))
            if opened is not None:
                running, opened = self._until_it_answers(running, opened)
                if (status := self._local.wait(0)) is not None:
                    return status
            self._show(running, opened)
            if self._team is not None:
                self._start(self._team, running, opened, running_things)
            begun()
            while (status := self._local.wait(_LOOK_S)) is None:
                self._look_at_way()
            return status

    def _start(
        self,
        team: Team,
        running: Running,
        opened: Opened | None,
        running_things: contextlib.ExitStack,
    ) -> None:
        folder = self._local.folder
        volunteers = Volunteers(team.engine, self._parts.volunteer, folder, self._say)
        running_things.callback(volunteers.stop)
        origin, authority = self._addresses.from_here(running, opened)
        code = str(self._local.credentials().get("enrolment_code", ""))
        volunteers.start(team.count, origin, code, authority)

    def _until_it_answers(self, running: Running, opened: Opened) -> tuple[Running, Opened]:
        """Wait until the server answers at the address that phones use. The address may change
        meanwhile.

        Raises
        ------
        HyperflockError
            ``tunnel_failed`` or ``cannot_share``: the server does not answer in time.
        """
        begun = said = time.monotonic()
        if opened.authority is None:
            # If a resolver is asked before the name exists, it answers "no such name" for minutes.
            self._say(f"waiting until the server answers at {opened.origin} (some seconds)")
            self._local.wait(_FIRST_ASK_S)
        # If the server ends, the loop ends without an error, and `run` reads the server's status.
        while self._local.wait(0) is None:
            why = silence(opened.origin, opened.authority)
            if why is None:
                break
            now = time.monotonic()
            if now - begun > ANSWERS_S:
                raise HyperflockError(
                    f"the server does not answer at {opened.origin} after {ANSWERS_S:.0f} s: {why}",
                    code="tunnel_failed" if opened.authority is None else "cannot_share",
                )
            if now - said > _SAY_S:
                said = now
                self._say(f"still waiting until the server answers at {opened.origin} ({why})")
            change = self._way.check() if self._way is not None else None
            if change is not None and change.is_lost:
                raise HyperflockError(change.text, code="tunnel_failed")
            if change is not None and (again := self._follow(change)) is not None:
                running, opened = again
                begun = now
            self._local.wait(_LOOK_S)
        return running, opened

    def _follow(self, change: Change) -> tuple[Running, Opened] | None:
        """Print what has changed about the tunnel or network for phones. If the server's address
        has changed, start the server again.
        """
        self._say(change.text)
        if change.reads_certificate:
            self._local.reload()
        if change.opened is None:
            return None
        # A server reads its public address only when it starts. Devices connect again by
        # themselves.
        self._local.stop()
        options = self._addresses.options(change.opened)
        return self._local.start(self._parts, options), change.opened

    def _look_at_way(self) -> None:
        change = self._way.check() if self._way is not None else None
        if change is None:
            return
        if change.is_lost:
            self._lose_way("tunnel_failed", change.text)
        elif (again := self._follow(change)) is not None:
            try:
                again = self._until_it_answers(*again)
            except HyperflockError as error:
                if error.code not in {"tunnel_failed", "cannot_share"}:
                    raise
                self._lose_way(error.code, error.message)
            else:
                self._show(*again)

    def _lose_way(self, code: str, why: str) -> None:
        """Say why phones do not reach the server any more; the server goes on without them."""
        if self._way is not None:
            self._way.close()
            self._way = None
        self._say(f"warning [{code}]: {why}")
