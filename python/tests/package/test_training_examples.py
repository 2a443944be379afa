"""Tests the examples that train larger networks: their files, and their objectives in the
worker.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import EXAMPLES, ROOT, paths, write_idx
from hyperflock._bundle.bundle import bundle_script
from hyperflock._model.data import prepare

sys.path.insert(0, str(EXAMPLES))

import lstm_text
import mlp_table
import resnet_cifar
import unet_scenes

LICENCE = ROOT / "LICENSE"


def write_cifar(folder: Path, name: str, count: int, classes: int) -> None:
    """Write a binary CIFAR file: one or two labels before the pixels of each image."""
    labels = np.arange(count) % classes
    heads = [labels // 5, labels] if classes == 100 else [labels]
    stream = np.random.RandomState(count)
    pixels = labels[:, None] * (200 // classes) + stream.randint(0, 40, (count, 3072))
    rows = np.concatenate([np.stack(heads, axis=1), pixels], axis=1)
    (folder / name).write_bytes(rows.astype(np.uint8).tobytes())


def write_cifar10(folder: Path, each: int) -> None:
    for number in range(1, 6):
        write_cifar(folder, f"data_batch_{number}.bin", each + number, 10)
    write_cifar(folder, "test_batch.bin", each, 10)


def write_table(path: Path, rows: int) -> None:
    stream = np.random.RandomState(3)
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["length", "kind", "width", "same"])
        for number in range(rows):
            kind = number * 7 % 3
            width = "" if number == 4 else f"{stream.normal(-2 * kind):.3f}"
            lines.writerow([f"{stream.normal(3 * kind):.3f}", "xyz"[kind], width, 1])


def write_digits(folder: Path) -> None:
    stream = np.random.RandomState(4)
    for part, count in (("train", 40), ("t10k", 30)):
        labels = np.arange(count) % 10
        images = (stream.randint(0, 256, (count, 28, 28)) + labels[:, None, None] * 10) % 256
        write_idx(folder / f"{part}-images-idx3-ubyte", images)
        write_idx(folder / f"{part}-labels-idx1-ubyte", labels)


def test_cifar_10_is_read_from_its_six_files(tmp_path: Path) -> None:
    write_cifar10(tmp_path, 20)
    arrays = resnet_cifar.load(tmp_path)
    assert arrays["train_images"].shape == (115, 3, 32, 32)
    assert arrays["train_images"].dtype == np.uint8
    assert arrays["test_labels"].tolist() == list(range(10)) * 2
    # The pixels follow the label, the red values first.
    content = np.fromfile(tmp_path / "data_batch_1.bin", np.uint8).reshape(-1, 3073)
    np.testing.assert_array_equal(arrays["train_images"][3].ravel(), content[3, 1:])
    few = resnet_cifar.load(tmp_path, 50)
    assert (len(few["train_labels"]), len(few["test_labels"])) == (50, 10)


def test_cifar_100_has_the_fine_labels(tmp_path: Path) -> None:
    write_cifar(tmp_path, "train.bin", 200, 100)
    write_cifar(tmp_path, "test.bin", 100, 100)
    arrays = resnet_cifar.load(tmp_path)
    assert arrays["test_labels"].tolist() == list(range(100))
    assert arrays["train_images"].shape == (200, 3, 32, 32)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "data_batch_1.bin is not there"),
        (b"", "its size is no multiple of 3073"),
        (bytes(3072), "its size is no multiple of 3073"),
        (b"\x0a" + bytes(3072), "it has a label 10"),
    ],
)
def test_a_file_that_is_not_cifars_is_one_sentence(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "data_batch_1.bin").write_bytes(content)
    with pytest.raises(SystemExit, match=said):
        resnet_cifar.load(tmp_path)


def test_augmented_images_are_parts_of_the_padded_ones() -> None:
    images = np.random.RandomState(0).randint(0, 256, (30, 3, 32, 32)).astype(np.uint8)
    made = resnet_cifar.augmented(images, np.random.RandomState(1))
    assert made.shape == images.shape
    assert made.dtype == np.float32
    plain = resnet_cifar.normalised(images)
    middle = made[:, :, 8:24, 8:24]
    found = 0
    for image, part in zip(plain, middle, strict=True):
        for turned in (image, image[:, :, ::-1]):
            for down in range(4, 13):
                for right in range(4, 13):
                    window = turned[:, down : down + 16, right : right + 16]
                    found += np.array_equal(window, part)
    assert found == len(images)


def test_a_table_is_scaled_and_its_classes_are_numbered(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", 100)
    table = mlp_table.load(tmp_path / "t.csv", "kind")
    assert table["train_rows"].shape == (80, 3)
    assert table["test_rows"].shape == (20, 3)
    np.testing.assert_allclose(table["train_rows"][:, :2].mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(table["train_rows"][:, :2].std(axis=0), 1, atol=0.05)
    assert not table["train_rows"][:, 2].any()  # a constant column
    assert table["train_labels"][:3].tolist() == [0, 1, 2]
    assert table["test_rows"][0, 1] == 0  # the empty field


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "no column 'kind'; it has a, b"),
        ("a,kind\n1,x\n2\n", "line 3 .* has 1 fields, not 2"),
        ("a,kind\n1,x\none,y\n", "line 3 .*one"),
        ("a,kind\n1,x\n", "has 1 rows; five are the least"),
        ("", "it has none"),
    ],
)
def test_a_table_that_is_none_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(SystemExit, match=said):
        mlp_table.load(tmp_path / "t.csv", "kind")


def test_a_text_becomes_numbers_and_strips() -> None:
    text = lstm_text.load(LICENCE)
    characters = "".join(map(chr, text["characters"]))
    numbers = np.concatenate([text["train"], text["test"]])
    assert "".join(characters[number] for number in numbers) == LICENCE.read_text("utf-8")
    strips = lstm_text.in_strips(text["train"], 16)
    np.testing.assert_array_equal(strips[:, 1], text["train"][len(strips) : 2 * len(strips)])
    with pytest.raises(SystemExit, match="are the least"):
        lstm_text.load(LICENCE, 300)


def test_scenes_have_digits_where_their_pixels_say(tmp_path: Path) -> None:
    write_digits(tmp_path)
    scenes = unet_scenes.load(tmp_path, 12)
    assert scenes["train_images"].shape == scenes["train_kinds"].shape == (12, 64, 64)
    assert len(scenes["test_images"]) == unet_scenes.BATCH
    named = scenes["train_kinds"] > 0
    assert 0.05 < named.mean() < 0.8
    assert scenes["train_images"][named].min() > 100
    assert set(np.unique(scenes["train_kinds"])) <= set(range(11))
    again = unet_scenes.load(tmp_path, 12)
    assert prepare({"d": scenes})[0].ref == prepare({"d": again})[0].ref


@pytest.mark.parametrize("name", ["resnet_cifar", "mlp_table", "lstm_text", "unet_scenes"])
def test_an_example_travels_with_what_it_imports(name: str) -> None:
    bundle = bundle_script(EXAMPLES / f"{name}.py", "objective")
    more = {"mnist_grid.py"} if name == "unet_scenes" else set()
    assert set(bundle.files) == {f"{name}.py", "searching.py"} | more


# This code runs an objective as the worker does, with a host that keeps checkpoints.
TRAIN = """
import importlib, json, sys
from hyperflock._trial import devices, random_state
from hyperflock._trial.host import LocalHost
from hyperflock._trial.trial import Trial
from hyperflock_worker import compat
compat.install()

