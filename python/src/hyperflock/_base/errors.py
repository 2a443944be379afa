"""The package's exceptions: each has a stable ``code`` and a message of one sentence.

Any thread may use them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


class HyperflockError(Exception):
    """The base class of every error that this package raises.

    Attributes
    ----------
    code : str
        A stable code for programs, from the protocol, the HTTP interface or this package.
    message : str
        One sentence for people.
    field : str or None
        The path of the field that is wrong; None if no single field is.
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
    """A search space has a name or a value that cannot be sent to a server."""

    default_code = "bad_field"


class EmptySpaceError(InvalidSpaceError):
    """A search space has no names, or one of its names has no values."""

    default_code = "empty_space"


class SpaceTooLargeError(InvalidSpaceError):
    """A search space has more points than 2^53 - 1."""

    default_code = "space_too_large"


class BundleError(HyperflockError, ValueError):
    """The objective cannot be sent to a volunteer's browser.

    Attributes
    ----------
    place : str or None
        The file and line that the message begins with: ``train.py, line 12``.
    package : str or None
        The top-level module that browsers lack, if that is the reason.
    """

    place: str | None = None
    package: str | None = None

    def at(self, file: str, line: int) -> BundleError:
        """Put a file and line before the message, unless the error has a `place` already."""
        if self.place is None:
            self.place = f"{file}, line {line}"
            self.message = f"{self.place}: {self.message}"
            self.args = (self.message,)
        return self


class DataError(HyperflockError, ValueError):
    """A data set cannot be sent as it is."""

    default_code = "data_invalid"


class DryRunError(HyperflockError, RuntimeError):
    """A dry run could not start or finish. An exception of the objective is in `DryRun.error`
    instead.
    """

    default_code = "dry_run_unavailable"


class ReplayError(HyperflockError, RuntimeError):
    """A trial cannot be run again on this machine. A different result is not an error."""

    default_code = "replay_failed"


class ServerUnreachableError(HyperflockError, ConnectionError):
    """The server did not answer, although the request was repeated."""

    default_code = "server_unreachable"


class ServerError(HyperflockError):
    """The server refused a request.

    Attributes
    ----------
    request_id : str or None
        The id under which the server's operator finds the request in the log. None if the server
        gave none. It is the last line of the error's text.
    """

    default_code = "server_error"
    request_id: str | None = None

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\nrequest {self.request_id}" if self.request_id else text


class AuthError(ServerError):
    """The token is missing, unknown, or does not allow the request."""

    default_code = "unauthorized"


class NotFoundError(ServerError, LookupError):
    """The server has no study, trial or artifact with this number or name."""

    default_code = "not_found"


class StudyExistsError(ServerError):
    """A study with this name or ``submit_key`` exists already and has other content.

    Attributes
    ----------
    study : int or None
        The id of the study that exists, if it is known.
    missing : list of dict
        If only the space differs: the points that the study lacks, at most 10,000 of them.
        `Client.grid` takes them as a space.
    """

    default_code = "study_exists"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        field: str | None = None,
        study: int | None = None,
        missing: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__(message, code=code, field=field)
        self.study = study
        self.missing = list(missing)


class ProtocolError(HyperflockError, ValueError):
    """A message does not follow the protocol."""

    default_code = "malformed"


class NoCompleteTrialError(HyperflockError, LookupError):
    """A study's best trial was requested, but no trial is complete."""

    default_code = "no_complete_trial"


class WaitTimeoutError(HyperflockError, TimeoutError):
    """A study did not end within the time that the caller gave."""

    default_code = "wait_timeout"


class MetricError(HyperflockError, ValueError):
    """An objective returned or reported a value that is not a number, or returned NaN."""

    default_code = "metric_not_number"


class SeriesError(HyperflockError, ValueError):
    """A trial logged a row with a bad name, value, step or image, or it logged too much."""

    default_code = "series_value"


class SuggestMismatchError(HyperflockError, ValueError):
    """An objective asked for a parameter that its trial lacks, or whose value in the trial is not
    in the distribution that the objective gave.
    """

    default_code = "suggest_mismatch"


class OptunaMissingError(HyperflockError, ImportError):
    """Optuna is not installed, or this package does not support its version."""

    default_code = "no_optuna"


class SklearnMissingError(HyperflockError, ImportError):
    """scikit-learn is not installed, or this package does not support its version."""

    default_code = "no_sklearn"


class ObjectiveError(HyperflockError, RuntimeError):
    """An objective raised an exception on a device, and the study's ``catch`` does not name it.

    Attributes
    ----------
    traceback : str
        The traceback on the device, with the objective's lines.
    raised : tuple of str
        The exception's class and its base classes as ``module.name``, the class itself first.
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
    """A process cannot become a study's sampler, or is no longer its sampler."""

    default_code = "owner_replaced"


class CheckpointError(HyperflockError, ValueError):
    """A trial's checkpoint cannot be saved or read."""


class ArtifactError(HyperflockError, ValueError):
    """A trial's file cannot be an artifact, or the server refuses it."""


class ArtifactLostError(HyperflockError, RuntimeError):
    """A trial's file did not reach the server in time; the trial may succeed on another device."""

    default_code = "artifact_not_stored"


class AttributeRefusedError(HyperflockError, ValueError):
    """A trial's attribute cannot be sent to the study's owner."""

    default_code = "attribute_not_json"


class SuggestInvalidError(HyperflockError, ValueError):
    """The name or the distribution of a ``suggest_*`` call cannot be sent to the sampler."""

    default_code = "suggest_invalid"


class StudyElsewhereError(HyperflockError, AttributeError):
    """A trial used an attribute of the study that exists only in the owner's process."""

    default_code = "study_elsewhere"


class CallError(HyperflockError, RuntimeError):
    """The server, or the study's owner, answered a trial's call with an error."""


class NotInTrialError(HyperflockError, RuntimeError):
    """Code inside a trial called a function that works only on the researcher's machine."""

    default_code = "not_in_trial"


_REQUEST_ID = re.compile(r"[0-9a-f]{32}")
_BY_CODE: dict[str, type[ServerError]] = {
    "bad_token": AuthError,
    "banned": AuthError,
    "forbidden": AuthError,
    "unauthorized": AuthError,
    "wrong_role": AuthError,
    "no_complete_trial": NotFoundError,
    "no_feasible_trial": NotFoundError,
    "not_found": NotFoundError,
    "unknown_artifact": NotFoundError,
    "study_exists": StudyExistsError,
    "unknown_study": NotFoundError,
}


def server_error(
    code: str, message: str, field: str | None = None, request_id: object = None
) -> ServerError:
    """Return the error for a code and message with which the server refused a request.

    A ``request_id`` of another form than the server's is left out: a proxy may have written it.
    """
    error = _BY_CODE.get(code, ServerError)(message, code=code, field=field)
    if isinstance(request_id, str) and _REQUEST_ID.fullmatch(request_id):
        error.request_id = request_id
    return error


# Users write `hyperflock.NAME`. Tracebacks show this name too, and `catch` compares it. So it must
# not depend on the file that defines the class.
for _class in [one for one in vars().values() if isinstance(one, type)]:
    _class.__module__ = "hyperflock"
