"""The researcher's connection to a server: submit studies, find them again, invite volunteers.

Blocking; a client may be used by several threads.
"""

from __future__ import annotations

import io
import os
import platform
import uuid
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from hyperflock._blobs import Blob, upload_missing
from hyperflock._bundle import Bundle, bundle_objective
from hyperflock._data import DataSet, prepare
from hyperflock._errors import AuthError, HyperflockError
from hyperflock._grid import Scalar, dimensions_of
from hyperflock._http import AGENT, DEFAULT_URL, Http, Origin
from hyperflock._local import run_local
from hyperflock._protocol import BlobRef, Direction, Runtime, StudyRow
from hyperflock._schema import convert
from hyperflock._spec import Limits, StudySpec, encode_spec
from hyperflock._study import Study


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
        progress: bool | None = None,
    ) -> Study:
        """Submit every point of ``space`` as a trial of one study.

        Parameters
        ----------
        objective
            ``objective(trial) -> float`` (or a tuple of up to 8), a function at the top of a
            script or of a module. Its source travels, with the modules of the same folder that it
            imports.
        space
            Name to list of values (None, bool, int within 64 bits, finite float, str; NumPy
            scalars become Python's).
        data
            Name to path, array or dict of arrays; there as ``trial.data[name]``. Sent once by its
            hash.
        name
            For people; None: the objective's name.
        direction
            Whether a small or a large (first) value is good.
        seed
            Fixes every trial's seed (`trial_seed`).
        chainer
            Version on the volunteers' side: ``7.8.1`` or ``5.4.0``.
        time_limit_s
            Of one trial; 0: none.
        submit_key
            Makes submitting idempotent: the same key again gives the study of the first time.
            None: a new one.
        progress
            Progress bars; None: when standard error is a terminal.

        Raises
        ------
        BundleError, DataError, InvalidSpaceError
            Something cannot travel; nothing has been sent then.
        ServerError, ServerUnreachableError
        """
        dimensions_of(space)
        return self._submit(
            bundle_objective(objective),
            space,
            prepare(data),
            name=name or objective.__name__,
            direction=direction,
            seed=seed,
            chainer=chainer,
            time_limit_s=time_limit_s,
            submit_key=submit_key,
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
            data=[item.ref for item in data],
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
        blobs += [Blob(d.ref.sha256, d.ref.bytes, f"'{d.ref.name}'", d.open) for d in data]
        upload_missing(self._http, blobs, progress)
        return self._study(self._http.post("/api/studies", body), progress)

    def _study(self, row: Any, progress: bool | None = None) -> Study:
        return Study(
            self._http, self._origin, self._token, convert(row, StudyRow), progress=progress
        )
