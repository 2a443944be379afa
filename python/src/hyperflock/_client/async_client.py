"""The researcher's connection to a server, as coroutines. `Client` calls it and blocks.

    async with hyperflock.AsyncClient() as client:
        study = await client.grid(objective, space)
        async for trial in study: ...

It works on any event loop, also on a notebook's; several loops may use one client.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any
from urllib.parse import quote

from hyperflock._base.errors import (
    AuthError,
    HyperflockError,
    NotFoundError,
    ServerError,
    ServerUnreachableError,
    StudyExistsError,
)
from hyperflock._base.text import clean
from hyperflock._client.async_study import AsyncStudy
from hyperflock._client.numbers import number_of
from hyperflock._client.other_content import extended
from hyperflock._client.packs import check_packs, packs_of
from hyperflock._client.searches import AsyncSearches
from hyperflock._client.submission import Submission
from hyperflock._client.uploads import upload_missing
from hyperflock._execution.dry_run import DryRun
from hyperflock._transport.http import Http, Origin
from hyperflock._transport.messages import StudyRow, WebhookSecret
from hyperflock._transport.pages import pages, whole
from hyperflock._transport.settings import settings
from hyperflock._transport.validation import convert

# The prefix that marks a text as a study's name.
_NAME = "name:"
# The most ids that an error lists.
_MAX_IDS = 20
# The characters that a header may contain.
_TOKEN = re.compile(r"[!-~]+")


class AsyncClient(AsyncSearches):
    """A researcher's connection to one server; its methods are coroutines.

    Parameters
    ----------
    url
        The console's address. None means ``HYPERFLOCK_URL``, or the server that ``hyperflock up``
        runs here, or ``http://127.0.0.1:8790``.
    token
        A researcher's token. None means ``HYPERFLOCK_TOKEN``, or the token of the server that
        ``hyperflock up`` runs here.
    patience_s
        For how many seconds a request is repeated while the server does not answer. None means 30
        seconds, but 3 if nothing listens at the address and no server has ever answered there.

    Raises
    ------
    AuthError
        ``no_token``: there is no token, or the given text cannot be one.
    ServerUnreachableError
        No address and no token were given, and no server runs here.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, patience_s: float | None = None
    ) -> None:
        found = settings(url, token)
        if found.is_guess and not found.token:
            raise ServerUnreachableError(
                "no server runs on this machine: start one by 'hyperflock up', or give url=... and "
                "token=... (HYPERFLOCK_URL, HYPERFLOCK_TOKEN)"
            )
        if not found.token:
            raise AuthError("no token: give token=... or set HYPERFLOCK_TOKEN", code="no_token")
        if not _TOKEN.fullmatch(found.token):
            raise AuthError("what was given as a token is none", code="no_token")
        self._http = Http(Origin.parse(found.url), found.token, patience_s=patience_s)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections; studies go on."""
        self._http.close()

    @property
    def url(self) -> str:
        """The console's address."""
        return self._http.origin.url

    async def try_in_browser(self, made: Submission) -> DryRun:
        """Run the first trial of a prepared study in a browser on this machine."""
        return await made.dry_run("browser", self._http)

    async def submit(self, made: Submission, progress: bool | None = None) -> AsyncStudy:
        """Send a prepared study to the server."""
        body = made.body()  # checks everything before anything is sent
        await check_packs(self._http, made.bundle.content)
        await upload_missing(self._http, made.blobs, progress)
        try:
            row = await self._http.post("/api/studies", body)
        except StudyExistsError as error:
            row = await extended(self._http, made, error)
        except ServerError as error:
            if error.code != "unknown_blob":
                raise
            # The server may have deleted a blob together with another study after the upload.
            await upload_missing(self._http, made.blobs, progress)
            row = await self._http.post("/api/studies", body)
        return self._study(row, progress)

    async def study(self, study_id: int | str) -> AsyncStudy:
        """Return the study with an id or a name.

        A text of digits is an id; if no study has this id, it is a name. ``"name:"`` in front of a
        text says that it is a name: ``"name:2026"``.

        Raises
        ------
        NotFoundError
            There is no such study.
        HyperflockError
            ``ambiguous_study``: several studies have the name; the message lists their ids.
        """
        if isinstance(study_id, str) and not study_id.isdecimal():
            return await self._named(study_id)
        try:
            row = await self._http.get(f"/api/studies/{number_of(study_id, 'study')}")
        except NotFoundError:
            named = await self._with_name(study_id) if isinstance(study_id, str) else None
            if named is None:
                raise
            return named
        return self._study(row)

    async def _named(self, text: str) -> AsyncStudy:
        """Return the study with the name ``text``; the text may begin with ``name:``."""
        found = await self._with_name(text)
        if found is None and text.startswith(_NAME):
            found = await self._with_name(text.removeprefix(_NAME))
        if found is None:
            raise NotFoundError(f"there is no study '{clean(text, limit=100)}'")
        return found

    async def _with_name(self, name: str) -> AsyncStudy | None:
        found = [study async for study in self._each_study() if study.row.name == name]
        if len(found) > 1:
            ids = ", ".join(str(study.id) for study in found[:_MAX_IDS])
            more = ", ..." if len(found) > _MAX_IDS else ""
            raise HyperflockError(
                f"{len(found)} studies are called '{clean(name, limit=100)}'; "
                f"choose one by its id: {ids}{more}",
                code="ambiguous_study",
            )
        return found[0] if found else None

    async def studies(self) -> list[AsyncStudy]:
        """Return all studies that this token may see, the newest first."""
        return [study async for study in self._each_study()]

    async def _each_study(self) -> AsyncIterator[AsyncStudy]:
        """Yield the studies that this token may see, the newest first.

        They are fetched page by page while they are needed, so the newest ones of very many come at
        once.
        """
        async for rows in pages(self._http, "/api/studies", "studies"):
            for row in rows:
                yield self._study(row)

    async def _newest(self) -> tuple[list[StudyRow], bool]:
        """Return the rows of the newest studies, and whether there are no older studies."""
        page = await self._http.get("/api/studies")
        rows = [convert(row, StudyRow) for row in page["studies"]]
        return rows, page.get("more") is not True

    async def join_url(self, project: str | None = None) -> str:
        """Return a new link by which volunteers join; anybody who has the link can use it."""
        body = {"project": project} if project else {}
        return str((await self._http.post("/api/enrolment", body))["join_url"])

    async def workers(self) -> list[dict[str, Any]]:
        """Return the connected devices, as the server shows them."""
        return await whole(self._http, "/api/workers", "workers")

    async def revoke(
        self, device: str, *, reject: bool = False, reason: str = ""
    ) -> dict[str, Any]:
        """Ban a device: its attempts go to others, and its credential is refused from now on.

        Parameters
        ----------
        device
            Its id. It must belong to a project that is open to you.
        reject
            Also reject what it has sent, as `Study.reject` does, in all of your studies; for an
            administrator, in all studies.
        reason
            Why it is rejected.

        Returns
        -------
        dict
            ``device`` and ``revoked``. With ``reject`` also the numbers of ``studies``, of
            ``rejected`` attempts and of ``trials`` that run again.

        Raises
        ------
        ServerError
            ``unknown_device``: there is no such device in your projects.
        """
        body: dict[str, Any] = {}
        if reject:
            body["reject"] = True
            if reason:
                body["reason"] = reason
        return dict(await self._http.post(f"/api/devices/{quote(device, safe='')}/revoke", body))

    async def webhook_secret(self, *, renew: bool = False) -> str:
        """Return the key with which the server signs its posts to this user's webhooks.

        With ``renew`` the server makes a new key and no longer signs with the old one.
        """
        told = await self._http.post("/api/webhook-secret", {"renew": renew})
        return convert(told, WebhookSecret).secret

    async def tokens(self) -> list[dict[str, Any]]:
        """Return this user's tokens, as the server shows them; for administrators, all tokens.

        The tokens' texts are not stored; each token has a number.
        """
        return await whole(self._http, "/api/tokens", "tokens")

    async def rotate_token(self, grace_s: int = 86_400) -> str:
        """Return a new token for oneself; the current one expires after ``grace_s`` seconds."""
        return str((await self._http.post("/api/tokens/rotate", {"grace_s": grace_s}))["token"])

    async def revoke_token(self, token: int) -> None:
        """Revoke a token by its number.

        Raises
        ------
        ServerError
            ``unknown_token``: there is no such token, or it is somebody else's. ``last_admin``: it
            is the last administrator's token.
        """
        await self._http.post(f"/api/tokens/{number_of(token, 'token')}/revoke", {})

    async def server(self) -> dict[str, Any]:
        """Return this user's name and role, and the server's version and limits."""
        return dict(await self._http.get("/api/me"))

    async def packs(self) -> dict[str, str]:
        """Return the versions of the packages, such as scikit-learn, that the server has for
        browsers in addition to NumPy, Chainer and Optuna, by their names. A browser fetches one
        only for a study whose code imports it.
        """
        return await packs_of(self._http)

    def _study(self, row: Any, progress: bool | None = None) -> AsyncStudy:
        return AsyncStudy(self._http, convert(row, StudyRow), progress=progress)
