"""Makes a bundle of an objective: a zip of ``.py`` files and the entry to call.

    bundle = bundle_objective(objective)             # any callable
    bundle = bundle_script("train.py", "objective")  # reads the script, does not run it
    bundle.entry, bundle.sha256, bundle.content

A function, with the definitions and values that it uses, is written as source (capture.py) in its
present state. The researcher's other files that it imports are copied into the bundle, and their
globals get the values that they have in this process (own_modules.py). Parts of a file that a
device cannot run and the objective does not reach are left out (slicing.py). Modules of
site-packages and of the standard library are left out: the volunteer's runtime has its own, and
declared wheels are sent with the bundle. A bundle has neither bytecode nor pickles, and the same
sources and values give the same bytes.

`bundle_objective` looks at the stack of its caller. Any thread may call the other functions.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError
from hyperflock._bundle.archive import (
    LOCK_NAME,
    MAX_BUNDLE_BYTES,
    lock_text,
    needs_of,
    pack,
    repacked,
)
from hyperflock._bundle.capture import Capture
from hyperflock._bundle.capture_parts import place_of
from hyperflock._bundle.checks import globals_check as _state
from hyperflock._bundle.checks import imports_check as _needs
from hyperflock._bundle.checks.reachability import Reached, modules_of, warn_of_beginnings
from hyperflock._bundle.checks.seeds_check import warn_of_seeds
from hyperflock._bundle.checks.untransferable import refusal
from hyperflock._bundle.slicing import Slicer
from hyperflock._bundle.source import closure as _sources
from hyperflock._bundle.source.closure import Origin
from hyperflock._bundle.source.definitions import shown_file, shown_name
from hyperflock._bundle.source.runtime import ASKED_PACKAGES, PACK_OF
from hyperflock._bundle.wheels import Wheel
from hyperflock._model.data import MAX_BLOB_BYTES, DataSet
from hyperflock._transport.messages import DataRef

# An array of more bytes than this is sent as a separate blob, so that it is not sent again when
# only the code changes.
MAX_PACKED_ARRAY_BYTES = 64 * 1024
# Python 3.11 raises a SystemError if two threads make syntax trees of long files at once.
_ONE_AT_A_TIME = threading.RLock()


@dataclass(frozen=True)
class Bundle:
    """The code of an objective, ready to be sent.

    Attributes
    ----------
    entry : str
        The objective as ``module:function``.
    content : bytes
        The zip.
    sha256 : str
        The SHA-256 of the content.
    source_sha256 : str
        The SHA-256 of names and sources, which does not depend on the version of zlib.
    files : tuple of str
        The names of the sources in the zip.
    attached : tuple of DataSet
        Wheels and large arrays of the objective, which are sent with the bundle.
    reached : Reached or None
        The globals that the objective uses; a dry run compares their values in this process with
        those on a device. None if the script was only read.
    """

    entry: str
    content: bytes
    sha256: str
    source_sha256: str
    files: tuple[str, ...]
    attached: tuple[DataSet, ...] = ()
    reached: Reached | None = field(default=None, compare=False, repr=False)


def bundle_objective(
    objective: Callable[..., Any], wheels: Sequence[Wheel] = (), *, asked: bool = False
) -> Bundle:
    """Return a bundle of a callable and the sources that it needs.

    ``asked`` is true for trials of an ask-and-tell study: their browsers always have Optuna. Other
    browsers load it if the code imports it.

    Raises
    ------
    BundleError
        With a code ``cannot_bundle_*`` and one sentence that says what to change.
    """
    try:
        with _ONE_AT_A_TIME:
            return _bundle_objective(objective, wheels, asked=asked)
    except BundleError as error:
        raise error.at(*_caller()) from None


def needing(bundle: Bundle, packs: frozenset[str]) -> Bundle:
    """Return the bundle so that devices also load these packs, because its data need them."""
    if packs <= needs_of(bundle.content):
        return bundle
    content = repacked(bundle.content, packs)
    return replace(bundle, content=content, sha256=hashlib.sha256(content).hexdigest())


def _with_packs(bundled: Callable[[frozenset[str]], Bundle]) -> Bundle:
    """Return what ``bundled`` makes with the fewest packs. It gets the modules of packs that the
    code may import, and leaves out all that needs others, such as a report with pandas.

    So a file that imports a pack for code that the objective does not reach costs a volunteer
    nothing.
    """
    packs: frozenset[str] = frozenset()
    while True:
        try:
            return bundled(packs)
        except BundleError as error:
            unit = error.package
            if unit is None or unit not in PACK_OF or unit in packs:
                raise
            packs |= {unit}


def _bundle_objective(
    objective: Callable[..., Any], wheels: Sequence[Wheel], *, asked: bool
) -> Bundle:
    function = _checked(objective)
    origin = _plain_origin(objective)
    units = _units(wheels) | (ASKED_PACKAGES if asked else frozenset())
    return _with_packs(
        lambda packs: _bundle_with(objective, function, origin, wheels, units, packs)
    )


def _bundle_with(
    objective: Callable[..., Any],
    function: object,
    origin: Origin | None,
    wheels: Sequence[Wheel],
    units: frozenset[str],
    packs: frozenset[str],
) -> Bundle:
    capture = Capture(wheels=units | packs)
    if origin is not None:
        captured = capture.take_from(origin, objective.__name__)
    else:
        captured = capture.take(objective, function)
    modules = modules_of(captured.sources)
    _state.check_guarded(modules)
    slicer = Slicer(
        captured.sources,
        wheels=units | packs,
        folder=origin.root if origin else Path.cwd(),
        constants=captured.constants,
        generated=captured.generated,
    )
    module, _, name = captured.entry.partition(":")
    sources = slicer.sliced([*captured.entries, (module, name)])
    needs = _needs.check_calls(
        sources,
        [(module, name)],
        wheels=units,
        place=lambda module, line: place_of(sources, module, line),
    )
    if captured.generated:
        needs |= _needs.imported_needs(
            {file: sources[file] for file in slicer.files_of(captured.generated)}, units
        )
    bundle = _packed(captured.entry, sources, captured.arrays, wheels, needs)
    reached = Reached(modules)
    for entry in captured.entries:
        reached.follow(*entry)
    # A dry run compares functions of the generated modules, like those of other modules, by their
    # parts and not by their names.
    reached.modules = {**modules, **{name: name for name in captured.generated}}
    warn_of_beginnings(reached)
    warn_of_seeds(captured.written)
    return replace(bundle, reached=reached)


def _caller() -> tuple[str, int]:
    """Return the file and line of the researcher's code that submits the study."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("hyperflock."):
        frame = frame.f_back
    return (
        ("<prompt>", 1) if frame is None else (shown_file(frame.f_code.co_filename), frame.f_lineno)
    )


