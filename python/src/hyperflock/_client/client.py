"""The researcher's connection to a server: submit studies, find them again, invite volunteers.

The blocking face of `AsyncClient`, for scripts and notebooks; a client may be used by several
threads. Whatever it asks for runs on the background loop (_transport/background_loop.py).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from hyperflock._base.errors import HyperflockError
from hyperflock._client.async_client import AsyncClient, Data, Objective, Space
from hyperflock._client.study import Study
from hyperflock._client.submission import GridOptions, Submission
from hyperflock._execution.dry_run import DryRun
from hyperflock._execution.local import run_local
from hyperflock._model.grid import Scalar
from hyperflock._reports import html as _html
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import StudyRow

if TYPE_CHECKING:
    from typing_extensions import Unpack

_F = TypeVar("_F", bound=Callable[..., Any])
# A notebook's cell waits for what is shown below it.
_SHOW_S = 2.0


def _as_in(core: Callable[..., Any], returns: str) -> Callable[[_F], _F]:
    """Show a method's users the parameters and the text of the coroutine that it calls."""

    def shown(method: _F) -> _F:
        method.__doc__ = core.__doc__
        signature = inspect.signature(core).replace(return_annotation=returns)
        setattr(method, "__signature__", signature)  # noqa: B010 (no declared attribute)
        return method

    return shown


class Client:
    """A researcher's connection to one server.

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
        ``no_token``: there is no token.
    ServerUnreachableError
        Neither address nor token was given, and no server runs here.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, patience_s: float | None = None
    ) -> None:
        self._core = AsyncClient(url, token, patience_s=patience_s)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"

    def _repr_html_(self) -> str:
        """Show the newest studies in a notebook, which waits no longer than two seconds for it."""
        rows: list[StudyRow] | None = None
        with contextlib.suppress(HyperflockError):
            rows = [study.row for study in _loop.run(self._core.studies(), _SHOW_S)]
        return _html.client(self.url, rows)

    def close(self) -> None:
        """Close idle connections; studies go on."""
        self._core.close()

    @property
    def url(self) -> str:
        """The console's address."""
        return self._core.url

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
    ) -> Study: ...

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
    ) -> DryRun: ...

    @_as_in(AsyncClient.grid, returns="Study | DryRun")
    def grid(self, *arguments: Any, **options: Any) -> Study | DryRun:
        made = _loop.run(self._core.grid(*arguments, **options))
        return made if isinstance(made, DryRun) else Study(made)

    def try_in_browser(self, made: Submission) -> DryRun:
        """Run the first trial of what `submit` would send in a browser here."""
        return _loop.run(self._core.try_in_browser(made))

    def submit(self, made: Submission, progress: bool | None = None) -> Study:
        """Send what `grid` and the command prepare."""
        return Study(_loop.run(self._core.submit(made, progress)))

    def study(self, study_id: int | str) -> Study:
        """Find a study by its id, or the newest one by its name.

        Raises
        ------
        NotFoundError
            There is none.
        """
        return Study(_loop.run(self._core.study(study_id)))

    def studies(self) -> list[Study]:
        """All studies that this token may see, the newest first."""
        return [Study(study) for study in _loop.run(self._core.studies())]

    def join_url(self, project: str | None = None) -> str:
        """Make a new link by which volunteers join; everyone who has it can."""
        return _loop.run(self._core.join_url(project))

    def workers(self) -> list[dict[str, Any]]:
        """Volunteers' devices that are connected now, as the server shows them."""
        return _loop.run(self._core.workers())

    def revoke(self, device: str) -> None:
        """Shut a device out; as `AsyncClient.revoke`."""
        _loop.run(self._core.revoke(device))

    def tokens(self) -> list[dict[str, Any]]:
        """One's own tokens, by their numbers; as `AsyncClient.tokens`."""
        return _loop.run(self._core.tokens())

    def rotate_token(self, grace_s: int = 86_400) -> str:
        """Make a new token for oneself; the one in use ends after ``grace_s`` seconds."""
        return _loop.run(self._core.rotate_token(grace_s))

    def revoke_token(self, token: int) -> None:
        """End a token now, by its number; as `AsyncClient.revoke_token`."""
        _loop.run(self._core.revoke_token(token))

    def server(self) -> dict[str, Any]:
        """Who we are to the server and what it is: name, role, version, join origin, limits."""
        return _loop.run(self._core.server())

    def run_local(
        self,
        objective: Objective,
        params: Mapping[str, Scalar],
        seed: int = 0,
        data: Data | None = None,
    ) -> float | tuple[float, ...] | None:
        """Run one trial in this process, seeded as on a device; its value, None when it was pruned.

        `hyperflock.run_local` tells the reported curve too and needs no server.
        """
        return run_local(objective, params, seed, data).value
