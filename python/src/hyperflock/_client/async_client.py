"""The researcher's connection to a server, as coroutines. `Client` calls it and blocks.

    async with hyperflock.AsyncClient() as client:
        study = await client.grid(objective, space)
        async for trial in study: ...

It works on any event loop, also on a notebook's; several loops may use one client.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, overload
from urllib.parse import quote

from hyperflock._base.errors import (
    AuthError,
    HyperflockError,
    NotFoundError,
    ServerError,
    ServerUnreachableError,
)
from hyperflock._base.text import clean
from hyperflock._bundle.bundle import bundle_objective
from hyperflock._bundle.source.runtime import DEFAULT_RUNTIME, chainer_of
from hyperflock._bundle.wheels import read_wheels
from hyperflock._client.async_study import AsyncStudy, number_of
from hyperflock._client.placement import Requires, backend_of, requirements_of
from hyperflock._client.submission import DryRunChoice, GridOptions, Submission, key_of
from hyperflock._client.uploads import upload_missing
from hyperflock._execution.dry_run import DryRun
from hyperflock._model.data import prepare
from hyperflock._model.grid import Scalar, dimensions_of
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http, Origin
from hyperflock._transport.messages import Backend, Direction, StudyRow
from hyperflock._transport.settings import settings
from hyperflock._transport.validation import convert

if TYPE_CHECKING:
    from typing_extensions import Unpack

Space = Mapping[str, Sequence[Scalar]]
Data = Mapping[str, Any]
Objective = Callable[[Any], Any]

# The characters that a header may contain.
_TOKEN = re.compile(r"[!-~]+")


class AsyncClient:
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
        seconds, but 3 if nothing listens at the address and it has never answered.

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

    @overload
    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        dry_run: Literal[False] = ...,
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, AsyncStudy]: ...

    @overload
    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        dry_run: Literal[True, "cpython", "browser"],
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, DryRun]: ...

    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = None,
        name: str | None = None,
        *,
        direction: Direction = "minimize",
        seed: int = 0,
        runtime: str = DEFAULT_RUNTIME,
        backend: Backend | None = None,
        requires: Requires | None = None,
        time_limit_s: float = 3600,
        submit_key: str | None = None,
        once: bool = False,
        wheels: Sequence[str | Path] = (),
        dry_run: DryRunChoice = False,
        progress: bool | None = None,
    ) -> Coroutine[Any, Any, AsyncStudy | DryRun]:
        """Submit every point of ``space`` as a trial of one study.

        Parameters
        ----------
        objective
            ``objective(trial) -> float``, or a tuple of up to 8: a function of a script, a module
            or a notebook, a lambda, a closure, a ``functools.partial`` or a callable object. Its
            source is sent with all of the researcher's own code that it uses.
        space
            A mapping of names to lists of values: None, bool, int within 64 bits, finite float or
            str. NumPy scalars become Python's.
        data
            A mapping of names to paths, arrays or dicts of arrays, which a trial finds in
            ``trial.data[name]``. The same content is sent only once.
        name
            The study's name, which ``once`` uses as key. None means the objective's name.
        direction
            ``"minimize"`` or ``"maximize"``, for the first value.
        seed
            Determines every trial's seed (`trial_seed`).
        runtime
            What the devices load: ``chainer-7.8.1`` or ``chainer-5.4.0``.
        backend
            What ``hyperflock.device()`` returns in a trial. ``"webgpu"`` means that only devices
            with WebGPU run the trials, ``"cpu"`` means array-core's CPU back end, and ``"auto"``
            means the best of each device. None means ``"auto"`` if the code calls
            ``hyperflock.device``; otherwise devices do not load array-core.
        requires
            What a device must have to get trials; see `Requires`. `Study.placement` returns how
            many of the connected devices have it.
        time_limit_s
            The time limit of one trial; 0 means no limit.
        submit_key
            Makes submitting idempotent: a second submission with the same key and content returns
            the first study. None means a new key.
        once
            Use ``name`` as the key: the study is submitted once and found again afterwards.
        wheels
            Pure Python wheels (``...-py3-none-any.whl``) that the objective imports from.
        dry_run
            Run the first trial on this machine and submit nothing. True or ``"cpython"`` runs it in
            a Python process of its own, which can import what a browser has; ``"browser"`` runs it
            in a local headless Chromium with the server's browser runtime, which is fetched once
            and kept.
        progress
            Whether to show progress bars; by default only if standard error is a terminal.

        Returns
        -------
        Study
            The study; from `AsyncClient` an `AsyncStudy`. With ``dry_run`` the result is a `DryRun`
            with value, seconds, output and error.

        Raises
        ------
        BundleError, DataError, InvalidSpaceError
            Something cannot be sent. In this case nothing has been sent.
        StudyExistsError
            The key, or the name with ``once``, belongs to a study with other content.
        DryRunError
            The dry run could not start or finish.
        ServerError, ServerUnreachableError, HyperflockError
        """
        # This runs before the coroutine, because it reads the caller's stack and the current
        # values.
        if dry_run not in (False, True, "cpython", "browser"):
            raise HyperflockError(
                f"dry_run is {dry_run!r}, but may be True, 'cpython' or 'browser'",
                code="bad_field",
                field="dry_run",
            )
        chainer_of(runtime)
        requirements_of(requires)
        dimensions_of(space)
        key = key_of(name, submit_key, once=once)
        bundle = bundle_objective(objective, read_wheels(wheels))
        backend_of(backend, bundle)

        async def submitted() -> AsyncStudy | DryRun:
            made = Submission(
                bundle=bundle,
                space=space,
                data=await in_thread(lambda: prepare(data)),
                name=name or name_of(objective),
                direction=direction,
                seed=seed,
                runtime=runtime,
                backend=backend,
                requires=requires,
                time_limit_s=time_limit_s,
                submit_key=key,
            )
            if dry_run == "browser":
                return await self.try_in_browser(made)
            if dry_run:
                return await made.dry_run("cpython")
            return await self.submit(made, progress)

        return submitted()

    async def try_in_browser(self, made: Submission) -> DryRun:
        """Run the first trial of a prepared study in a browser on this machine."""
        return await made.dry_run("browser", self._http)

    async def submit(self, made: Submission, progress: bool | None = None) -> AsyncStudy:
        """Send a prepared study to the server."""
        body = made.body()  # checks everything before anything is sent
        await upload_missing(self._http, made.blobs, progress)
        try:
            row = await self._http.post("/api/studies", body)
        except ServerError as error:
            if error.code != "unknown_blob":
                raise
            # The deletion of another study has removed a blob in the meantime.
            await upload_missing(self._http, made.blobs, progress)
            row = await self._http.post("/api/studies", body)
        return self._study(row, progress)

    async def study(self, study_id: int | str) -> AsyncStudy:
        """Return the study with an id, or the newest one with a name.

        Raises
        ------
        NotFoundError
            There is no such study.
        """
        if isinstance(study_id, str) and not study_id.isdecimal():
            for study in await self.studies():
                if study.row.name == study_id:
                    return study
            raise NotFoundError(f"there is no study '{clean(study_id, limit=100)}'")
        return self._study(await self._http.get(f"/api/studies/{number_of(study_id, 'study')}"))

    async def studies(self) -> list[AsyncStudy]:
        """Return all studies that this token may see, the newest first."""
        return [self._study(row) for row in (await self._http.get("/api/studies"))["studies"]]

    async def join_url(self, project: str | None = None) -> str:
        """Return a new link by which volunteers join; anybody who has the link can use it."""
        body = {"project": project} if project else {}
        return str((await self._http.post("/api/enrolment", body))["join_url"])

    async def workers(self) -> list[dict[str, Any]]:
        """Return the connected devices, as the server shows them."""
        return list((await self._http.get("/api/workers"))["workers"])

    async def revoke(self, device: str) -> None:
        """Ban a device: its attempts go to others, and it cannot join again. For administrators.

        Raises
        ------
        AuthError
            ``forbidden``: the token does not belong to an administrator.
        ServerError
            ``unknown_device``: there is no such device.
        """
        await self._http.post(f"/api/devices/{quote(device, safe='')}/revoke", {})

    async def tokens(self) -> list[dict[str, Any]]:
        """Return this user's tokens, as the server shows them; for administrators, all tokens.

        The tokens' texts are not stored; each token has a number.
        """
        return list((await self._http.get("/api/tokens"))["tokens"])

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

    def _study(self, row: Any, progress: bool | None = None) -> AsyncStudy:
        return AsyncStudy(self._http, convert(row, StudyRow), progress=progress)


def name_of(objective: Objective) -> str:
    """Return an objective's name for people: the function's, or the class's."""
    inner: Any = getattr(objective, "func", objective)
    name = getattr(inner, "__name__", type(inner).__name__)
    return "objective" if name == "<lambda>" else str(name)
