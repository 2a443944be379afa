"""Tests that what a trial saves is loaded unchanged, and that what cannot be saved safely is
refused.
"""

from __future__ import annotations

import collections
import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hyperflock._base.errors import CallError, CheckpointError
from hyperflock._trial import checkpoints
from hyperflock._trial.checkpoints import decode, encode
from hyperflock._trial.host import Host
from hyperflock._trial.trial import Saved, Trial
from recording_host import RecordingHost, Refusing


def trial(checkpoint: Saved | None = None, host: Host | None = None) -> Trial:
    return Trial({}, number=0, seed=1, data={}, checkpoint=checkpoint, host=host)


STATE: dict[str, Any] = {
    "epoch": 3,
    "large": 2**80,
    "rate": 0.1,
    "none": None,
    "flags": [True, False],
    "pair": (1, "é世😀"),
    "raw": b"\0\xff",
    "deep": {"a": {"b": [[]]}},
    "": {},
}


def test_a_tree_comes_back_with_its_kinds() -> None:
    kind, content = encode(STATE)
    assert kind == "tree"
    again = decode(kind, content)
    assert again == STATE
    assert repr(again) == repr(STATE)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1],
        np.array(2.5),
        np.zeros((0, 3), np.int8),
        np.array([True, False]),
        np.array([1 + 2j], np.complex64),
        np.array(["text", "é"]),
    ],
)
def test_arrays_keep_dtype_shape_and_values(array: Any) -> None:
    again = decode(*encode({"a": array}))["a"]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert np.array_equal(again, array)


def test_scalars_and_numbers_without_a_value_come_back() -> None:
    again = decode(*encode([np.float32(0.1), float("nan"), float("-inf")]))
    assert type(again[0]) is np.float32
    assert again[0] == np.float32(0.1)
    assert np.isnan(again[1])
    assert again[2] == float("-inf")


@pytest.mark.parametrize(
    "state",
    [
        {1: "a key that is no string"},
        {"a": object()},
        {"a": {1, 2}},
        {"a": np.array([object()])},
        {"a": np.ma.array([1, 2], mask=[False, True])},
        {"a": 10**5_000},
        [lambda: None],
    ],
)
def test_what_would_need_a_pickle_is_refused(state: Any) -> None:
    with pytest.raises(CheckpointError) as caught:
        encode(state)
    assert caught.value.code == "checkpoint_not_a_tree"


@pytest.mark.parametrize(
    ("state", "what"),
    [
        (collections.OrderedDict(a=1), "a collections.OrderedDict"),
        ({"a": {1, 2}}, "a set"),
        ({"a": {(1, 2): 3}}, "a dict with the key (1, 2)"),
    ],
)
def test_a_refusal_names_what_cannot_be_held(state: Any, what: str) -> None:
    with pytest.raises(CheckpointError, match=re.escape(f"cannot hold {what}: give")):
        encode(state)


def test_a_tree_without_an_end_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(CheckpointError):
        encode(endless)


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MAX_BYTES", 1_000)
    with pytest.raises(CheckpointError) as caught:
        trial().checkpoint({"a": np.zeros(1_000)})
    assert caught.value.code == "checkpoint_too_large"


# The array's size is a terabyte, but it uses eight bytes of memory, because its strides are 0.
HUGE = np.broadcast_to(np.float64(1), 2**37)


