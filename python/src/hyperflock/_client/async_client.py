"""The researcher's connection to a server, as coroutines: the core that `Client` is a face of.

    async with hyperflock.AsyncClient() as client:
        study = await client.grid(objective, space)
        async for trial in study: ...

For any event loop, a notebook's too; one client may be used by several.
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

# Of what may stand in a header.
_TOKEN = re.compile(r"[!-~]+")


class AsyncClient:
    """A researcher's connection to one server, for ``await``.

    Parameters
    ----------
    url
        The console's address; None: the variable ``HYPERFLOCK_URL``, else that of the server that
        ``hyperflock up`` runs here, else ``http://127.0.0.1:8790``.
    token
        A researcher's token; None: the variable ``HYPERFLOCK_TOKEN``, else, for the server that
        ``hyperflock up`` runs here, the one that it made.
    patience_s
        How long a request is retried while the server does not answer; None: 30 seconds, and no
        longer than 3 where nothing listens, until it has answered for the first time.

    Raises
    ------
    AuthError
        ``no_token``: there is no token, or what was given is none.
    ServerUnreachableError
        Neither address nor token was given, and no server runs here.
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
            ``objective(trial) -> float`` (or a tuple of up to 8): a function of a script, a module
            or a notebook, a lambda, a closure, a ``functools.partial``, a callable object. Its
            source travels, with all of the researcher's own that it uses.
        space
            Name to list of values (None, bool, int within 64 bits, finite float, str; NumPy
            scalars become Python's).
        data
            Name to path, array or dict of arrays; there as ``trial.data[name]``. Sent once by its
            hash.
        name
            For people, and what ``once`` goes by; None: the objective's name.
        direction
            Whether a small or a large (first) value is good.
        seed
            Fixes every trial's seed (`trial_seed`).
        runtime
            What the volunteers' side has: ``chainer-7.8.1`` or ``chainer-5.4.0``.
        backend
            What ``hyperflock.device()`` gives in a trial: ``"webgpu"``, and then only devices that
            have it run the trials; ``"cpu"``, array-core's own; ``"auto"``, the best of each
            device. None: ``"auto"`` where the code calls ``hyperflock.device``, else no device, and
            volunteers fetch nothing for it.
        requires
            What a device must have to get trials: `Requires`. `Study.placement` tells which of the
            connected ones do.
        time_limit_s
            Of one trial; 0: none.
        submit_key
            Makes submitting idempotent: the same key with the same content again gives the study
            of the first time. None: a new one.
        once
            Take ``name`` for the key: a named study is submitted once, and found again after.
        wheels
            Pure Python wheels (``...-py3-none-any.whl``) that the objective imports from.
        dry_run
            Run the first trial here and submit nothing: True (or ``"cpython"``) in a Python process
            of its own that sees what a browser has; ``"browser"`` in a local headless Chromium, by
            the server's own browser runtime, which is fetched once and kept.
        progress
            Progress bars; None: when standard error is a terminal.

        Returns
        -------
        Study
            From `Client`, an `AsyncStudy` from `AsyncClient`. With ``dry_run`` a `DryRun`: what the
            run found, value, seconds, output, error.

        Raises
        ------
        BundleError, DataError, InvalidSpaceError
            Something cannot travel; nothing has been sent then.
        StudyExistsError
            The key, or the name with ``once``, belongs to a study of other content.
        DryRunError
            The dry run could not be made.
        ServerError, ServerUnreachableError, HyperflockError
        """
        # Here and not in the coroutine: it looks at its caller's stack, and at objects as they are.
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
        """Run the first trial of what `submit` would send in a browser here."""
        return await made.dry_run("browser", self._http)

    async def submit(self, made: Submission, progress: bool | None = None) -> AsyncStudy:
        """Send what `grid` and the command prepare."""
        body = made.body()  # checks all of it before the first byte leaves
        await upload_missing(self._http, made.blobs, progress)
        try:
            row = await self._http.post("/api/studies", body)
        except ServerError as error:
            if error.code != "unknown_blob":
                raise
            # What was there went with a study that was deleted in between.
            await upload_missing(self._http, made.blobs, progress)
            row = await self._http.post("/api/studies", body)
        return self._study(row, progress)

    async def study(self, study_id: int | str) -> AsyncStudy:
        """Find a study by its id, or the newest one by its name.

        Raises
        ------
        NotFoundError
            There is none.
        """
        if isinstance(study_id, str) and not study_id.isdecimal():
            for study in await self.studies():
                if study.row.name == study_id:
                    return study
            raise NotFoundError(f"there is no study '{clean(study_id, limit=100)}'")
        return self._study(await self._http.get(f"/api/studies/{number_of(study_id, 'study')}"))

    async def studies(self) -> list[AsyncStudy]:
        """All studies that this token may see, the newest first."""
        return [self._study(row) for row in (await self._http.get("/api/studies"))["studies"]]

    async def join_url(self, project: str | None = None) -> str:
        """Make a new link by which volunteers join; everyone who has it can."""
        body = {"project": project} if project else {}
        return str((await self._http.post("/api/enrolment", body))["join_url"])

    async def workers(self) -> list[dict[str, Any]]:
        """Volunteers' devices that are connected now, as the server shows them."""
        return list((await self._http.get("/api/workers"))["workers"])

    async def revoke(self, device: str) -> None:
        """Shut a device out: its attempts go to others, and it cannot come back (administrators).

        Raises
        ------
        AuthError
            ``forbidden``: the token is no administrator's.
        ServerError
            ``unknown_device``: there is none.
        """
        await self._http.post(f"/api/devices/{quote(device, safe='')}/revoke", {})

    async def tokens(self) -> list[dict[str, Any]]:
        """One's own tokens, as the server shows them; an administrator sees everybody's.

        The tokens themselves are not kept anywhere; each goes by its number.
        """
        return list((await self._http.get("/api/tokens"))["tokens"])

    async def rotate_token(self, grace_s: int = 86_400) -> str:
        """Make a new token for oneself; the one in use ends after ``grace_s`` seconds."""
        return str((await self._http.post("/api/tokens/rotate", {"grace_s": grace_s}))["token"])

    async def revoke_token(self, token: int) -> None:
        """End a token now, by its number.

        Raises
        ------
        ServerError
            ``unknown_token``: there is none, or it is somebody else's; ``last_admin``: nobody could
            administer the server without it.
        """
        await self._http.post(f"/api/tokens/{number_of(token, 'token')}/revoke", {})

    async def server(self) -> dict[str, Any]:
        """Who we are to the server and what it is: name, role, version, join origin, limits."""
        return dict(await self._http.get("/api/me"))

    def _study(self, row: Any, progress: bool | None = None) -> AsyncStudy:
        return AsyncStudy(self._http, convert(row, StudyRow), progress=progress)


def name_of(objective: Objective) -> str:
    """A name for people: of the function, else of the class."""
    inner: Any = getattr(objective, "func", objective)
    name = getattr(inner, "__name__", type(inner).__name__)
    return "objective" if name == "<lambda>" else str(name)