class Keeping(LocalHost):
    def __init__(self):
        super().__init__()
        self.checkpoints = []

    def save_checkpoint(self, kind, step, content, logged=None):
        self.checkpoints.append((kind, -1 if step is None else step, content))
        return True

def run(name, data, params, checkpoint=None):
    module = importlib.import_module(name)
    module.SAVE_EACH_S = -1
    kept = Keeping()
    devices.prepare({{"wanted": "cpu"}}, 7)
    random_state.seed_everything(7)
    trial = Trial(params, number=0, seed=7, data=data, checkpoint=checkpoint, host=kept)
    value = module.objective(trial)
    used = devices.finish()
    return value, kept, used

sys.path.insert(0, {examples!r})
import numpy as np
told = {{}}
for name, params in {cases!r}.items():
    data = {{each: dict(np.load(path)) for each, path in {data!r}[name].items()}}
    value, kept, used = run(name, data, params)
    middle = len(kept.checkpoints) // 2
    again, rest, _ = run(name, data, params, kept.checkpoints[middle - 1])
    told[name] = {{
        "used": used, "value": value, "again": again, "kind": kept.checkpoints[0][0],
        "saved": len(kept.checkpoints), "saved_after": len(rest.checkpoints),
        "reports": kept.points,
    }}
print(json.dumps(told))
"""
CASES: dict[str, dict[str, Any]] = {
    "resnet_cifar": {"rate": 0.05, "decay": 1e-4, "width": 2, "epochs": 2},
    "mlp_table": {"units": 64, "dropout": 0.0, "epochs": 30},
    "lstm_text": {"units": 16, "dropout": 0.0, "rate": 0.03, "epochs": 2},
    "unet_scenes": {"width": 2, "rate": 0.02, "epochs": 2},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Return, for each example, the path of a file with its data. The example's own function has
    made the data from files of this test.
    """
    folder = tmp_path_factory.mktemp("data")
    write_cifar10(folder, 30)
    write_table(folder / "t.csv", 300)
    write_digits(folder)
    loaded = {
        "resnet_cifar": {"cifar": resnet_cifar.load(folder, 128)},
        "mlp_table": {"table": mlp_table.load(folder / "t.csv", "kind")},
        "lstm_text": {"text": lstm_text.load(LICENCE, 3000)},
        "unet_scenes": {"scenes": unet_scenes.load(folder, 32)},
    }
    made: dict[str, dict[str, str]] = {}
    for name, sets in loaded.items():
        for each, arrays in sets.items():
            np.savez(folder / f"{each}.npz", **arrays)
            made[name] = {each: str(folder / f"{each}.npz")}
    return made


