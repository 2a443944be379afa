"""Finds out whether the server answers at the address that phones use.

    silence("https://four-short-words.trycloudflare.com", None)     # None: it answers
    silence("https://192.168.1.20:8780", authority.root)            # or a text that says why not

A tunnel has an address some seconds before the address works. Functions block; any thread may call
them.
"""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path

from hyperflock._base.text import clean
from hyperflock._transport.http import AGENT

_TIMEOUT_S = 10.0
_MOST_BYTES = 65_536


def silence(origin: str, authority: Path | None) -> str | None:
    """Return why no server answers at an HTTPS origin; None if one does.

    Parameters
    ----------
    origin
        The server's origin for volunteers.
    authority
        The certificate of the authority that has signed the server's. None if another party ends
        TLS, as a tunnel does: its certificate is not checked, because only ``/healthz`` is asked
        for, and the answer is no secret.
    """
    asked = urllib.request.Request(f"{origin}/healthz", headers={"User-Agent": AGENT})
    try:
        with _opener(authority).open(asked, timeout=_TIMEOUT_S) as answer:
            told = json.loads(answer.read(_MOST_BYTES))
    except urllib.error.HTTPError as error:
        error.close()
        return f"the answer is {error.code}"
    except urllib.error.URLError as error:
        return clean(str(error.reason), limit=200)
    except (OSError, http.client.HTTPException) as error:
        return clean(str(error) or type(error).__name__, limit=200)
    except ValueError:
        told = None
    if isinstance(told, dict) and told.get("status") == "ok":
        return None
    return "another program answers"


def _opener(authority: Path | None) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context()
    if authority is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))
    context.load_verify_locations(authority)
    # This request uses no proxy, because phones of the local network reach the server without one.
    direct = urllib.request.ProxyHandler({})
    return urllib.request.build_opener(direct, urllib.request.HTTPSHandler(context=context))
