"""The commands ``up`` and ``down``: a server on this machine, volunteers, a link for phones.

Each command runs in one thread.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._cli.qr import terminal_qr
from hyperflock._cli.serving import Addresses, Serving, Team
from hyperflock._cli.shared import Json, command, show_json, show_lines
from hyperflock._cli.signals import goes_on
from hyperflock._local.addresses import Reach
from hyperflock._local.engines import Choice, find_engine
from hyperflock._local.parts import find_parts
from hyperflock._local.server import LocalServer, Running
from hyperflock._local.share import NO_WAY, LanWay, Opened, find_way
from hyperflock._transport.settings import CREDENTIALS_FILE, data_folder

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        help="The server's data; default: HYPERFLOCK_HOME, or hyperflock among your data.",
        show_default=False,
    ),
]


class EngineChoice(str, Enum):
    """The program in which volunteers on this machine run."""

    auto = "auto"
    chromium = "chromium"
    node = "node"


class WayChoice(str, Enum):
    """How phones reach this machine."""

    auto = "auto"
    cloudflared = "cloudflared"
    ngrok = "ngrok"
    lan = "lan"


@command(
    "hyperflock up",
    "hyperflock up --volunteers 2",
    "hyperflock up --share",
    "hyperflock up --share --public-url https://flock.example.org",
    "hyperflock up --detach && hyperflock status && hyperflock down",
)
def up(
    share: Annotated[
        bool, typer.Option("--share", help="Give phones a link: by a tunnel, or in your network.")
    ] = False,
    share_by: Annotated[
        WayChoice,
        typer.Option(help="How --share does it; auto: a tunnel if its program is on PATH."),
    ] = WayChoice.auto,
    volunteers: Annotated[
        int, typer.Option(min=0, max=64, help="How many volunteers compute on this machine.")
    ] = 0,
    engine: Annotated[
        EngineChoice, typer.Option(help="What they run in; auto: a browser if there is one.")
    ] = EngineChoice.auto,
    detach: Annotated[
        bool, typer.Option("--detach", help="Leave it running; 'hyperflock down' ends it.")
    ] = False,
    compute: Annotated[
        str, typer.Option(help="Where volunteers connect; port 0 is any free one.")
    ] = "127.0.0.1:8780",
    console_at: Annotated[
        str, typer.Option("--console", help="Where researchers connect.")
    ] = "127.0.0.1:8790",
    public_url: Annotated[
        str | None,
        typer.Option(help="The compute origin as volunteers see it.", show_default=False),
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(help="Certificate chain, PEM.", show_default=False)
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(help="Its private key, PEM.", show_default=False)
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen for other machines without TLS.")
    ] = False,
    show_token: Annotated[
        bool, typer.Option("--show-token", help="Print the researcher's token.")
    ] = False,
    folder: Folder = None,
    server: Annotated[
        str | None, typer.Option(help="Path of hyperflock-server.", show_default=False)
    ] = None,
    pages: Annotated[
        str | None, typer.Option("--app", help="Folder of the built pages.", show_default=False)
    ] = None,
    runtime: Annotated[
        str | None, typer.Option(help="Folder of the browsers' runtime.", show_default=False)
    ] = None,
    as_json: Json = False,
    ready: Annotated[int | None, typer.Option("--ready-by", hidden=True)] = None,
) -> int:
    """Start a server on this machine and wait; Ctrl-C ends it."""
    local = _local(folder)
    parts = find_parts(server, pages, runtime)
    local.check_is_free()
    way = None
    if share and not (public_url or tls_cert):
        way = find_way(None if share_by is WayChoice.auto else share_by.value)
        # A tunnel needs the port's number before the server listens there.
        compute = _with_port(compute)
    chosen: Choice = engine.value
    if tls_cert or isinstance(way, LanWay):
        # Only a volunteer in Node accepts a certificate that the system does not know.
        if engine is EngineChoice.chromium:
            raise typer.BadParameter(
                "browsers here do not know the certificate; take --engine node"
            )
        chosen = "node"
    team = Team(find_engine(chosen, parts.volunteer), volunteers) if volunteers else None
    if detach and (way or team):
        return _in_background(
            local,
            {
                "--share": share,
                "--share-by": share_by.value,
                "--volunteers": volunteers,
                "--engine": engine.value,
                "--compute": compute,
                "--console": console_at,
                "--public-url": public_url,
                "--tls-cert": tls_cert,
                "--tls-key": tls_key,
                "--insecure": insecure,
                "--show-token": show_token,
                "--folder": local.folder,
                "--server": server,
                "--app": pages,
                "--runtime": runtime,
                "--json": as_json,
            },
        )
    addresses = Addresses(compute, console_at, public_url, tls_cert, tls_key, insecure)

    is_up = threading.Event()

    def show(running: Running, opened: Opened | None) -> None:
        is_up.set()
        found = addresses.reached(running, opened)
        if as_json:
            show_json(_told(local, running, found, opened, show_token=show_token))
            return
        _introduce(local, running, found, show_token=show_token)
        if share:
            _share(_link(local, found), found, opened)
        print("", end="", flush=True)

    serving = Serving(local, parts, addresses, way, team, show, _silent if as_json else _say)
    goes_on("interrupted: no server runs; studies and results of earlier ones are kept")
    if detach:
        serving.start()
        return 0
    try:
        status = serving.run(lambda: _tell(ready))
    except KeyboardInterrupt:
        if not is_up.is_set():
            raise
        _say_goodbye("\nthe server has ended", as_json)
        return 0
    if status == 0:
        _say_goodbye("the server was ended", as_json)
        return 0
    raise HyperflockError(
        f"the server ended by itself with status {status}: {local.last_words()} "
        f"(its log: {local.log})",
        code="server_failed",
    )


@command("hyperflock down", "hyperflock down --json")
def down(folder: Folder = None, as_json: Json = False) -> int:
    """End the server on this machine; studies and results are kept."""
    goes_on("interrupted: see by 'hyperflock status' whether the server has ended")
    ran = _local(folder).stop()
    if as_json:
        show_json({"stopped": ran})
    else:
        print("the server has ended" if ran else "no server is up here")
    return 0


def _local(folder: Path | None) -> LocalServer:
    """Return the server of a data folder; None means the default folder."""
    return LocalServer((folder or data_folder()).absolute())


def _with_port(compute: str) -> str:
    """Return an address with a port number; port 0 becomes one that is free now."""
    host, _, port = compute.rpartition(":")
    if port != "0":
        return compute
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"{host}:{probe.getsockname()[1]}"


def _in_background(local: LocalServer, options: Mapping[str, object]) -> int:
    """Run ``up`` in a background process, and print its output until everything has started.

    The background process watches the server, the volunteers and the tunnel. It ends when
    'hyperflock down' ends the server.
    """
    if sys.platform == "win32":
        raise typer.BadParameter("on Windows, --detach works without --share and --volunteers")
    command = [sys.executable, "-m", "hyperflock", "up"]
    for flag, value in options.items():
        if value is True:
            command.append(flag)
        elif value not in {None, False}:
            command += [flag, str(value)]
    local.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    output = local.folder / "up.log"
    reading, writing = os.pipe()
    with open(reading, "rb") as ready, output.open("wb") as log:
        try:
            process = subprocess.Popen(
                [*command, "--ready-by", str(writing)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=[writing],
            )
        finally:
            os.close(writing)
        if options["--share"] and not options["--json"]:
            print(f"waiting until phones reach the server (log: {output})", flush=True)
        try:
            has_started = ready.read() != b""
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM)
            process.wait()
            raise
    if has_started:
        process.returncode = 0  # otherwise its object would wait for it
    status = 0 if has_started else process.wait()
    with contextlib.suppress(OSError):
        print(
            output.read_text("utf-8", "replace"), end="", file=sys.stderr if status else sys.stdout
        )
    return status


def _tell(ready: int | None) -> None:
    """In a background run, tell the parent process that everything has started."""
    if ready is not None:
        sys.stdout.flush()
        os.write(ready, b"1")
        os.close(ready)


def _link(local: LocalServer, found: Sequence[Reach]) -> str | None:
    code = local.credentials().get("enrolment_code")
    best = next((reach for reach in found if reach.phones), found[0])
    return f"{best.origin}/join#{code}" if isinstance(code, str) else None


def _secret(local: LocalServer) -> str:
    return str(local.credentials().get("researcher_token", ""))


def _told(
    local: LocalServer,
    running: Running,
    found: Sequence[Reach],
    opened: Opened | None,
    *,
    show_token: bool,
) -> dict[str, Any]:
    """Return the server's addresses, and the token if ``show_token`` is true, as plain values for
    ``--json``.
    """
    return {
        "pid": running.pid,
        "console": running.console,
        "compute": running.compute,
        "join_url": _link(local, found),
        "folder": str(local.folder),
        "token": _secret(local) if show_token else None,
        "addresses": [dataclasses.asdict(reach) for reach in found],
        "trust_page": opened.trust_url or None if opened else None,
        "fingerprint": opened.fingerprint or None if opened else None,
    }


def _introduce(
    local: LocalServer, running: Running, found: Sequence[Reach], *, show_token: bool
) -> None:
    """Print the server's addresses and tokens."""
    file = local.folder / CREDENTIALS_FILE
    token = f"in {file}, read by the other commands (--show-token prints it)"
    show_lines(
        [
            ("console", f"{running.console}/research"),
            ("token", _secret(local) if show_token else token),
            ("join link", _link(local, found) or "'hyperflock join' makes one"),
            ("data", str(local.folder)),
        ]
    )
    if local.folder != data_folder().absolute():
        print(f"\nfor the other commands: export HYPERFLOCK_HOME='{local.folder}'")


def _share(link: str | None, found: Sequence[Reach], opened: Opened | None) -> None:
    """Print the link as a QR code, who can reach it, and what a phone has to do first."""
    if opened is not None and opened.trust_url:
        print(
            "\nOnce for each phone: it has to trust this machine's certificate. The page says how:"
        )
        print(f"{opened.trust_url}\n{terminal_qr(opened.trust_url)}")
        print(f"The page shows the same SHA-256 fingerprint:\n{opened.fingerprint}")
        print("\nThen the join link:")
    if link is not None:
        print(f"\n{terminal_qr(link)}")
    print()
    for reach in found:
        note = f"; {reach.note}" if reach.note else ""
        print(f"{reach.origin}: {reach.who}{note}")
    if not any(reach.phones for reach in found):
        print(
            f"No phone computes by these addresses; {NO_WAY}. With a name of your own, start with "
            "--public-url https://NAME (server/docs/phones.md has three ways)."
        )


def _say(text: str) -> None:
    print(text, flush=True)


def _silent(text: str) -> None:
    """Print nothing; standard output is JSON."""


def _say_goodbye(how: str, as_json: bool) -> None:
    if not as_json:
        print(f"{how}; studies and results are kept", flush=True)
