"""Runs one attempt: unpacks the bundle, reads the data, seeds, calls the objective.

    outcome_json = run_attempt(spec_json, bundle_bytes, {"x": ("npy", x_bytes)})

The call blocks until the objective ends. Attempts run one at a time, on Python's thread, and leave
no folder, module or path behind. ``failures`` turns an exception into an outcome.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from hyperflock._base.param_values import read_params
from hyperflock._trial import artifacts, auto_checkpoint, devices
from hyperflock._trial.host import Host, progress, running
from hyperflock._trial.metrics import finite, objective_values, optuna_values, split_result
from hyperflock._trial.random_state import seed_everything
from hyperflock._trial.series import text_of
from hyperflock._trial.tables import value_of
from hyperflock._trial.trial import Saved, Trial

from hyperflock_worker import bundles, compat, failures, tasks
from hyperflock_worker.bridge import find_host
from hyperflock_worker.failures import AttemptError

# Matplotlib draws into memory: a python thread has no window, and serves no page of its own.
os.environ.setdefault("MPLBACKEND", "agg")


class _Running:
    """Holds the trial of an attempt, which is read when the attempt has ended or failed.

    ``summary`` has the named numbers that the objective returned with its value.
    """

    trial: Trial | None = None
    summary: Mapping[str, float] = MappingProxyType({})


def run_attempt(
    spec_json: str, bundle: Any, data: Any, checkpoint: Any = (), host: Host | None = None
) -> str:
    """Run one attempt and return its outcome as JSON; never raises.

    Parameters
    ----------
    spec_json : str
        ``{"attempt", "study", "trial", "entry": "module:function", "params": "<JSON text>",
        "seed", "chainer", "device", "asked"}``. "device" and "asked" are optional. "device" is what
        `devices.Offer` reads. "asked" is for a trial of an Optuna study: ``{"directions":
        int, "suggested": "<JSON text>" or null, "attrs": "<JSON text>" or null}``. "suggested" is
        ``{name: [distribution, value]}``, where both are JSON texts. "attrs" has the attributes
        that the trial starts with, ``{"user", "system"}``.
    bundle : bytes or a JavaScript buffer
        A zip of source files.
    data : dict, or a JavaScript object
        For each name a kind (``npy``, ``npz``, ``file``), bytes and, if known, the file's name.
    checkpoint : a sequence, or a JavaScript array
        Empty, or one checkpoint to continue from: its format, the last step that was reported
        before it (-1 if there is none) and its bytes.
    host : Host or None
        The host that answers the trial's calls; None is the browser's thread.

    Returns
    -------
    str
        ``{"outcome": "complete", "values": [...]}``, ``{"outcome": "pruned"}`` or
        ``{"outcome": "failed", "error": {"cause", "code", "message", "traceback"}}``; each with the
        ``"backend"`` of `devices.Device` that the attempt used, and ``"attrs"``, the JSON text of
        the trial's attributes, if it has some.
    """
    found = _Running()
    more: dict[str, Any] = {}
    _end_tasks()
    with contextlib.ExitStack() as stack:
        folder: Path | None = None
        stack.callback(artifacts.forget)
        try:
            spec = json.loads(spec_json)
            host = find_host() if host is None else host
            stack.enter_context(running(host))
            folder = stack.enter_context(_attempt_folder(int(spec["attempt"])))
            saved = [
                (str(kind), int(step), _as_bytes(content))
                for kind, step, content in _as_python(checkpoint)
            ]
            values = _run(spec, _as_bytes(bundle), _as_python(data), folder, saved, host, found)
            sent = [finite(value) for value in values]
            outcome: dict[str, Any] = {"outcome": "complete", "values": sent}
            if found.summary:
                more["summary"] = {name: text_of(one) for name, one in found.summary.items()}
            if sent != values:
                more["values"] = [v if math.isfinite(v) else str(v) for v in values]
        except BaseException as error:
            # All exceptions are caught, because an objective may call sys.exit() or raise an
            # interrupt.
            outcome = failures.outcome_of(error, folder)
            if outcome.get("error", {}).get("code") == "objective_raised":
                more["raised"] = failures.names_of(error)
        attributes = _attributes_of(found, more)
        if attributes:
            outcome["attrs"] = attributes
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    _end_tasks()
    gc.collect()
    outcome["backend"] = devices.finish()
    return json.dumps(outcome, allow_nan=False)


def _end_tasks() -> None:
    """End the tasks that the attempt left on the browser's event loop, and watch for those of the
    next one. In other places the loop belongs to the program.
    """
    if sys.platform != "emscripten":
        return
    loop = asyncio.get_event_loop()
    tasks.watch(loop)
    tasks.end_all(loop)


def _run(
    spec: Mapping[str, Any],
    bundle: bytes,
    data: Mapping[str, Any],
    folder: Path,
    saved: Sequence[Saved],
    host: Host,
    found: _Running,
) -> list[float]:
    """Run the attempt, store its trial in ``found``, and return the objective's values."""
    compat.install(progress, auto_checkpoint.attach)
    devices.prepare(spec.get("device"), int(spec["seed"]))
    code = folder / "code"
    try:
        lock = bundles.unpack(bundle, code)
        bundles.check_runtime(lock)
        # Some items are sent as data but belong to the bundle: its wheels and the arrays of its
        # code.
        names = {item.name for item in lock.wheels + lock.arrays}
        attached = {name: _as_bytes(data[name][1]) for name in names if name in data}
        wheels = bundles.lay_out(lock, attached, folder)
    except bundles.BundleReadError as error:
        raise AttemptError(error.code, str(error)) from error
    read = {
        name: _read_data(name, entry, folder) for name, entry in data.items() if name not in names
    }
    sys.path[:0] = [str(path) for path in (code, *wheels)]
    objective = _load_entry(str(spec["entry"]))
    trial = _trial_of(spec, read, saved[0] if saved else None, host)
    found.trial = trial
    # The seeds are set right before the call, because code that runs at import may draw random
    # numbers.
    seed_everything(trial.seed)
    progress()
    with auto_checkpoint.watching(trial):
        value, found.summary = split_result(objective(trial))
    if spec.get("asked"):
        return optuna_values(value, int(spec["asked"]["directions"]))
    return objective_values(value)


