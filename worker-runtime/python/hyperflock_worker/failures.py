"""Turns an exception into an attempt's outcome: cause, stable code, message, short traceback."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

from hyperflock._base.errors import (
    ArtifactError,
    ArtifactLostError,
    AttributeRefusedError,
    CallError,
    CheckpointError,
    HyperflockError,
    MetricError,
    SeriesError,
    StudyElsewhereError,
    SuggestInvalidError,
    SuggestMismatchError,
)
from hyperflock._trial.trial import is_pruned

MAX_TRACEBACK_BYTES = 16 * 1024
MAX_MESSAGE_CHARS = 1000
MAX_NAMES = 16
MAX_NAME_CHARS = 256

CAUSES = {
    "objective_raised": "user_error",
    "entry_not_found": "user_error",
    "import_failed": "user_error",
    "suggest_mismatch": "user_error",
    "suggest_invalid": "user_error",
    "study_elsewhere": "user_error",
    "attribute_not_json": "user_error",
    "attributes_too_large": "user_error",
    "owner_error": "user_error",
    "checkpoint_not_a_tree": "user_error",
    "checkpoint_too_large": "user_error",
    "checkpoint_malformed": "user_error",
    "artifact_too_large": "user_error",
    "artifact_invalid": "user_error",
    "artifact_count": "user_error",
    "artifact_exists": "user_error",
    "artifact_no_room": "user_error",
    "no_room": "user_error",
    "quota_exceeded": "user_error",
    "device_share": "user_error",
    "metric_not_finite": "invalid",
    "metric_not_number": "invalid",
    "summary_too_large": "invalid",
    "series_name": "invalid",
    "series_value": "invalid",
    "series_step": "invalid",
    "series_kind": "invalid",
    "series_image": "invalid",
    "series_count": "invalid",
    "series_size": "invalid",
    "data_invalid": "invalid",
    "bundle_damaged": "invalid",
    "bundle_unsafe": "invalid",
    "bundle_too_large": "invalid",
    "runtime_mismatch": "invalid",
    "out_of_memory": "out_of_memory",
    "device_lost": "device_lost",
    "device_failed": "device_lost",
    "study_stopped": "cancelled",
    # The connection to the server failed, not the objective.
    "call_timeout": "worker_lost",
    "artifact_not_stored": "worker_lost",
}


# Errors that a trial's methods raise. If such an error's code is in the table above, it becomes the
# code of the attempt.
_OF_TRIALS = (
    *(ArtifactError, ArtifactLostError, AttributeRefusedError, CallError, CheckpointError),
    *(MetricError, SeriesError, StudyElsewhereError, SuggestInvalidError, SuggestMismatchError),
)


class AttemptError(Exception):
    """Raised when an attempt cannot continue; ``code`` has the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _own_folder() -> str:
    # The path in this function's compiled code. In a browser, it is the one that was given when the
    # archive was compiled.
    return os.path.dirname(_own_folder.__code__.co_filename) + os.sep


def outcome_of(error: BaseException, folder: Path | None) -> dict[str, Any]:
    """Return the outcome of an attempt that ``error`` ended.

    Parameters
    ----------
    error : BaseException
        The exception that ended the attempt.
    folder : Path or None
        The attempt's folder, which is removed from file names.
    """
    try:
        if is_pruned(error):
            return {"outcome": "pruned"}
        code = code_of(error)
        cause = CAUSES[code]
        message, shown = _described(error, folder)
    except BaseException:
        # The exception's class may be the objective's code, which can raise anything here.
        code, cause = "objective_raised", "user_error"
        message, shown = "The exception that was raised cannot be shown.", ""
    return {
        "outcome": "failed",
        "error": {"cause": cause, "code": code, "message": message, "traceback": shown},
    }


def _described(error: BaseException, folder: Path | None) -> tuple[str, str]:
    """Return an exception's message and traceback."""
    # The cause of an AttemptError has the traceback to show; the error itself only has the code.
    shown = error.__cause__ if isinstance(error, AttemptError) and error.__cause__ else error
    return message_of(error), trimmed_traceback(shown, folder)


def code_of(error: BaseException) -> str:
    """Return the stable code of an exception."""
    if isinstance(error, AttemptError):
        return error.code
    if isinstance(error, _OF_TRIALS) and error.code in CAUSES:
        return error.code
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if _is_arraycores(error, "DeviceLostError"):
        return "device_lost"
    # The device refused a command or does not answer, or array-core's module trapped: the attempt
    # may succeed on another device.
    if _is_ended_module(error):
        return "device_failed"
    if _is_arraycores(error, "DeviceError") or getattr(error, "code", "") == "device_timeout":
        return "device_failed"
    # This includes interrupts. The outcome of an attempt that the worker interrupts is not read, so
    # an interrupt here is one that the objective raised.
    return "objective_raised"


def names_of(error: BaseException) -> list[str]:
    """Return ``module.QualName`` of the exception's type and of its bases, in their MRO.

    With them, code on another machine can catch the error by its type. The list is empty if the
    names cannot be read.
    """
    try:
        kinds = [kind for kind in type.mro(type(error)) if kind is not object]
        names = [f"{kind.__module__}.{kind.__qualname__}" for kind in kinds[:MAX_NAMES]]
        return [name[:MAX_NAME_CHARS] for name in names]
    except BaseException:
        # The objective may have defined the exception's class, so reading the class may raise
        # anything.
        return []


def _is_arraycores(error: BaseException, name: str) -> bool:
    # Only names are compared, because arraycore is imported only for studies that ask for a device.
    return any(
        cls.__name__ == name and cls.__module__.split(".")[0] == "arraycore"
        for cls in type(error).__mro__
    )


def _is_ended_module(error: BaseException) -> bool:
    # In Python, the error that arraycore_module.ts raises for a trap is a JsException of Pyodide.
    is_from_javascript = type(error).__name__ == "JsException"
    return is_from_javascript and getattr(error, "name", "") == "ArraycoreError"


def message_of(error: BaseException) -> str:
    """Return the exception's type and text in one line, without its code."""
    if isinstance(error, AttemptError):
        text = str(error)
    elif isinstance(error, HyperflockError):
        kind = type(error)
        text = f"{kind.__module__}.{kind.__qualname__}: {error.message}"
    else:
        lines = list(traceback.TracebackException.from_exception(error).format_exception_only())
        text = lines[-1].strip() if lines else type(error).__name__
    return text[:MAX_MESSAGE_CHARS]


def trimmed_traceback(error: BaseException, folder: Path | None) -> str:
    """Return the traceback without the runner's and the import system's frames above the user's."""
    formatted = traceback.TracebackException.from_exception(error)
    _drop_outer_frames(formatted)
    text = "".join(formatted.format())
    if folder is not None:
        text = text.replace(str(folder / "code") + os.sep, "").replace(str(folder) + os.sep, "")
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MAX_TRACEBACK_BYTES:
        return text
    head = "[...]\n"
    tail = encoded[-(MAX_TRACEBACK_BYTES - len(head)) :].decode("utf-8", "ignore")
    return head + tail


def _drop_outer_frames(formatted: traceback.TracebackException) -> None:
    kept = list(formatted.stack)
    while kept and kept[0].filename.startswith((_own_folder(), "<frozen importlib")):
        kept.pop(0)
    # The frames of importlib.import_module are between the runner's and the module's.
    while kept and kept[0].filename.endswith(("importlib/__init__.py", "importlib/__init__.pyc")):
        kept.pop(0)
    while kept and kept[0].filename.startswith("<frozen importlib"):
        kept.pop(0)
    formatted.stack[:] = kept
