"""Makes the blocking methods of `Client` and `Study` from the coroutines of their ``_core``.

    class Study:
        trial = blocking(AsyncStudy.trial)          # returns what the coroutine returns
        cancel = blocking_chained(AsyncStudy.cancel)  # returns the study itself

Such a method has the parameters and the docstring of its coroutine, which runs on the background
loop (_transport/background_loop.py). Any thread but the loop's may call it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from hyperflock._transport.background_loop import run

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec

    _P = ParamSpec("_P")

_Self = TypeVar("_Self")
_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])


def blocking(
    core: Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[Any, _P], _T]:
    """Return a method that runs a coroutine of the object's ``_core`` and waits for its value."""

    def method(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return run(core(self._core, *args, **kwargs))

    return described_as(core)(method)


def blocking_chained(
    core: Callable[Concatenate[Any, _P], Coroutine[Any, Any, Any]],
) -> Callable[Concatenate[_Self, _P], _Self]:
    """Return a method that runs a coroutine of the object's ``_core`` and returns the object."""

    def method(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> Any:
        run(core(self._core, *args, **kwargs))
        return self

    return described_as(core)(method)


def described_as(core: Callable[..., Any]) -> Callable[[_F], _F]:
    """Give a method the name, signature and docstring of a coroutine. The prefix ``Async`` is
    removed from class names.
    """

    def describe(method: _F) -> _F:
        signature = inspect.signature(core)
        returned = str(signature.return_annotation).replace("AsyncStudy", "Study")
        returned = re.sub(r"^Coroutine\[Any, Any, (.*)\]$", r"\1", returned)
        returned = re.sub(r"^AsyncGenerator\[(.*), None\]$", r"Iterator[\1]", returned)
        method.__name__ = core.__name__
        method.__qualname__ = core.__qualname__.removeprefix("Async")
        method.__doc__ = core.__doc__
        described: Any = method
        described.__signature__ = signature.replace(return_annotation=returned)
        return method

    return describe