def _trial_of(
    spec: Mapping[str, Any], data: Mapping[str, Any], saved: Saved | None, host: Host
) -> Trial:
    asked = spec.get("asked")
    common: dict[str, Any] = {
        "number": int(spec["trial"]),
        "seed": int(spec["seed"]),
        "data": data,
        "checkpoint": saved,
        "host": host,
    }
    if not asked:
        return Trial(read_params(spec["params"]), **common)
    # This import is here, because only trials of an Optuna study have Optuna.
    from hyperflock._trial.optuna_trial import OptunaTrial

    logged = json.loads(asked.get("suggested") or "{}")
    return OptunaTrial(
        **common,
        suggested={name: (str(of), str(value)) for name, (of, value) in logged.items()},
        attributes=json.loads(asked.get("attrs") or "{}"),
        directions=int(asked["directions"]),
    )


def _attributes_of(found: _Running, more: Mapping[str, Any]) -> str:
    if found.trial is None:
        return ""
    try:
        text = found.trial.attributes_text(more)
        if type(text) is str:
            return text
    except BaseException:
        pass
    # The objective may have damaged the trial. Its result must not be lost because of that.
    print("the trial's attributes are lost: they cannot be read", file=sys.stderr)
    return ""


def _load_entry(entry: str) -> Callable[[Trial], Any]:
    """Import an entry, which is ``module:function``, and return the function."""
    module_name, _, function_name = entry.partition(":")
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            raise AttemptError(
                "entry_not_found", f"the bundle has no module '{module_name}'"
            ) from error
        raise AttemptError("import_failed", failures.message_of(error)) from error
    except Exception as error:
        if isinstance(error, MemoryError):
            raise
        raise AttemptError("import_failed", failures.message_of(error)) from error
    found: Any = module
    for part in function_name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise AttemptError(
            "entry_not_found", f"module '{module_name}' has no function '{function_name}'"
        )
    objective: Callable[[Trial], Any] = found
    return objective


def _read_data(name: str, entry: Any, folder: Path) -> Any:
    """Return the value of ``trial.data[name]`` from the bytes of a data item."""
    kind, content = entry[0], _as_bytes(entry[1])
    try:
        if kind == "npy":
            # Pickles are refused, because they could run code and the data comes from a stranger.
            return np.load(io.BytesIO(content), allow_pickle=False)
        if kind == "npz":
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                return value_of({key: arrays[key] for key in arrays.files})
    except (
        *(ValueError, OSError, EOFError, KeyError, TypeError, ImportError),
        zipfile.BadZipFile,
    ) as error:
        raise AttemptError("data_invalid", f"data '{name}' is no {kind} file: {error}") from error
    if kind == "file":
        files = folder / "data"
        files.mkdir(exist_ok=True)
        # The number makes the path unique, because two names may differ only in letters that are
        # replaced here.
        shown = re.sub(r"[^A-Za-z0-9._-]", "_", str(entry[2]) if len(entry) > 2 else name)
        path = files / f"{len(list(files.iterdir()))}-{shown}"
        path.write_bytes(content)
        return str(path)
    raise AttemptError("data_invalid", f"data '{name}' is of the unknown kind '{kind}'")


@contextlib.contextmanager
def _attempt_folder(attempt: int) -> Iterator[Path]:
    """Make a working folder; at the end remove it, its modules and its entries in ``sys.path``."""
    before_path, before_cwd = list(sys.path), os.getcwd()
    folder = Path(tempfile.mkdtemp(prefix=f"attempt-{attempt}-")).resolve()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before_cwd)
        sys.path[:] = before_path
        prefix = str(folder) + os.sep
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(prefix):
                del sys.modules[name]
        for cached in [key for key in sys.path_importer_cache if key.startswith(str(folder))]:
            del sys.path_importer_cache[cached]
        shutil.rmtree(folder, ignore_errors=True)


def _as_bytes(value: Any) -> bytes:
    """Return the bytes of a Python buffer or, in a browser, of a JavaScript buffer."""
    return bytes(value.to_bytes()) if hasattr(value, "to_bytes") else bytes(value)


def _as_python(value: Any) -> Any:
    """Return a Python sequence or mapping, converted if it is a JavaScript array or object."""
    return value.to_py(depth=2) if hasattr(value, "to_py") else value
