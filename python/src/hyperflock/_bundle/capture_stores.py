"""Optuna's artifact stores, by what they can do: no library is loaded for it. Any thread.

is_store(FileSystemArtifactStore("./artifacts"))    # True
label_of(...)                                       # "artifacts"
"""

from __future__ import annotations

from typing import Any

MAX_LABEL_BYTES = 255
_METHODS = ("open_reader", "write", "remove")


def is_store(value: Any) -> bool:
    """Whether it is an artifact store: Optuna's own, or one of the same methods."""
    kind = type(value)
    return kind is not type and all(callable(getattr(kind, name, None)) for name in _METHODS)


def label_of(store: Any) -> str:
    """Name a store as it is named on a device, where it is only its name.

    A folder's path, else what kind it is and of which bucket; of a store around another the inner
    one's. Empty: it has no such name, as the folder of the process has none.
    """
    inner = getattr(store, "_backend", None)
    if inner is not None and is_store(inner):
        return label_of(inner)
    path = getattr(store, "_base_path", None)
    bucket = getattr(store, "bucket", getattr(store, "bucket_name", ""))
    label = f"{type(store).__name__} {bucket}".strip() if path is None else str(path)
    fits = label.isprintable() and len(label.encode()) <= MAX_LABEL_BYTES
    return label if fits and label != "." else ""
