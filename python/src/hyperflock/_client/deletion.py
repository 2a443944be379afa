"""What the server tells of a study that it has deleted. Plain data; coroutines, any event loop."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from msgspec import Struct

from hyperflock._transport.http import Http
from hyperflock._transport.messages import Count, Id
from hyperflock._transport.validation import convert


@dataclass(frozen=True)
class Deleted:
    """What a deleted study held; None where the connection broke before the server had told.

    Attributes
    ----------
    study : int
        Its id, which is not given again.
    trials : int or None
        Trials that had an outcome.
    artifacts : int or None
        Files of trials that were kept.
    bytes : int or None
        What its owner uses less: those files, and code and data that no other study names.
    """

    study: int
    trials: int | None = None
    artifacts: int | None = None
    bytes: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        """Give it for JSON."""
        return asdict(self)


class _Answer(Struct, frozen=True):
    study: Id
    trials: Count
    artifacts: Count
    bytes: Count


async def delete(http: Http, study: int) -> Deleted:
    """Ask the server for it; errors as of `Study.delete`."""
    told = await http.delete(f"/api/studies/{study}")
    if told is None:
        return Deleted(study)
    answer = convert(told, _Answer)
    return Deleted(answer.study, answer.trials, answer.artifacts, answer.bytes)
