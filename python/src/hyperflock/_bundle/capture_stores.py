"""Recognises Optuna's artifact stores by their methods, without importing Optuna. Any thread may
use this module.

is_store(FileSystemArtifactStore("./artifacts"))    # True
label_of(...)                                       # "artifacts"
"""

from __future__ import annotations

from typing import Any

MAX_LABEL_BYTES = 255
_METHODS = ("open_reader", "write", "remove")


def is_store(value: Any) -> bool:
    """Return whether a value is an artifact store: one of Optuna's, or an object with the same
    methods.
    """
    kind = type(value)
    return kind is not type and all(callable(getattr(kind, name, None)) for name in _METHODS)


def label_of(store: Any) -> str:
    """Return the name by which a device knows a store.

    The name is the path of a folder, or the class and bucket of any other store. A store that wraps
    another store has the name of the wrapped store. The name is empty if the path is the current
    folder, or if the name cannot be printed or is too long.
    """
    inner = getattr(store, "_backend", None)
    if inner is not None and is_store(inner):
        return label_of(inner)
    path = getattr(store, "_base_path", None)
    bucket = getattr(store, "bucket", getattr(store, "bucket_name", ""))
    label = f"{type(store).__name__} {bucket}".strip() if path is None else str(path)
    fits = label.isprintable() and len(label.encode()) <= MAX_LABEL_BYTES
    return label if fits and label != "." else ""
