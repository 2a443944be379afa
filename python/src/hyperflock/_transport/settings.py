"""Finds a server's address and token in arguments, in the environment, or in the data folder.

    found = settings(url=None, token=None)
    found.url, found.token

``hyperflock up`` writes its server's address and first tokens into the data folder, readable by the
user alone. If no address is given, that address is used. If no token is given, the first of these
tokens is used for that address. Any thread may use this module.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperflock._base.errors import HyperflockError

DEFAULT_URL = "http://127.0.0.1:8790"
READY_FILE = "ready.json"
CREDENTIALS_FILE = "credentials.json"
AUTHORITY_FOLDER = "authority"
AUTHORITY_FILE = "ca.pem"
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_TOKENS = ("researcher_token", "admin_token")


@dataclass(frozen=True)
class Settings:
    """An address and a token; the token is empty if none is known.

    ``is_guess`` is true if no address was given and no server runs here.
    """

    url: str
    token: str
    is_guess: bool = False


def settings(url: str | None, token: str | None) -> Settings:
    """Return the server's address and token. Spaces and newlines around the token are removed."""
    url = url or os.environ.get("HYPERFLOCK_URL") or None
    token = str(token or os.environ.get("HYPERFLOCK_TOKEN") or token_in_file()).strip()
    here = settings_here()
    if here is not None and url in {None, here.url}:
        return Settings(here.url, token or here.token)
    return Settings(url or DEFAULT_URL, token, is_guess=url is None)


def token_in_file() -> str:
    """Return the token in the file that ``HYPERFLOCK_TOKEN_FILE`` names, as containers get their
    secrets; empty if it names none.

    Raises
    ------
    HyperflockError
        ``cannot_read``: the file cannot be read.
    """
    file = os.environ.get("HYPERFLOCK_TOKEN_FILE")
    if not file:
        return ""
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise HyperflockError(
            f"HYPERFLOCK_TOKEN_FILE: '{file}' cannot be read: {error}", code="cannot_read"
        ) from None


def settings_here() -> Settings | None:
    """Return the address and first token of the server that runs here; None if none runs."""
    folder = data_folder()
    console = read_json_file(folder / READY_FILE).get("console")
    if not isinstance(console, str):
        return None
    token = read_json_file(folder / CREDENTIALS_FILE).get("researcher_token")
    return Settings(console, token if isinstance(token, str) else "")


def authority_here(url: str) -> Path | None:
    """Return the certificate of this machine's own authority, for an address of the server that
    runs here; None for any other address.

    ``hyperflock up --share`` makes the authority for phones of the local network (authority.py).
    The system does not know it, and only connections to that server need it.
    """
    folder = data_folder()
    file = folder / AUTHORITY_FOLDER / AUTHORITY_FILE
    asked = _place(url)
    if asked is None or not file.is_file():
        return None
    told = read_json_file(folder / READY_FILE)
    known = {_place(str(told.get(name))) for name in ("console", "compute")} - {None}
    ports = {str(port) for port in (told.get("compute_port"), told.get("console_port"))}
    is_here = asked[0] in _LOOPBACK and str(asked[1]) in ports
    return file if is_here or asked in known else None


def _place(url: str) -> tuple[str, int] | None:
    """Return the host and the port of an HTTPS address."""
    try:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            return None
        return parts.hostname, parts.port or 443
    except ValueError:
        return None


def data_folder() -> Path:
    """Return the data folder of ``hyperflock up``: ``HYPERFLOCK_HOME``, or the system's default."""
    home = os.environ.get("HYPERFLOCK_HOME")
    if home:
        return Path(home)
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "hyperflock"


def keep_token(old: str, new: str) -> Path | None:
    """Replace an old token by a new one in this machine's file of tokens.

    Returns
    -------
    Path or None
        The file; None if it does not contain the old token.

    Raises
    ------
    HyperflockError
        ``cannot_write``.
    """
    path = data_folder() / CREDENTIALS_FILE
    told = read_json_file(path)
    held = [name for name in _TOKENS if told.get(name) == old]
    if not held:
        return None
    try:
        _write_secret(path, json.dumps({**told, **dict.fromkeys(held, new)}) + "\n")
    except OSError as error:
        raise HyperflockError(
            f"'{path}' still has the token of before: {error.strerror or error}",
            code="cannot_write",
        ) from None
    return path


def read_json_file(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if there is no such file."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read. A crash leaves the old file or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # of mode 0600
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