def bundle_script(path: str | Path, function: str, wheels: Sequence[Wheel] = ()) -> Bundle:
    """Return a bundle of a script's function without running the script; see `bundle_objective`."""
    script = Path(path).resolve()
    if script.suffix != ".py" or not script.is_file():
        raise cannot("script", f"'{path}' is not a Python script")
    return _from_text(_sources.origin_of_script(script), function, wheels)


def bundle_module(name: str, function: str, wheels: Sequence[Wheel] = ()) -> Bundle:
    """Return a bundle of a module's function. Only the module's parent packages are imported."""
    return _from_text(_sources.origin_by_name(name), function, wheels)


def _from_text(origin: Origin, function: str, wheels: Sequence[Wheel]) -> Bundle:
    _sources.check_function(origin, function)
    units = _units(wheels)
    collected = _sources.collect(origin)

    def bundled(packs: frozenset[str]) -> Bundle:
        slicer = Slicer(collected, wheels=units | packs, folder=origin.root)
        sources = slicer.sliced([(origin.module, function)])
        needs = _needs.check_calls(sources, [(origin.module, function)], wheels=units)
        return _packed(f"{origin.module}:{function}", sources, {}, wheels, needs)

    return _with_packs(bundled)


def _units(wheels: Sequence[Wheel]) -> frozenset[str]:
    return frozenset(unit for wheel in wheels for unit in wheel.units)


