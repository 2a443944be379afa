"""Tests data sets: kinds, determinism, refusals, and that a trial sees the data that was given."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hyperflock import DataError
from hyperflock._model.data import as_seen_by_trial, load_arrays, prepare
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

_dtypes = st.sampled_from(["<f4", ">f8", "u1", "<i4", "?", "<c8", "<U3"])


@settings(max_examples=60)
@given(array=_dtypes.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, max_side=4))))
def test_arrays_come_back_as_they_were(array: np.ndarray[Any, Any]) -> None:
    with as_seen_by_trial({"one": array, "many": {"a": array, "b": array}}) as seen:
        for back in (seen["one"], seen["many"]["a"], seen["many"]["b"]):
            assert (back.dtype, back.shape) == (array.dtype, array.shape)
            np.testing.assert_array_equal(back, array)


def test_same_arrays_give_the_same_hash_in_any_order() -> None:
    a, b = np.arange(3), np.zeros((2, 2))
    first, second = prepare({"d": {"a": a, "b": b}}), prepare({"d": {"b": b, "a": a}})
    assert first[0].ref == second[0].ref
    other = prepare({"d": {"a": a + 1, "b": b}})
    assert other[0].ref.sha256 != first[0].ref.sha256


def test_files_keep_their_kind_and_name(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    np.savez(tmp_path / "y.npz", a=np.arange(3))
    (tmp_path / "z.tar.gz").write_bytes(b"anything")
    paths = {name: tmp_path / name for name in ("x.npy", "y.npz", "z.tar.gz")}
    sets = prepare(paths)
    assert [(s.ref.kind, s.ref.filename) for s in sets] == [
        ("npy", "x.npy"),
        ("npz", "y.npz"),
        ("file", "z.tar.gz"),
    ]
    with as_seen_by_trial({k: str(v) for k, v in paths.items()}) as seen:
        assert seen["x.npy"].tolist() == [0, 1, 2]
        assert seen["y.npz"]["a"].tolist() == [0, 1, 2]
        copy = Path(seen["z.tar.gz"])
        assert copy.read_bytes() == b"anything"
        copy.write_bytes(b"changed by the objective")
    assert (tmp_path / "z.tar.gz").read_bytes() == b"anything"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (np.array([object()]), "data_invalid"),
        ({"a": np.array([None])}, "data_invalid"),
        ({}, "data_invalid"),
        ({"a": [1, 2]}, "data_invalid"),
        ({"a/b": np.zeros(1)}, "data_invalid"),
        ((1, 2, 3), "data_invalid"),
        ("no/such/file.bin", "data_not_found"),
        (".", "data_invalid"),
    ],
)
def test_what_cannot_be_sent_says_why(value: Any, code: str) -> None:
    with pytest.raises(DataError) as caught:
        prepare({"name": value})
    assert caught.value.code == code


def test_pickles_are_refused_on_either_side(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.array([{}]), allow_pickle=True)
    np.savez(tmp_path / "p.npz", p=np.array([{}]))
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00\x02")
    (tmp_path / "broken.npz").write_bytes(b"PK")
    for name in ("p.npy", "p.npz", "broken.npy", "broken.npz"):
        with pytest.raises(DataError):
            prepare({"x": tmp_path / name})
        with pytest.raises(DataError):
            load_arrays(name[-3:], io.BytesIO((tmp_path / name).read_bytes()))


def test_too_much_data_is_refused_before_it_is_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("hyperflock._model.data.MAX_BLOB_BYTES", 100)
    (tmp_path / "f").write_bytes(b"x" * 101)
    for value in (tmp_path / "f", np.zeros(101, np.uint8)):
        with pytest.raises(DataError) as caught:
            prepare({"x": value})
        assert caught.value.code == "blob_too_large"
    with pytest.raises(DataError) as caught:
        prepare({str(n): np.zeros(1) for n in range(65)})
    assert caught.value.code == "too_many"
    with pytest.raises(DataError):
        prepare({"": np.zeros(1)})