@pytest.mark.parametrize(("large", "copied"), [(HUGE, 0), ([np.zeros(900)] * 9, 2)])
def test_what_is_too_large_is_refused_before_it_is_copied(
    large: Any, copied: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MAX_BYTES", 20_000)
    saved = []
    save = np.save

    def counted(*args: Any, **options: Any) -> None:
        saved.append(1)
        save(*args, **options)

    monkeypatch.setattr(np, "save", counted)
    with pytest.raises(CheckpointError) as caught:
        encode({"a": large})
    assert caught.value.code == "checkpoint_too_large"
    assert len(saved) == copied


def archive(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name.replace("_", "."), content)
    return out.getvalue()


def pickled() -> bytes:
    out = io.BytesIO()
    np.save(out, np.array([None]), allow_pickle=True)
    return out.getvalue()


def boastful() -> bytes:
    """Return the bytes of an array file whose header claims a size of 8 PB."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }\n"
    return b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head


def damaged() -> bytes:
    """Return an archive whose compressed bytes are invalid."""
    whole = archive(tree_json=b'"' + b"ab" * 400 + b'"')
    begins = whole.index(b"tree.json") + len(b"tree.json")
    return whole[:begins] + b"\xff" * 8 + whole[begins + 8 :]


# The beginning of an entry in a zip's central directory. The second form has the flag that says
# that the file is encrypted.
ENCRYPTED = (b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0")

MALFORMED: dict[str, Callable[[], tuple[str, bytes]]] = {
    "no_archive": lambda: ("tree", b"PK\3\4 and nothing"),
    "no_tree": lambda: ("tree", archive(other_json=b"1")),
    "no_json": lambda: ("tree", archive(tree_json=b"{")),
    "list_without_kind": lambda: ("tree", archive(tree_json=b"[1]")),
    "unknown_kind": lambda: ("tree", archive(tree_json=b'{"pickle": "1.npy"}')),
    "two_kinds": lambda: ("tree", archive(tree_json=b'{"list": [], "tuple": []}')),
    "missing_file": lambda: ("tree", archive(tree_json=b'{"array": "1.npy"}')),
    "pickle_inside": lambda: (
        "tree",
        archive(tree_json=b'{"array": "1.npy"}', **{"1_npy": pickled()}),
    ),
    "endless": lambda: ("tree", archive(tree_json=b'{"list": [' * 5_000 + b"]}" * 5_000)),
    "bomb": lambda: ("tree", archive(tree_json=b"1", a_bin=bytes(2 * checkpoints.MAX_BYTES))),
    "damaged": lambda: ("tree", damaged()),
    "encrypted": lambda: ("tree", archive(tree_json=b"1").replace(*ENCRYPTED)),
    "large_in_name_only": lambda: (
        "tree",
        archive(tree_json=b'{"array": "1.npy"}', **{"1_npy": boastful()}),
    ),
    "no_array_in_npz": lambda: ("npz", archive(a_npy=b"no array")),
    "pickle_in_npz": lambda: ("npz", archive(a_npy=pickled())),
    "unknown_format": lambda: ("pickle", archive(tree_json=b"1")),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_told_and_the_trial_begins_anew(name: str, capsys: Any) -> None:
    kind, content = MALFORMED[name]()
    with pytest.raises(CheckpointError) as caught:
        decode(kind, content)
    assert caught.value.code == "checkpoint_malformed"
    # Another device sent the checkpoint. It must not make this device's attempt fail.
    assert trial((kind, 3, content)).resume() is None
    assert "checkpoint_malformed" in capsys.readouterr().err


def test_a_target_that_is_no_object_of_chainers_is_told_on_the_first_device_too() -> None:
    kind, content = encode({"a": 1})
    for one in (trial(), trial((kind, 3, content))):
        with pytest.raises(TypeError, match="a link or an optimizer, not a dict"):
            one.resume({})


def test_saving_tells_the_host_the_last_reported_step() -> None:
    local = RecordingHost()
    one = trial(host=local)
    assert one.checkpoint({"a": 1}) is True
    one.report(0.5, 7)
    one.checkpoint({"a": 2})
    assert [(kind, step) for kind, step, _ in local.checkpoints] == [("tree", -1), ("tree", 7)]
    resumed = trial(local.checkpoints[-1], local)
    assert resumed.resume() == {"a": 2}
    resumed.checkpoint({"a": 3})
    assert local.checkpoints[-1][1] == 7
    assert trial().resume() is None


def test_a_checkpoint_that_the_server_could_not_store_is_no_failure() -> None:
    assert trial(host=Refusing()).checkpoint([1]) is False
    assert trial(host=Refusing(CallError("late", code="call_timeout"))).checkpoint([1]) is False
    with pytest.raises(CheckpointError) as caught:
        trial(host=Refusing(CallError("too large", code="checkpoint_too_large"))).checkpoint([1])
    assert caught.value.code == "checkpoint_too_large"