@pytest.mark.parametrize(
    ("version", "backend"), [("7.8.1", "cpu"), ("5.4.0", "cpu"), ("7.8.1", "numpy")]
)
def test_objectives_train_and_go_on_from_a_checkpoint(
    version: str, backend: str, data: dict[str, dict[str, str]]
) -> None:
    more: tuple[Path, ...] = ()
    env = {name: value for name, value in os.environ.items() if name != "ARRAYCORE_LIBRARY"}
    if backend == "cpu":
        library = ROOT / "build" / "release" / "lib" / "libarraycore.so"
        env["ARRAYCORE_LIBRARY"] = os.environ.get("ARRAYCORE_LIBRARY", str(library))
        more = (ROOT / "array-core" / "python",)
    # The matrices are so small that threads would only wait for each other.
    env |= {"PYTHONPATH": paths(version, *more), "OPENBLAS_NUM_THREADS": "1"}
    # On NumPy the examples with convolutions are left out: they take long there, and run the same
    # code as on array-core.
    names = CASES if backend == "cpu" else ("mlp_table", "lstm_text")
    cases = {name: CASES[name] for name in names}
    code = TRAIN.format(examples=str(EXAMPLES), cases=cases, data=data)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert set(told) == set(cases)
    for name, made in told.items():
        assert made["used"] == backend, name
        assert made["kind"] == "npz", name
        # The resumed run gives the value of the uninterrupted one, and computes only the rest.
        assert made["again"] == pytest.approx(made["value"], rel=1e-5), name
        assert 0 < made["saved_after"] < made["saved"], name
        losses = [value for _, value in made["reports"]]
        assert losses[-1] < losses[0], name
    assert told["mlp_table"]["value"] > 0.8  # three classes: chance is a third
    assert told["lstm_text"]["value"] < 6


def test_an_example_tries_itself_without_a_server(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", 100)
    options = ["--data", str(tmp_path / "t.csv"), "--target", "kind", "--try", "--epochs", "2"]
    env = {**os.environ, "PYTHONPATH": paths("7.8.1", ROOT / "python" / "src")}
    done = subprocess.run(
        [sys.executable, EXAMPLES / "mlp_table.py", *options, "--units", "8"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["step", "0"], ["step", "1"]]
    assert lines[2].startswith("units=8 dropout=0.0 epochs=2: accuracy 0.")


CAPTURED = """
import json
import hyperflock

def objective(trial):
    device = hyperflock.device().use()
    import chainer.functions as F
    import chainer.links as L
    import numpy as np
    from chainer.optimizers import SGD

    model = device.send(L.Linear(3, 2))
    optimizer = SGD(0.1).setup(model)
    x, t = device.send(np.ones((4, 3), "f")), device.send(np.array([0, 1, 0, 1], "i"))

    def train(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss.array

    with hyperflock.fast_step(train) as step:
        losses = [float(step(x, t)) for _ in range(6)]
        return losses[0] - losses[-1], step.is_captured, optimizer.t, hyperflock.scalar(2).value

value = hyperflock.run_local(objective, {}).value
import cupy
kept = cupy.ones(3)
try:
    hyperflock.run_local(objective, {})
except hyperflock.DryRunError as error:
    print(json.dumps([*value, error.code, float(kept.sum())]))
"""


def test_a_step_is_captured_in_a_local_run_too() -> None:
    library = ROOT / "build" / "release" / "lib" / "libarraycore.so"
    env = {
        **os.environ,
        "ARRAYCORE_LIBRARY": os.environ.get("ARRAYCORE_LIBRARY", str(library)),
        "PYTHONPATH": paths("7.8.1", ROOT / "python" / "src", ROOT / "array-core" / "python"),
    }
    done = subprocess.run(
        [sys.executable, "-c", CAPTURED], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    fell, captured, steps, number, refusal, kept = json.loads(done.stdout.splitlines()[-1])
    assert fell > 0
    assert (captured, steps, number) == (1, 6, 2)
    assert (refusal, kept) == ("arrays_alive", 3.0)
