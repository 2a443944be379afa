"""What a trial saves comes back as it was; what cannot be saved safely is refused."""

from __future__ import annotations

import collections
import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hyperflock_worker import bridge, checkpoints
from hyperflock_worker.checkpoints import CheckpointError, decode, encode
from hyperflock_worker.failures import outcome_of
from hyperflock_worker.runner import run_attempt
from hyperflock_worker.trial import Trial


@pytest.fixture(autouse=True)
def local() -> Any:
    here = bridge.LocalBridge()
    bridge.set_bridge(here)
    yield here
    bridge.set_bridge(None)


def trial(checkpoint: tuple[str, int, bytes] | None = None) -> Trial:
    return Trial(0, {}, {}, 1, checkpoint)


STATE = {
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
    assert outcome_of(caught.value, None)["error"]["code"] == "checkpoint_not_a_tree"


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


# A terabyte by its size, eight bytes by its strides.
HUGE = np.broadcast_to(np.float64(1), 2**37)


@pytest.mark.parametrize(("large", "copied"), [(HUGE, 0), ([np.zeros(900)] * 9, 2)])
def test_what_is_too_large_is_refused_before_it_is_copied(
    large: Any, copied: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MAX_BYTES", 20_000)
    saved = []
    save = np.save
    monkeypatch.setattr(np, "save", lambda *args, **kept: (saved.append(1), save(*args, **kept)))
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
    """Give an array's file that says to hold 8 PB."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }\n"
    return b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head


def damaged() -> bytes:
    """Give an archive whose packed bytes are none."""
    whole = archive(tree_json=b'"' + b"ab" * 400 + b'"')
    begins = whole.index(b"tree.json") + len(b"tree.json")
    return whole[:begins] + b"\xff" * 8 + whole[begins + 8 :]


# The flags of an entry in the archive's directory, before and after somebody set a password.
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
    # Another device sent it: it must not be able to fail this one's trial.
    assert trial((kind, 3, content)).resume() is None
    assert "checkpoint_malformed" in capsys.readouterr().err


def test_a_target_that_is_no_object_of_chainers_is_told_on_the_first_device_too() -> None:
    kind, content = encode({"a": 1})
    for one in (trial(), trial((kind, 3, content))):
        with pytest.raises(TypeError, match="a link or an optimizer, not a dict"):
            one.resume({})


def test_saving_tells_the_bridge_the_last_reported_step(local: bridge.LocalBridge) -> None:
    one = trial()
    assert one.checkpoint({"a": 1}) is True
    one.report(0.5, 7)
    one.checkpoint({"a": 2})
    assert [(kind, step) for kind, step, _ in local.checkpoints] == [("tree", -1), ("tree", 7)]
    resumed = trial(local.checkpoints[-1])
    assert resumed.resume() == {"a": 2}
    resumed.checkpoint({"a": 3})
    assert local.checkpoints[-1][1] == 7
    assert trial().resume() is None


def test_a_checkpoint_that_the_server_could_not_store_is_no_failure() -> None:
    class Offline(bridge.LocalBridge):
        def upload(self, head_json: str, content: bytes) -> str:
            return '{"ok": true, "value": false}'

    bridge.set_bridge(Offline())
    assert trial().checkpoint([1]) is False

    class Refusing(bridge.LocalBridge):
        def upload(self, head_json: str, content: bytes) -> str:
            error = {"code": "checkpoint_too_large", "message": "too large"}
            return json.dumps({"ok": False, "error": error})

    bridge.set_bridge(Refusing())
    with pytest.raises(CheckpointError) as caught:
        trial().checkpoint([1])
    assert caught.value.code == "checkpoint_too_large"

    class Late(bridge.LocalBridge):
        def upload(self, head_json: str, content: bytes) -> str:
            error = {"code": "call_timeout", "message": "late"}
            return json.dumps({"ok": False, "error": error})

    bridge.set_bridge(Late())
    assert trial().checkpoint([1]) is False


def test_an_attempt_goes_on_where_another_stopped(local: bridge.LocalBridge) -> None:
    source = (
        "def objective(trial):\n"
        "    state = trial.resume() or {'epoch': 0, 'seen': []}\n"
        "    for epoch in range(state['epoch'], 4):\n"
        "        state['seen'].append(epoch)\n"
        "        trial.report(float(epoch), epoch)\n"
        "        trial.checkpoint({**state, 'epoch': epoch + 1})\n"
        "        if epoch == 1 and trial.params['stop']:\n"
        "            raise KeyboardInterrupt\n"
        "    return len(state['seen'])\n"
    )
    bundle = _bundle(source)
    spec = {"attempt": 1, "study": 1, "trial": 0, "entry": "study:objective", "seed": 1,
            "chainer": "7.8.1"}  # fmt: skip
    first = json.loads(run_attempt(json.dumps({**spec, "params": '{"stop": true}'}), bundle, {}))
    assert first["error"]["message"] == "KeyboardInterrupt"
    resumed = [local.checkpoints[-1]]
    second = json.loads(
        run_attempt(json.dumps({**spec, "params": '{"stop": false}'}), bundle, {}, resumed)
    )
    assert second == {"outcome": "complete", "values": [4.0], "backend": "numpy"}
    assert [step for step, _ in local.reports] == [0, 1, 2, 3]


def _bundle(source: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("study.py", source)
    return out.getvalue()


def test_chainer_objects_come_back_from_their_npz(
    snippet: Callable[..., Any], version: str
) -> None:
    code = """
import io
import chainer.links as L
from hyperflock_worker import bridge
from hyperflock_worker.trial import Trial
bridge.set_bridge(bridge.LocalBridge())
def network():
    return chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4), L.Linear(None, 2))
