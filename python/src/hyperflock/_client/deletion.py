"""Deletes a study at a server. The coroutines run on any event loop."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from hyperflock._transport.http import Http
from hyperflock._transport.messages import DeletedRow
from hyperflock._transport.validation import convert


@dataclass(frozen=True)
class Deleted:
    """What was deleted with a study. If the connection broke before the answer, counts are None.

    Attributes
    ----------
    study : int
        The study's id, which is not used again.
    trials : int or None
        The number of trials with an outcome.
    artifacts : int or None
        The number of files that trials had uploaded.
    bytes : int or None
        The bytes that were freed: those files, and code and data that no other study uses.
    """

    study: int
    trials: int | None = None
    artifacts: int | None = None
    bytes: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        """Return the counts as plain values for JSON."""
        return asdict(self)


async def delete(http: Http, study: int) -> Deleted:
    """Delete a study; errors are those of `Study.delete`."""
    told = await http.delete(f"/api/studies/{study}")
    if told is None:
        return Deleted(study)
    answer = convert(told, DeletedRow)
    return Deleted(answer.study, answer.trials, answer.artifacts, answer.bytes)
