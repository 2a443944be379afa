"""The commands for servers and their users: status, doctor, join, devices, revoke, tokens.

Each command runs in one thread.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from enum import Enum
from typing import Annotated, Any

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._cli import tables as _tables
from hyperflock._cli.qr import terminal_qr
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
    terminal_width,
)
from hyperflock._cli.signals import goes_on
from hyperflock._client.client import Client
from hyperflock._local.parts import find_program
from hyperflock._local.server import LocalServer
from hyperflock._transport.settings import data_folder, keep_token, settings


class Shell(str, Enum):
    """A shell for which `completion` prints a script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


@command("hyperflock status", "hyperflock status --json")
def status(as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """Show the server's state: studies, trials, devices."""
    local = LocalServer(data_folder().absolute()).running()
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

    asked = settings(url, token)
    found: list[Check] = []
    for check in checks(asked, browser=browser):
        found.append(check)
        if not as_json:
            print(f"{check.state:<8} {check.name:<10} {check.found}", flush=True)
            if check.remedy:
                print(f"{'':<19} -> {check.remedy}", flush=True)
    if as_json:
        show_json([dataclasses.asdict(check) for check in found])
    if asked.is_guess:
        # No server is known. If the installation does not contain the server's program either,
        # `find_program` raises an error that says how to get it.
        find_program()
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
        print(terminal_qr(link))
    return 0


@command("hyperflock devices", "hyperflock devices --json")
def devices(as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """List the devices that are connected now."""
    found = Client(url, token).workers()
    if as_json:
        show_json(found)
    else:
        console().print(_tables.devices(found, short=terminal_width() is not None))
    return 0


@command("hyperflock revoke d_0f3a", "hyperflock revoke d_0f3a --reject --reason 'it lies'")
def revoke(
    device: Annotated[str, typer.Argument(metavar="DEVICE", help="As 'hyperflock devices' shows.")],
    reject: Annotated[
        bool, typer.Option("--reject", help="Also reject what it has sent in your studies.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why it is rejected.", show_default=False)] = "",
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Ban a device of your projects; its trials go to others.

    With --reject, its results do not count any more, and their trials run again on other devices:
    in your studies, or in all studies if you are an administrator.
    """
    if reason and not reject:
        raise typer.BadParameter("--reason goes with --reject")
    done = Client(url, token).revoke(device, reject=reject, reason=reason)
    if as_json:
        show_json(done)
        return 0
    print(f"{clean(device)} is shut out")
    if reject:
        print(
            f"{done['rejected']} attempts in {done['studies']} studies are rejected,"
            f" {done['trials']} trials run again"
        )
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
        console().print(_tables.tokens(client.tokens(), short=terminal_width() is not None))
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
    # typer prints the script if this environment variable has this value. The script itself uses
    # the same variable when it asks for completions.
    os.environ["_HYPERFLOCK_COMPLETE"] = f"source_{shell.value}"
    try:
        app([], prog_name="hyperflock")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    finally:
        del os.environ["_HYPERFLOCK_COMPLETE"]
    return 0


def _rotate(
    client: Client, old: str, grace_hours: float, *, was_given: bool, as_json: bool
) -> None:
    """Make a new token and store it where this machine stores the old one."""
    goes_on("interrupted: see by 'hyperflock tokens' whether there is a new token, and revoke it")
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
