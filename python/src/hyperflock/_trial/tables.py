"""Writes tables of pandas and lists as named arrays, and reads them. Nothing is pickled.

    arrays = arrays_of(frame)    # None if the value is neither a table nor a list
    value_of(arrays)             # the table, also with another version of pandas

One of the arrays describes the value, as JSON. Arrays without a description are returned as they
are. The researcher's machine writes, and a trial reads. Any thread may use this module.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

# The name of the array that describes the value.
DESCRIPTION = "hyperflock.value"
# The names by which pandas calls the types of texts. "str" and "object" are the default of its
# versions 3 and 2.
_TEXTS = ("str", "string", "object")


def needs_pandas(value: object) -> bool:
    """Return whether a trial needs pandas to read the value."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) in (pandas.DataFrame, pandas.Series)


def arrays_of(value: object) -> dict[str, np.ndarray[Any, Any]] | None:
    """Return a DataFrame, a Series or a list as named arrays; None for any other value.

    Raises
    ------
    ValueError
        The value has a part that cannot be written. The sentence says which one.
    """
    if type(value) is list:
        return {DESCRIPTION: _described({"kind": "list", "value": _plain(value, "the list")})}
    if not needs_pandas(value):
        return None
    writer = _Writer(sys.modules["pandas"])
    return writer.written(value)


def value_of(arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """Return what `arrays_of` has written, or a dict of the arrays if it has not written them.

    Raises
    ------
    ImportError
        The value is a table, and pandas is missing.
    ValueError, KeyError, TypeError
        The description does not fit the arrays.
    """
    if DESCRIPTION not in arrays:
        return dict(arrays)
    told = json.loads(bytes(arrays[DESCRIPTION]))
    if told["kind"] == "list":
        return told["value"]
    import pandas

    return _Reader(pandas, arrays).value(told)


def _described(told: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(json.dumps(told).encode(), np.uint8)


def _plain(value: object, what: str) -> Any:
    """Check that JSON can hold a value and gives the same one."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_plain(item, f"{what}'s item {i}") for i, item in enumerate(value)]
    if type(value) is dict and all(type(key) is str for key in value):
        return {key: _plain(item, f"{what}'s item {key!r}") for key, item in value.items()}
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return value.item()
    raise ValueError(
        f"{what} is a {type(value).__name__}; a list may have None, bools, numbers, texts, lists "
        "and dicts of texts"
    )


class _Writer:
    """Writes one table."""

    def __init__(self, pandas: Any) -> None:
        self._pandas = pandas
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}

    def written(self, value: Any) -> dict[str, np.ndarray[Any, Any]]:
        told: dict[str, Any] = {"index": self._index(value.index, "the index")}
        if isinstance(value, self._pandas.Series):
            name = _plain(value.name, "the name")
            told |= {"kind": "series", "name": name, "values": self._column(value, "the column")}
        else:
            told |= {
                "kind": "frame",
                "labels": self._index(value.columns, "the columns' index"),
                "columns": [
                    self._column(value.iloc[:, i], f"the column {label!r}")
                    for i, label in enumerate(value.columns)
                ],
            }
        return {DESCRIPTION: _described(told), **self._arrays}

    def _add(self, array: np.ndarray[Any, Any]) -> str:
        name = f"array-{len(self._arrays)}"
        self._arrays[name] = array
        return name

    def _index(self, index: Any, what: str) -> dict[str, Any]:
        if isinstance(index, self._pandas.MultiIndex):
            raise ValueError(f"{what} has several levels; call reset_index() first")
        told = {"name": _plain(index.name, f"the name of {what}")}
        if isinstance(index, self._pandas.RangeIndex):
            return {**told, "range": [index.start, index.stop, index.step]}
        return {**told, **self._column(index, what)}

    def _column(self, values: Any, what: str) -> dict[str, Any]:
        dtype = values.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biufcmM":
            return {"array": self._add(values.to_numpy())}
        if isinstance(dtype, self._pandas.CategoricalDtype):
            return {
                "codes": self._add(np.asarray(values.array.codes)),
                "categories": self._column(dtype.categories, f"the categories of {what}"),
                "ordered": bool(dtype.ordered),
            }
        if dtype.name in _TEXTS:
            return {"dtype": dtype.name, **self._texts(values, what)}
        raise ValueError(
            f"{what} has the type {dtype}, which cannot be sent; make it numbers, texts, dates "
            "without a time zone or categories"
        )

    def _texts(self, values: Any, what: str) -> dict[str, Any]:
        missing = self._pandas.isna(values)
        texts = [None if gone else text for text, gone in zip(values, missing, strict=True)]
        for text in texts:
            if text is not None and not isinstance(text, str):
                raise ValueError(f"{what} has a {type(text).__name__} among its texts")
        encoded = [b"" if text is None else text.encode() for text in texts]
        lengths = [-1 if text is None else len(e) for text, e in zip(texts, encoded, strict=True)]
        return {
            "texts": self._add(np.frombuffer(b"".join(encoded), np.uint8)),
            "lengths": self._add(np.array(lengths, np.int64)),
        }


class _Reader:
    """Reads one table."""

    def __init__(self, pandas: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._pandas = pandas
        self._arrays = arrays

    def value(self, told: Mapping[str, Any]) -> Any:
        index = self._index(told["index"])
        if told["kind"] == "series":
            return self._pandas.Series(
                index=index, name=told["name"], **self._column(told["values"])
            )
        columns = {
            i: self._pandas.Series(index=index, **self._column(column))
            for i, column in enumerate(told["columns"])
        }
        frame = self._pandas.DataFrame(columns, index=index)
        frame.columns = self._index(told["labels"])
        return frame

    def _index(self, told: Mapping[str, Any]) -> Any:
        if "range" in told:
            return self._pandas.RangeIndex(*told["range"], name=told["name"])
        return self._pandas.Index(name=told["name"], **self._column(told))

    def _column(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with which pandas makes a Series or an Index of a column."""
        if "array" in told:
            return {"data": self._arrays[told["array"]]}
        if "codes" in told:
            codes = self._arrays[told["codes"]]
            categories = self._pandas.Index(**self._column(told["categories"]))
            make = self._pandas.Categorical.from_codes
            return {"data": make(codes, categories=categories, ordered=told["ordered"])}
        whole, texts, begin = bytes(self._arrays[told["texts"]]), [], 0
        for length in self._arrays[told["lengths"]].tolist():
            texts.append(None if length < 0 else whole[begin : begin + length].decode())
            begin += max(length, 0)
        return {"data": texts, "dtype": told["dtype"]}
