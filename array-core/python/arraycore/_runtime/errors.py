"""array-core's errors as Python's exceptions. Kinds are those of ``src/base/result.h``."""

from __future__ import annotations

from typing import TypeVar

from numpy.exceptions import AxisError


class CompileError(Exception):
    """Raised if a kernel's text does not compile; the message names the line and column."""


class DeviceError(Exception):
    """Raised if the device refused a command; the message names the command."""


class DeviceLostError(DeviceError):
    """Raised when the device is lost, and by arrays that were on it."""


class InternalError(Exception):
    """Raised for a fault of arraycore itself."""


_KINDS: dict[int, type[BaseException]] = {
    1: ValueError,
    2: TypeError,
    3: IndexError,
    4: MemoryError,
    5: NotImplementedError,
    6: CompileError,
    7: DeviceLostError,
    8: DeviceError,
    9: KeyboardInterrupt,
    10: TimeoutError,
    11: InternalError,
}
#: The codes for which NumPy or Python has a more exact exception class, which derives from the
#: class of the error's kind.
_CODES: dict[str, type[BaseException]] = {
    "axis_out_of_bounds": AxisError,
    "scalar_out_of_bounds": OverflowError,
}


E = TypeVar("E", bound=BaseException)


def coded(error: E, code: str) -> E:
    """Return an exception with its attribute ``code``, one of ``docs/errors.md``."""
    error.code = code  # type: ignore[attr-defined]
    return error


def exception_of(text: str) -> BaseException:
    """Return the exception for an error of array-core's.

    Parameters
    ----------
    text : str
        The kind's number, the code and the message, separated by blanks. The code becomes the
        exception's attribute ``code``.
    """
    kind, code, message = text.split(" ", 2)
    return coded((_CODES.get(code) or _KINDS.get(int(kind), InternalError))(message), code)
