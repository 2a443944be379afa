"""Prepares what a `SearchCV` sends as data: the inputs of `fit`, and the folds.

    data, forms = inputs_of(X, y, {"sample_weight": weights})
    data["folds"] = folds_of([(train, test), ...])

Nothing is pickled. A device gets each input in the form that it has here. Any thread may use this
module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Form = dict[str, Any]


def inputs_of(
    x: Any, y: Any, by_sample: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Form]]:
    """Return the data sets of the inputs, and for each of them how a device reads it.

    ``by_sample`` has the parameters of `fit` with a value for each sample.
    """
    data: dict[str, Any] = {}
    forms: dict[str, Form] = {}
    for name, value in {"X": x, **({} if y is None else {"y": y})}.items():
        data[name], forms[name] = _input_of(value)
    if by_sample:
        data["fit_params"] = {name: np.asarray(value) for name, value in by_sample.items()}
        forms["fit_params"] = {"form": "same"}
    return data, forms


def folds_of(folds: Sequence[tuple[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the positions of each fold's samples as named arrays."""
    return {
        f"{part}-{number}": _small(np.asarray(rows))
        for number, fold in enumerate(folds)
        for part, rows in zip(("train", "test"), fold, strict=True)
    }


def _input_of(value: Any) -> tuple[Any, Form]:
    if hasattr(value, "indptr"):  # indexable() has made every sparse array one of rows
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        shape = np.array(value.shape, np.int64)
        return {**parts, "shape": shape}, {"form": "sparse", "class": type(value).__name__}
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return value.ravel().tolist(), {"form": "objects", "shape": value.shape}
    return value, {"form": "same"}


def _small(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return positions in half of the bytes where that is possible; masks stay as they are."""
    is_small = rows.dtype.kind in "iu" and (rows.size == 0 or rows.max() < 2**31)
    return rows.astype(np.int32) if is_small else rows