def _checked(objective: Any) -> object:
    """Check the kind of a callable and return the function that a call runs."""
    if isinstance(objective, type | types.BuiltinFunctionType):
        raise cannot(
            "builtin",
            f"the objective '{objective.__name__}' is no function written in Python; wrap it",
        )
    if (error := refusal(objective, "the objective is itself")) is not None:
        raise error
    if not callable(objective):
        raise cannot(
            "callable", f"the objective is of type {type(objective).__name__}; give a function"
        )
    inner: Any = objective
    while not isinstance(inner, types.FunctionType):
        if isinstance(inner, functools.partial):
            inner = inner.func
        elif isinstance(inner, types.MethodType):
            inner = inner.__func__
        elif isinstance(wrapped := getattr(inner, "__wrapped__", None), types.FunctionType):
            inner = wrapped
        else:
            called = _method(type(inner), "__call__")
            if not isinstance(called, types.FunctionType):
                return inner
            inner = called
    name = shown_name(inner)
    if inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner):
        raise cannot(
            "coroutine", f"the objective '{name}' is 'async'; make it an ordinary function"
        )
    if inspect.isgeneratorfunction(inner):
        raise cannot("generator", f"the objective '{name}' yields; return the value instead")
    return inner


def _method(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _plain_origin(objective: object) -> Origin | None:
    """Return where a function at the top of an imported file is defined; None for any other
    callable, also for a function of the running script.
    """
    if not isinstance(objective, types.FunctionType) or "<" in objective.__qualname__:
        return None
    code, name = objective.__code__, objective.__name__
    module = sys.modules.get(objective.__module__)
    if module is None or module.__name__ == "__main__" or vars(module).get(name) is not objective:
        return None
    file = getattr(module, "__file__", None)
    made_from = code.co_filename
    if file is None or made_from.startswith("<") or "ipykernel" in made_from:
        return None
    path = Path(file).resolve()
    if code.co_freevars or Path(made_from).resolve() != path:
        return None  # made by a decorator, or by another module
    if path.suffix != ".py":
        raise cannot("source", f"the source of '{module.__name__}' is not at hand, only '{path}'")
    if not _state.is_bound_by_import(name, path):
        return None  # below the main guard
    return _sources.origin_of_module(module.__name__, path)


def _packed(
    entry: str,
    sources: Mapping[str, bytes],
    arrays: Mapping[str, bytes],
    wheels: Sequence[Wheel],
    needs: frozenset[str],
) -> Bundle:
    files = dict(sources)
    beside: list[tuple[DataSet, str]] = []
    for path, content in sorted(arrays.items()):
        if len(content) <= MAX_PACKED_ARRAY_BYTES:
            files[path] = content
            continue
        if len(content) > MAX_BLOB_BYTES:
            raise cannot(
                "size",
                f"the objective holds an array of {len(content):,} bytes; "
                f"at most {MAX_BLOB_BYTES >> 20} MiB can travel",
            )
        digest = hashlib.sha256(content).hexdigest()
        ref = DataRef(f"array:{digest[:16]}", "file", f"{digest[:16]}.npy", digest, len(content))
        beside.append((DataSet(ref, content), path))
    size = sum(len(content) for content in files.values())
    if size > MAX_BUNDLE_BYTES:
        raise cannot(
            "size",
            f"the sources that '{entry.partition(':')[0]}' imports have {size:,} bytes, "
            f"at most {MAX_BUNDLE_BYTES >> 20} MiB can travel; "
            "put the objective into a folder of its own",
        )
    lock = lock_text(
        [(wheel.data.ref, wheel.file) for wheel in wheels],
        [(d.ref, path) for d, path in beside],
        needs,
    )
    packed, source_sha256 = pack(files, lock, needs=needs)
    return Bundle(
        entry=entry,
        content=packed,
        sha256=hashlib.sha256(packed).hexdigest(),
        source_sha256=source_sha256,
        files=tuple(sorted({*files} - {LOCK_NAME})),
        attached=(*(wheel.data for wheel in wheels), *(data for data, _ in beside)),
    )
