"""Rejects results of a study at a server. The coroutines run on any event loop."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from hyperflock._base.errors import HyperflockError
from hyperflock._client.numbers import number_of
from hyperflock._client.view import StudyView
from hyperflock._model.results import TrialResult
from hyperflock._transport.http import Http
from hyperflock._transport.messages import RejectedRow
from hyperflock._transport.validation import convert


@dataclass(frozen=True)
class Rejected:
    """What a call of `Study.reject` has rejected.

    Attributes
    ----------
    study : int
        The study's id.
    attempts : int
        The number of attempts that are rejected now. Those that were rejected before do not count.
    trials : int
        The number of trials that run again because of it.
    """

    study: int
    attempts: int
    trials: int

    def as_dict(self) -> dict[str, int]:
        """Return the counts as plain values for JSON."""
        return asdict(self)


class RejectingStudy(StudyView):
    """The part of `AsyncStudy` that rejects results."""

    _http: Http
    _newest: dict[int, TrialResult]
    _seqs: dict[int, int]
    _behind: int

    @abstractmethod
    async def refresh(self) -> Any:
        """Fetch the study's row again."""

    async def reject(
        self,
        *,
        device: str | None = None,
        trial: int | TrialResult | None = None,
        since: datetime | float | None = None,
        reason: str = "",
    ) -> Rejected:
        """Reject results, so that they do not count any more and their trials run again.

        At least one condition must be given. If several are given, all of them must hold (AND). So
        ``reject(device=d, since=t)`` rejects what the device ``d`` has sent since ``t``.

        The results are kept as evidence, with your name, the time and the reason. Their trials run
        again, on other devices than those that sent them; a finished study runs again. Trials that
        failed only because of rejected attempts run again, too. Attempts that still run are revoked
        if ``device`` or ``trial`` selects them. A trial of an Optuna study fails instead, with the
        code ``result_rejected``, and the study's sampler asks for another one.

        The same call again rejects nothing. After an error of the connection or of the server, call
        it again: some results may have been rejected.

        Parameters
        ----------
        device
            The id of the device that computed them, as in `TrialResult.device`. ``"erased"`` stands
            for all devices that have left the server.
        trial
            The trial, or its number.
        since
            The time from which on they arrived: a `datetime` (without a zone: local time) or Unix
            seconds.
        reason
            At most 500 characters, which are shown with the attempts.

        Raises
        ------
        HyperflockError
            ``missing_field``: no condition is given. ``bad_field``: ``since`` is in the future or
            no time. ``unknown_device``, ``not_found``: the server has no such device, or the study
            no such trial. ``quota_exceeded``: the study has ended, and you have no room for one
            more.
        """
        counts = await reject_results(
            self._http, self.id, device=device, trial=trial, since=since, reason=reason
        )
        self._forget_trials()
        await self.refresh()
        return counts

    def _forget_trials(self) -> None:
        """Fetch all finished trials again when they are needed: some have no result any more."""
        self._newest.clear()
        self._seqs.clear()
        self._behind = 0


async def reject_results(
    http: Http,
    study: int,
    *,
    device: str | None,
    trial: int | TrialResult | None,
    since: datetime | float | None,
    reason: str,
) -> Rejected:
    """Reject the results that all given conditions select; errors are those of `Study.reject`."""
    body: dict[str, Any] = {}
    if device is not None:
        body["device"] = device
    if trial is not None:
        body["trial"] = (
            trial.number if isinstance(trial, TrialResult) else number_of(trial, "trial")
        )
    if since is not None:
        body["since"] = _unix_ms(since)
    if not body:
        raise HyperflockError(
            "say which results to reject: by device, by trial, or since when",
            code="missing_field",
            field="device",
        )
    if reason:
        body["reason"] = reason
    answer = convert(await http.post(f"/api/studies/{study}/reject", body), RejectedRow)
    return Rejected(answer.study, answer.rejected, answer.trials)


def _unix_ms(since: datetime | float) -> int:
    seconds = since.timestamp() if isinstance(since, datetime) else since
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        seconds = math.nan
    if not 0 <= seconds < 2**43:
        raise HyperflockError(
            f"since is {since!r:.100}, but must be a datetime or Unix seconds",
            code="bad_field",
            field="since",
        )
    return int(seconds * 1000)
