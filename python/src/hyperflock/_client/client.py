"""The researcher's connection to a server: submits studies, finds them, invites volunteers.

`Client` is `AsyncClient` with blocking methods, for scripts and notebooks. Several threads may use
one client. Its requests run on the background loop (_transport/background_loop.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import TracebackType

from hyperflock._base.errors import HyperflockError
from hyperflock._client.async_client import AsyncClient
from hyperflock._client.blocking import blocking, described_as
from hyperflock._client.searches import Data, Objective, Searches
from hyperflock._client.study import Study
from hyperflock._client.submission import Submission
from hyperflock._execution.local import run_local
from hyperflock._model.space import Value
from hyperflock._reports import html as _html
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import StudyRow

# When a notebook shows a client, the cell waits at most this many seconds for the list of studies.
_SHOW_S = 2.0


class Client(Searches):
    """A researcher's connection to one server; its methods block.

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
        ``no_token``: there is no token.
    ServerUnreachableError
        No address and no token were given, and no server runs here.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, patience_s: float | None = None
    ) -> None:
        self._core: AsyncClient = AsyncClient(url, token, patience_s=patience_s)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __deepcopy__(self, memo: object) -> Client:
        """Return this client: a copy of an object that has one shares its connection."""
        return self

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"

    def _repr_html_(self) -> str:
        """Return the newest studies as HTML for a notebook; wait at most two seconds for them."""
        rows: list[StudyRow] | None = None
        is_all = True
        with contextlib.suppress(HyperflockError):
            rows, is_all = _loop.run(self._core._newest(), _SHOW_S)
        return _html.client(self.url, rows, is_all=is_all)

    def close(self) -> None:
        """Close idle connections; studies go on."""
        self._core.close()

    @property
    def url(self) -> str:
        """The console's address."""
        return self._core.url

    @described_as(AsyncClient.submit)
    def submit(self, made: Submission, progress: bool | None = None) -> Study:
        return Study(_loop.run(self._core.submit(made, progress)))

    @described_as(AsyncClient.study)
    def study(self, study_id: int | str) -> Study:
        return Study(_loop.run(self._core.study(study_id)))

    @described_as(AsyncClient.studies)
    def studies(self) -> list[Study]:
        return [Study(study) for study in _loop.run(self._core.studies())]

    try_in_browser = blocking(AsyncClient.try_in_browser)
    join_url = blocking(AsyncClient.join_url)
    workers = blocking(AsyncClient.workers)
    revoke = blocking(AsyncClient.revoke)
    webhook_secret = blocking(AsyncClient.webhook_secret)
    tokens = blocking(AsyncClient.tokens)
    rotate_token = blocking(AsyncClient.rotate_token)
    revoke_token = blocking(AsyncClient.revoke_token)
    server = blocking(AsyncClient.server)
    packs = blocking(AsyncClient.packs)

    def run_local(
        self,
        objective: Objective,
        params: Mapping[str, Value],
        seed: int = 0,
        data: Data | None = None,
    ) -> float | tuple[float, ...] | None:
        """Run one trial in this process, seeded as on a device. Return its value; None if it was
        pruned.

        `hyperflock.run_local` also returns the reported curve and needs no server.
        """
        return run_local(objective, params, seed, data).value
