"""Tests that tables of pandas and lists reach a trial as they are."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hyperflock import DataError
from hyperflock._bundle.archive import needs_of
from hyperflock._bundle.bundle import bundle_objective
from hyperflock._client.submission import Submission
from hyperflock._model.data import as_seen_by_trial, load_arrays, npz_bytes, prepare
from hyperflock._trial.tables import DESCRIPTION, value_of

FRAMES = {
    "numbers": pd.DataFrame({"x": [1, 2], "y": [0.5, np.nan], "z": [True, False]}),
    "texts": pd.DataFrame({"x": ["a", None, "é\n"], "y": ["", "b", "c"]}),
    "objects": pd.DataFrame({"x": pd.Series(["a", None], dtype=object)}),
    "dates": pd.DataFrame({"at": pd.to_datetime(["2026-01-01", None])}, index=["a", "b"]),
    "categories": pd.DataFrame({"x": pd.Categorical(["a", "b", None], ["b", "a"], ordered=True)}),
    "labels": pd.DataFrame([[1, 2], [3, 4]], columns=[7, 8], index=pd.Index([5, 9], name="id")),
    "same labels": pd.DataFrame([[1, "a"]], columns=["x", "x"]),
    "a part": pd.DataFrame({"x": range(10)})[2:8:2],
    "no rows": pd.DataFrame({"x": pd.Series([], dtype=float), "y": pd.Series([], dtype=str)}),
    "no columns": pd.DataFrame(index=range(3)),
}


def _seen(value: object) -> Any:
    with as_seen_by_trial({"it": value}) as data:
        return data["it"]


@pytest.mark.parametrize("name", FRAMES)
def test_a_table_arrives_as_it_is(name: str) -> None:
    frame = FRAMES[name]
    pd.testing.assert_frame_equal(_seen(frame), frame, check_freq=False)


def test_a_series_arrives_as_it_is() -> None:
    series = pd.Series(["a", "b"], index=[3, 1], name="letters")
    pd.testing.assert_series_equal(_seen(series), series)


def test_a_list_arrives_as_it_is() -> None:
    value = [1, 2.5, None, True, "é", [float("inf")], {"a": [10**30]}]
    assert _seen(value) == value
    assert _seen([np.float32(0.5), np.int64(3)]) == [0.5, 3]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (pd.DataFrame({"x": [1, "a"]}), "the column 'x' has a int among its texts"),
        (pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}), "'x' has the type Int64"),
        (
            pd.DataFrame({"x": pd.to_datetime(["2026-01-01"], utc=True)}),
            "'x' has the type datetime",
        ),
        (FRAMES["numbers"].set_index(["x", "z"]), "the index has several levels"),
        ([1, {2}], "the list's item 1 is a set"),
        ([(1, 2)], "the list's item 0 is a tuple"),
    ],
    ids=["mixed", "nullable", "time zone", "levels", "set", "tuple"],
)
def test_what_cannot_be_sent_is_named(value: object, reason: str) -> None:
    with pytest.raises(DataError, match=f"the data set 'it' cannot be sent: .*{reason}"):
        prepare({"it": value})


def test_the_same_table_has_the_same_bytes() -> None:
    one, two = (prepare({"it": FRAMES["texts"].copy()})[0] for _ in range(2))
    assert one.ref == two.ref
    assert one.ref.kind == "npz"


def test_a_description_that_does_not_fit_is_an_error() -> None:
    for told in (b"{", b"[]", b'{"kind": "frame"}', b'{"kind": "frame", "index": {"array": "x"}}'):
        with pytest.raises((ValueError, KeyError, TypeError)):
            value_of({DESCRIPTION: np.frombuffer(told, np.uint8)})
    damaged = npz_bytes("it", {DESCRIPTION: np.frombuffer(b"{}", np.uint8)})
    with pytest.raises(DataError, match="the arrays cannot be read"):
        load_arrays("npz", io.BytesIO(damaged))


def _objective(trial: Any) -> float:
    return float(trial.data["table"]["x"].sum())


def test_a_trial_with_a_table_loads_pandas() -> None:
    data = {"numbers": np.zeros(3), "names": ["a"]}
    bundle = bundle_objective(_objective)
    plain = Submission(bundle, {"x": [1]}, prepare(data), name="plain")
    assert plain.bundle is bundle
    made = Submission(bundle, {"x": [1]}, prepare({**data, "table": FRAMES["numbers"]}), name="x")
    assert needs_of(made.bundle.content) == {"pandas"}
    assert made.bundle.files == bundle.files
    assert b'"pandas"' in made.body()
