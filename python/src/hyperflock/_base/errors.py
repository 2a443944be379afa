"""What can go wrong, as one family: every error has a stable ``code`` and one sentence.

Plain classes, any thread.
"""

from __future__ import annotations


class HyperflockError(Exception):
    """Root of every error that this package raises.

    Attributes
    ----------
    code : str
        Stable, for programs: a code of the protocol, of the HTTP interface or of this package.
    message : str
        One sentence, for people.
    field : str or None
        Path of the field that is wrong, where there is one.
    """

    default_code = "error"

    def __init__(self, message: str, *, code: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.field = field

    def __str__(self) -> str:
        where = f" ({self.field})" if self.field else ""
        return f"{self.message}{where} [{self.code}]"


class InvalidSpaceError(HyperflockError, ValueError):
    """A search space has a name or a value that cannot travel."""

    default_code = "bad_field"


class EmptySpaceError(InvalidSpaceError):
    """A search space has no names, or one of its names has no values."""

    default_code = "empty_space"


class SpaceTooLargeError(InvalidSpaceError):
    """A search space has more points than 2^53 - 1."""

    default_code = "space_too_large"


class BundleError(HyperflockError, ValueError):
    """The objective's source code cannot travel to a volunteer's browser."""


class DataError(HyperflockError, ValueError):
    """A data set cannot be sent as it is."""

    default_code = "data_invalid"


class DryRunError(HyperflockError, RuntimeError):
    """A dry run could not be made; what the objective itself raises is in its result."""

    default_code = "dry_run_unavailable"


class ReplayError(HyperflockError, RuntimeError):
    """A trial cannot be run again here; that it ends differently here is no error."""

    default_code = "replay_failed"


class ServerUnreachableError(HyperflockError, ConnectionError):
    """The server did not answer, in spite of retries."""

    default_code = "server_unreachable"


class ServerError(HyperflockError):
    """The server refused a request."""

    default_code = "server_error"


class AuthError(ServerError):
    """The token is missing, unknown or does not allow this."""

    default_code = "unauthorized"


class NotFoundError(ServerError, LookupError):
    """The server knows no such study or trial."""

    default_code = "not_found"


class StudyExistsError(ServerError):
    """A study was made by this name or ``submit_key`` before, of other content."""

    default_code = "study_exists"


class ProtocolError(HyperflockError, ValueError):
    """A message breaks the protocol."""

    default_code = "malformed"


class NoCompleteTrialError(HyperflockError, LookupError):
    """A study was asked for its best trial while none is complete."""

    default_code = "no_complete_trial"


class WaitTimeoutError(HyperflockError, TimeoutError):
    """A study did not end within the time that the caller gave."""

    default_code = "wait_timeout"


class MetricError(HyperflockError, ValueError):
    """An objective gave or reported something that is not one finite number."""

    default_code = "metric_not_number"


class SuggestMismatchError(HyperflockError, ValueError):
    """An objective asked for a parameter that its trial's point does not fit."""

    default_code = "suggest_mismatch"


class OptunaMissingError(HyperflockError, ImportError):
    """Optuna is not installed, or of a version that this package does not know."""

    default_code = "no_optuna"


class ObjectiveError(HyperflockError, RuntimeError):
    """An objective raised an exception on a device, and ``catch`` does not name it.

    Attributes
    ----------
    traceback : str
        The device's own, with the objective's lines.
    raised : tuple of str
        The exception's class and its bases, as ``module.name``, the most special one first.
    trial : int
        The trial's number.
    """

    default_code = "objective_failed"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        field: str | None = None,
        traceback: str = "",
        raised: tuple[str, ...] = (),
        trial: int = 0,
    ) -> None:
        super().__init__(message, code=code, field=field)
        self.traceback = traceback
        self.raised = raised
        self.trial = trial

    def __str__(self) -> str:
        shown = f"\n\nOn the device:\n{self.traceback}" if self.traceback else ""
        return super().__str__() + shown


class OwnerError(HyperflockError, RuntimeError):
    """A process cannot be a study's sampler, or not any more."""

    default_code = "owner_replaced"


class CheckpointError(HyperflockError, ValueError):
    """A trial's checkpoint cannot be saved or read."""


class ArtifactError(HyperflockError, ValueError):
    """A trial's file cannot be an artifact, or the server refuses it."""


class ArtifactLostError(HyperflockError, RuntimeError):
    """A trial's file did not reach the server in time; another device may do better."""

    default_code = "artifact_not_stored"


class AttributeRefusedError(HyperflockError, ValueError):
    """A trial's attribute cannot travel."""

    default_code = "attribute_not_json"


class SuggestInvalidError(HyperflockError, ValueError):
    """A ``suggest_*`` cannot be sent to the study's sampler: its name, or its distribution."""

    default_code = "suggest_invalid"


class StudyElsewhereError(HyperflockError, AttributeError):
    """A trial was asked for something that only the study's owner has."""

    default_code = "study_elsewhere"


class CallError(HyperflockError, RuntimeError):
    """The server, or the study's owner, answered a trial's question with an error."""


class NotInTrialError(HyperflockError, RuntimeError):
    """Something for the researcher's machine was used inside a trial."""

    default_code = "not_in_trial"


_BY_CODE: dict[str, type[ServerError]] = {
    "bad_token": AuthError,
    "banned": AuthError,
    "forbidden": AuthError,
    "unauthorized": AuthError,
    "wrong_role": AuthError,
    "not_found": NotFoundError,
    "unknown_artifact": NotFoundError,
    "study_exists": StudyExistsError,
    "unknown_study": NotFoundError,
}


def server_error(code: str, message: str, field: str | None = None) -> ServerError:
    """Make the error for a refusal by the server."""
    return _BY_CODE.get(code, ServerError)(message, code=code, field=field)


# By the name that users write: it is shown in tracebacks and compared by `catch`, wherever a trial
# runs and whichever file has the class.
for _class in [one for one in vars().values() if isinstance(one, type)]:
    _class.__module__ = "hyperflock"
