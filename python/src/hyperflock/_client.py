"""The researcher's connection to a server: submit studies, find them again, invite volunteers.

Blocking; a client may be used by several threads.
"""

from __future__ import annotations

import io
import os
import platform
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, overload

from hyperflock._blobs import Blob, upload_missing
from hyperflock._bundle import Bundle, bundle_objective
from hyperflock._data import DataSet, prepare
from hyperflock._dry_run import DryRun, dry_run
from hyperflock._errors import AuthError, HyperflockError
from hyperflock._grid import Scalar, dimensions_of, grid_point, trial_seed
from hyperflock._http import AGENT, DEFAULT_URL, Http, Origin
from hyperflock._local import run_local
from hyperflock._protocol import BlobRef, Direction, Runtime, StudyRow
from hyperflock._schema import convert
from hyperflock._spec import Limits, StudySpec, encode_spec
from hyperflock._study import Study
from hyperflock._wheels import read_wheels


class Client:
    """A researcher's connection to one server.

    Parameters
    ----------
    url
        The console's address; None: the variable ``HYPERFLOCK_URL``, else
        ``http://127.0.0.1:8790``.
    token
        A researcher's token; None: the variable ``HYPERFLOCK_TOKEN``.
    patience_s
        How long a request is retried while the server does not answer.

    Raises
    ------
    AuthError
        ``no_token``: there is no token.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, patience_s: float = 30.0
    ) -> None:
        self._origin = Origin.parse(url or os.environ.get("HYPERFLOCK_URL") or DEFAULT_URL)
        self._token = token or os.environ.get("HYPERFLOCK_TOKEN") or ""
        if not self._token:
            raise AuthError("no token: give token=... or set HYPERFLOCK_TOKEN", code="no_token")
        self._http = Http(self._origin, self._token, patience_s=patience_s)

    def __enter__(self) -> Client:
        return self

    def __exit__(
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
        return self._origin.url

    @overload
    def grid(
        self,
        objective: Callable[[Any], Any],
        space: Mapping[str, Sequence[Scalar]],
        data: Mapping[str, Any] | None = None,
        name: str | None = None,
        *,
        direction: Direction = ...,
        seed: int = ...,
        chainer: str = ...,
        time_limit_s: float = ...,
        submit_key: str | None = None,
        once: bool = ...,
        wheels: Sequence[str | Path] = (),
        dry_run: Literal[False] = ...,
        progress: bool | None = None,
    ) -> Study: ...

    @overload
    def grid(
        self,
        objective: Callable[[Any], Any],
        space: Mapping[str, Sequence[Scalar]],
        data: Mapping[str, Any] | None = None,
        name: str | None = None,
        *,
        direction: Direction = ...,
        seed: int = ...,
        chainer: str = ...,
        time_limit_s: float = ...,
        submit_key: str | None = None,
        once: bool = ...,
        wheels: Sequence[str | Path] = (),
        dry_run: Literal[True, "cpython", "browser"],
        progress: bool | None = None,
    ) -> DryRun: ...

    def grid(
        self,
        objective: Callable[[Any], Any],
        space: Mapping[str, Sequence[Scalar]],
        data: Mapping[str, Any] | None = None,
        name: str | None = None,
        *,
        direction: Direction = "minimize",
        seed: int = 0,
        chainer: str = "7.8.1",
        time_limit_s: float = 3600,
        submit_key: str | None = None,
        once: bool = False,
        wheels: Sequence[str | Path] = (),
        dry_run: bool | Literal["cpython", "browser"] = False,
        progress: bool | None = None,
    ) -> Study | DryRun:
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
        chainer
            Version on the volunteers' side: ``7.8.1`` or ``5.4.0``.
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
            of its own that sees what a browser has; ``"browser"`` in a local headless Chromium.
        progress
            Progress bars; None: when standard error is a terminal.

        Returns
        -------
        Study
            Or, with ``dry_run``, what the run found: value, seconds, output, error.

        Raises
        ------
        BundleError, DataError, InvalidSpaceError
            Something cannot travel; nothing has been sent then.
        StudyExistsError
            The key, or the name with ``once``, belongs to a study of other content.
        DryRunError
            The dry run could not be made.
        ServerError, ServerUnreachableError
        """
        dimensions_of(space)
        key = key_of(name, submit_key, once=once)
        bundle = bundle_objective(objective, read_wheels(wheels))
        items = prepare(data)
        if dry_run:
            return self._dry_run(
                bundle,
                space,
                items,
                seed=seed,
                chainer=chainer,
                time_limit_s=time_limit_s,
                in_browser=dry_run == "browser",
            )
        return self._submit(
            bundle,
            space,
            items,
            name=name or _name_of(objective),
            direction=direction,
            seed=seed,
            chainer=chainer,
            time_limit_s=time_limit_s,
            submit_key=key,
            progress=progress,
        )

    def study(self, study_id: int) -> Study:
        """Find a study by its id.

        Raises
        ------
        NotFoundError
            There is none.
        """
        return self._study(self._http.get(f"/api/studies/{int(study_id)}"))

    def studies(self) -> list[Study]:
        """All studies that this token may see, the newest first."""
        return [self._study(row) for row in self._http.get("/api/studies")["studies"]]

    def join_url(self, project: str | None = None) -> str:
        """Make a new link by which volunteers join; everyone who has it can."""
        body = {"project": project} if project else {}
        return str(self._http.post("/api/enrolment", body)["join_url"])

    def workers(self) -> list[dict[str, Any]]:
        """Volunteers' devices that are connected now, as the server shows them."""
        return list(self._http.get("/api/workers")["workers"])

    def run_local(
        self,
        objective: Callable[[Any], Any],
        params: Mapping[str, Scalar],
        seed: int = 0,
        data: Mapping[str, Any] | None = None,
    ) -> float | tuple[float, ...] | None:
        """Run one trial in this process, seeded as on a device; its value, None when it was pruned.

        `hyperflock.run_local` tells the reported curve too and needs no server.
        """
        return run_local(objective, params, seed, data).value

    # ---- inside

    @staticmethod
    def _dry_run(
        bundle: Bundle,
        space: Mapping[str, Sequence[Scalar]],
        data: Sequence[DataSet],
        *,
        seed: int,
        chainer: str,
        time_limit_s: float,
        in_browser: bool,
    ) -> DryRun:
        return dry_run(
            bundle,
            data,
            params=grid_point(space, 0),
            seed=trial_seed(seed, 0),
            chainer=chainer,
            time_limit_s=time_limit_s,
            where="browser" if in_browser else "cpython",
        )

    def _submit(
        self,
        bundle: Bundle,
        space: Mapping[str, Sequence[Scalar]],
        data: Sequence[DataSet],
        *,
        name: str,
        direction: Direction,
        seed: int,
        chainer: str,
        time_limit_s: float,
        submit_key: str | None,
        progress: bool | None,
    ) -> Study:
        if not 0 <= time_limit_s < 2**43:
            raise HyperflockError(
                "time_limit_s is not a number of seconds from 0 on", code="bad_number"
            )
        spec = StudySpec(
            name=name,
            submit_key=submit_key or uuid.uuid4().hex,
            direction=direction,
            entry=bundle.entry,
            bundle=BlobRef(bundle.sha256, len(bundle.content)),
            space=dimensions_of(space),
            data=[item.ref for item in (*data, *bundle.attached)],
            seed=seed,
            runtime=Runtime(chainer),
            limits=Limits(time_limit_ms=round(time_limit_s * 1000)),
            provenance={
                "client": AGENT,
                "python": platform.python_version(),
                "source_sha256": bundle.source_sha256,
                "files": list(bundle.files[:200]),
            },
        )
        # Everything is checked before the first byte leaves.
        body = encode_spec(spec)
        blobs = [
            Blob(bundle.sha256, len(bundle.content), "the code", lambda: io.BytesIO(bundle.content))
        ]
        blobs += [
            Blob(d.ref.sha256, d.ref.bytes, f"'{d.ref.name}'", d.open)
            for d in (*data, *bundle.attached)
        ]
        upload_missing(self._http, blobs, progress)
        return self._study(self._http.post("/api/studies", body), progress)

    def _study(self, row: Any, progress: bool | None = None) -> Study:
        return Study(
            self._http, self._origin, self._token, convert(row, StudyRow), progress=progress
        )


def key_of(name: str | None, submit_key: str | None, *, once: bool) -> str | None:
    """Make the key of a study that may be submitted once by its name.

    Raises
    ------
    HyperflockError
        ``bad_once``: there is no name, or a key beside it.
    """
    if not once:
        return submit_key
    if submit_key or not name:
        raise HyperflockError("'once' needs a name and no submit_key", code="bad_once")
    return f"name:{name}"


def _name_of(objective: Callable[..., Any]) -> str:
    """A name for people: of the function, else of the class."""
    inner: Any = getattr(objective, "func", objective)
    name = getattr(inner, "__name__", type(inner).__name__)
    return "objective" if name == "<lambda>" else str(name)
