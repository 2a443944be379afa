"""What the server tells of a study that it has deleted. Plain data; coroutines, any event loop."""

from __future__ import annotations

from msgspec import Struct

from hyperflock._http import Http
from hyperflock._protocol import Count, Id
from hyperflock._schema import convert


class Deleted(Struct, frozen=True):
    """What a deleted study held.

    Attributes
    ----------
    study : int
        Its id, which is not given again.
    trials : int
        Trials that had an outcome.
    artifacts : int
        Files of trials that were kept.
    bytes : int
        What its owner uses less: those files, and code and data that no other study names.
    """

    study: Id
    trials: Count
    artifacts: Count
    bytes: Count

    def as_dict(self) -> dict[str, int]:
        """Give it for JSON."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


async def delete(http: Http, study: int) -> Deleted:
    """Ask the server for it; errors as of `Study.delete`."""
    return convert(await http.delete(f"/api/studies/{study}"), Deleted)
