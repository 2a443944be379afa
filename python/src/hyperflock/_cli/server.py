"""The commands for servers and their users: up, down, status, doctor, join, devices, tokens.

Each runs in one thread.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import types
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._cli import local_server as _up
from hyperflock._cli import tables as _tables
from hyperflock._cli.addresses import Reach, reaches
from hyperflock._cli.shared import (
    EXIT_REFUSED,
    Json,
    Token,
    Url,
    app,
    command,
    console,
    show_json,
    show_lines,
)
from hyperflock._client.client import Client
from hyperflock._transport.settings import CREDENTIALS_FILE, data_folder, keep_token, settings

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        help="The server's data; default: HYPERFLOCK_HOME, or hyperflock among your data.",
        show_default=False,
    ),
]


class Shell(str, Enum):
    """A shell with completion."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


@command(
    "hyperflock up",
    "hyperflock up --share --public-url https://flock.example.org",
    "hyperflock up --detach && hyperflock status && hyperflock down",
)
def up(
    share: Annotated[
        bool, typer.Option("--share", help="Show the join link as a QR code, and who reaches it.")
    ] = False,
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
) -> int:
    """Start a server on this machine and wait; Ctrl-C ends it."""
    local = _local(folder)
    parts = _up.find_parts(server, pages, runtime)
    options = ["--compute", compute, "--console", console_at]
    for flag, value in (
        ("--public-url", public_url),
        ("--tls-cert", tls_cert),
        ("--tls-key", tls_key),
    ):
        options += [flag, value] if value else []
    options += ["--insecure"] if insecure else []
    with _ended_by_signals():
        running = local.start(parts, options)
        try:
            _introduce(
                local,
                running,
                reaches(
                    "https" if tls_cert else "http",
                    running.port,
                    bound=compute.rpartition(":")[0].strip("[]").replace("localhost", "127.0.0.1"),
                    public_url=public_url,
                ),
                share=share,
                show_token=show_token,
                as_json=as_json,
            )
            if detach:
                local.detach()
                return 0
            status = local.wait()
            if status == 0:
                _say_goodbye("the server was ended", as_json)
                return 0
        except KeyboardInterrupt:
            _say_goodbye("\nthe server ends", as_json)
            return 0
        finally:
            if not detach:
                local.stop()
    raise HyperflockError(
        f"the server ended by itself with status {status}: {local.last_words()} "
        f"(its log: {local.log})",
        code="server_failed",
    )


@command("hyperflock down", "hyperflock down --json")
def down(folder: Folder = None, as_json: Json = False) -> int:
    """End the server on this machine; studies and results are kept."""
    ran = _local(folder).stop()
    if as_json:
        show_json({"stopped": ran})
    else:
        print("the server has ended" if ran else "no server is up here")
    return 0