np.random.seed(0)
model, fresh = network(), network()
optimizer = chainer.optimizers.Adam().setup(model)
x = np.ones((2, 3), np.float32)
before = Trial(0, {}, {}, 1)
assert before.checkpoint(network()) is True   # one layer has no shape yet: None in its npz
model.cleargrads(); F.sum(model(x)).backward(); optimizer.update()
assert before.checkpoint(model)
kind, step, content = bridge.current().checkpoints[-1]
resumed = Trial(0, {}, {}, 1, (kind, step, content))
assert kind == "npz" and resumed.resume(fresh)
with chainer.using_config("train", False):
    assert np.array_equal(fresh(x).array, model(x).array)
chainer.serializers.load_npz(io.BytesIO(content), network())   # it is Chainer's own format
np.random.seed(3)
assert before.checkpoint(optimizer)
unbroken = np.random.rand()
again = chainer.optimizers.Adam().setup(fresh)
held = Trial(0, {}, {}, 1, bridge.current().checkpoints[-1])
assert held.resume(again) and again.t == optimizer.t == 1
assert np.random.rand() == unbroken   # the generators go on
assert not before.resume(fresh)
result = sorted(resumed.resume())[:1]
"""
    assert len(snippet(version, code)) == 1


def test_what_an_object_of_chainers_writes_is_measured_before_it_is_copied(
    snippet: Callable[..., Any], version: str
) -> None:
    code = """
from hyperflock_worker import checkpoints
class Link:
    def serialize(self, serializer):   # as a view a terabyte, eight bytes in memory
        serializer.target["w"] = np.broadcast_to(np.float64(1), 2**37)
try:
    checkpoints.encode(Link())
except checkpoints.CheckpointError as error:
    result = error.code
"""
    assert snippet(version, code) == "checkpoint_too_large"


def test_a_trainer_goes_on_at_another_device_as_if_it_had_not_stopped(
    snippet: Callable[..., Any], version: str
) -> None:
    code = """
import hyperflock
from chainer import iterators, training
from chainer.training import extensions
from hyperflock_worker import bridge
from hyperflock_worker.trial import Trial
class Gone(Exception): pass
def run(saved=None, dies_at=None, interval_s=0):
    np.random.seed(0)
    there = bridge.LocalBridge()
    bridge.set_bridge(there)
    model = chainer.links.Classifier(chainer.links.Linear(3, 2))
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    x, t = np.random.rand(12, 3).astype("f"), np.arange(12) % 2
    data = chainer.datasets.TupleDataset(x, t.astype("i"))
    batches = iterators.SerialIterator(data, 4, shuffle=False)
    updater = training.updaters.StandardUpdater(batches, optimizer)
    trainer = training.Trainer(updater, (4, "epoch"), out=".")
    trainer.extend(extensions.ExponentialShift("lr", 0.5), trigger=(1, "epoch"))
    ticks = iter(range(100))
    trial = Trial(0, {}, {}, 1, saved)
    trainer.extend(hyperflock.CheckpointExtension(
        trial, interval_s=interval_s, clock=lambda: next(ticks)))
    epochs = []
    def watch(trainer):
        epochs.append(trainer.updater.epoch)
        if trainer.updater.epoch == dies_at: raise Gone
    trainer.extend(watch, trigger=(1, "epoch"), name="watch")
    resumed = trial.resume(trainer)
    try: trainer.run()
    except Gone: pass
    weights = [p.array.tolist() for _, p in sorted(model.namedparams())]
    return weights, epochs, there.checkpoints, resumed
whole, _, saves, resumed = run()
assert len(saves) == 4 and not resumed
_, epochs, saves, _ = run(dies_at=3)
assert epochs == [1, 2, 3] and len(saves) == 2
gone_on, epochs, _, resumed = run(saved=saves[-1])
late = run(interval_s=2)[2]   # a clock that ticks once a look
result = [epochs, resumed, gone_on == whole, len(late)]
"""
    before = "import warnings; warnings.simplefilter('default')"
    assert snippet(version, code, before=before) == [[3, 4], True, True, 2]