@command("hyperflock status", "hyperflock status --json")
def status(as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """Show the server's state: studies, trials, devices."""
    local = _local(None).running()
    client = Client(url, token)
    me, found, devices_now = client.server(), client.studies(), client.workers()
    states = [study.row.state for study in found]
    told: dict[str, Any] = {
        "console": client.url,
        "server": clean(str(me.get("server", ""))),
        "name": clean(str(me.get("name", ""))),
        "role": clean(str(me.get("role", ""))),
        "join_origin": clean(str(me.get("join_origin", ""))),
        "here": local is not None and local.console == client.url,
        "pid": local.pid if local is not None and local.console == client.url else None,
        "studies": {state: states.count(state) for state in ("running", "finished", "cancelled")},
        "trials": {
            "running": sum(study.row.running for study in found),
            "done": sum(study.done for study in found),
            "failed": sum(study.row.failed for study in found),
        },
        "devices": {
            "connected": len(devices_now),
            "computing": sum(row.get("state") == "computing" for row in devices_now),
        },
    }
    if as_json:
        show_json(told)
        return 0
    counts, work = told["studies"], told["trials"]
    where = f", process {told['pid']} of this machine" if told["pid"] else ""
    show_lines(
        [
            ("console", f"{client.url} (server {told['server']}{where})"),
            ("signed in", f"{told['name']}, {told['role']}"),
            ("join page", f"{told['join_origin']}/join"),
            (
                "studies",
                f"{counts['running']} running, {counts['finished']} finished, "
                f"{counts['cancelled']} cancelled",
            ),
            (
                "trials",
                f"{work['running']} running, {work['done']} done, {work['failed']} of them failed",
            ),
            (
                "devices",
                f"{told['devices']['connected']} connected, "
                f"{told['devices']['computing']} computing",
            ),
        ]
    )
    return 0


@command("hyperflock doctor", "hyperflock doctor --no-browser --json")
def doctor(
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a headless browser as well.")
    ] = True,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Check everything that a volunteer's result depends on, with a remedy for each problem."""
    from hyperflock._cli.doctor import Check, checks

    found: list[Check] = []
    for check in checks(settings(url, token), browser=browser):
        found.append(check)
        if not as_json:
            print(f"{check.state:<8} {check.name:<10} {check.found}", flush=True)
            if check.remedy:
                print(f"{'':<19} -> {check.remedy}", flush=True)
    if as_json:
        show_json([dataclasses.asdict(check) for check in found])
    return EXIT_REFUSED if any(check.state == "failed" for check in found) else 0


@command("hyperflock join --qr", "hyperflock join --project 'First project' --json")
def join(
    project: Annotated[
        str | None, typer.Option(help="For which project.", show_default=False)
    ] = None,
    qr: Annotated[bool, typer.Option("--qr", help="Show it as a QR code too.")] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Make a new join link; anybody who has it can join."""
    link = clean(Client(url, token).join_url(project))
    if as_json:
        show_json({"join_url": link})
        return 0
    print(link)
    if qr:
        _show_qr(link)
    return 0


@command("hyperflock devices", "hyperflock devices --json")
def devices(as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """List the devices that are connected now."""
    found = Client(url, token).workers()
    if as_json:
        show_json(found)
    else:
        console().print(_tables.devices(found))
    return 0


@command("hyperflock revoke d_0f3a")
def revoke(
    device: Annotated[str, typer.Argument(metavar="DEVICE", help="As 'hyperflock devices' shows.")],
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Ban a device; its trials go to others. Administrators only."""
    Client(url, token).revoke(device)
    if as_json:
        show_json({"device": device, "revoked": True})
    else:
        print(f"{clean(device)} is shut out")
    return 0


@command(
    "hyperflock tokens",
    "hyperflock tokens --rotate --grace-hours 24",
    "hyperflock tokens --revoke 3 --json",
)
def tokens(
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Print a new token; the one in use ends later.")
    ] = False,
    grace_hours: Annotated[
        float, typer.Option(min=0, max=8760, help="How long the old one still opens.")
    ] = 24,
    ended: Annotated[
        int | None,
        typer.Option("--revoke", min=1, help="End the token of this number.", show_default=False),
    ] = None,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """List tokens by number, make a new one for yourself, or revoke one."""
    if rotate and ended is not None:
        raise typer.BadParameter("give one of --rotate and --revoke")
    client = Client(url, token)
    if rotate:
        _rotate(
            client,
            settings(url, token).token,
            grace_hours,
            was_given=token is not None,
            as_json=as_json,
        )
    elif ended is not None:
        client.revoke_token(ended)
        if as_json:
            show_json({"token": ended, "revoked": True})
        else:
            print(f"token {ended} opens nothing any more")
    elif as_json:
        show_json(client.tokens())
    else:
        console().print(_tables.tokens(client.tokens()))
    return 0


@command(
    "source <(hyperflock completion bash)",
    "hyperflock completion zsh > ~/.zfunc/_hyperflock",
    "hyperflock completion fish > ~/.config/fish/completions/hyperflock.fish",
)
def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> int:
    """Print a script with which a shell completes this command's names and options."""
    # typer prints the script if this variable is set, which the script itself also uses.
    os.environ["_HYPERFLOCK_COMPLETE"] = f"source_{shell.value}"
    try:
        app([], prog_name="hyperflock")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    finally:
        del os.environ["_HYPERFLOCK_COMPLETE"]
    return 0


def _local(folder: Path | None) -> _up.LocalServer:
    """Return the server of a data folder; None means the default folder."""
    return _up.LocalServer((folder or data_folder()).absolute())


def _rotate(
    client: Client, old: str, grace_hours: float, *, was_given: bool, as_json: bool
) -> None:
    """Make a new token and store it where this machine stores the old one."""
    made = client.rotate_token(round(grace_hours * 3600))
    file, failure = None, None
    try:
        file = keep_token(old, made)
    except HyperflockError as error:
        failure = error
    # The token is printed even if the file cannot be written, because it cannot be fetched again.
    if as_json:
        show_json({"token": made, "file": None if file is None else str(file)})
    else:
        print(made, flush=True)
    if file is not None:
        print(f"'{file}' has it now: the other commands here go on by it", file=sys.stderr)
    if was_given:
        print(
            "the old one came by --token or HYPERFLOCK_TOKEN: set the new one there; the old one "
            f"opens {_for_hours(grace_hours)}",
            file=sys.stderr,
        )
    if failure is not None:
        raise failure


def _for_hours(hours: float) -> str:
    return f"for {hours:g} h more" if hours else "nothing any more"


def _introduce(
    local: _up.LocalServer,
    running: _up.Running,
    found: list[Reach],
    *,
    share: bool,
    show_token: bool,
    as_json: bool,
) -> None:
    """Print the server's addresses and tokens."""
    told = local.credentials()
    best = next((reach for reach in found if reach.phones), found[0])
    code = told.get("enrolment_code")
    link = f"{best.origin}/join#{code}" if isinstance(code, str) else None
    secret = str(told.get("researcher_token", "")) if show_token else None
    if as_json:
        show_json(
            {
                "pid": running.pid,
                "console": running.console,
                "compute": running.compute,
                "join_url": link,
                "folder": str(local.folder),
                "token": secret,
                "addresses": [dataclasses.asdict(reach) for reach in found],
            }
        )
        return
    file = local.folder / CREDENTIALS_FILE
    show_lines(
        [
            ("console", f"{running.console}/research"),
            ("token", secret or f"in {file}, read by the other commands (--show-token prints it)"),
            ("join link", link or "'hyperflock join' makes one"),
            ("data", str(local.folder)),
        ]
    )
    if local.folder != data_folder().absolute():
        print(f"\nfor the other commands: export HYPERFLOCK_HOME='{local.folder}'")
    if share:
        _share(link, found)
    print("", end="", flush=True)


def _share(link: str | None, found: list[Reach]) -> None:
    if link is not None:
        print()
        _show_qr(link)
    print()
    for reach in found:
        note = f"; {reach.note}" if reach.note else ""
        print(f"{reach.origin}: {reach.who}{note}")
    if not any(reach.phones for reach in found):
        print(
            "No phone computes by these addresses. A tunnel or a name of your own gives HTTPS: "
            "then start with --public-url https://NAME (server/docs/phones.md has three ways)."
        )


def _show_qr(link: str) -> None:
    from hyperflock._cli.qr import terminal_qr

    print(terminal_qr(link))


def _say_goodbye(how: str, as_json: bool) -> None:
    if not as_json:
        print(f"{how}; studies and results are kept", flush=True)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Handle the signals that end this command like Ctrl-C, so that its server ends too."""

    def interrupt(number: int, frame: types.FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup ignores it
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
