"""Tests the examples: their data, and a complete run with a console in this process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import EXAMPLES, write_idx
from fake_console import FakeConsole
from hyperflock._bundle.bundle import bundle_script
from hyperflock._model.data import prepare
from patience import LIMIT_S, until


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _write_mnist(folder: Path, part: str, count: int, end: str) -> None:
    numbers = np.arange(count)
    images = np.broadcast_to((numbers % 251)[:, None, None], (count, 28, 28))
    write_idx(folder / f"{part}-images-idx3-ubyte{end}", images)
    write_idx(folder / f"{part}-labels-idx1-ubyte{end}", numbers % 10)


@pytest.mark.parametrize("end", ["", ".gz"])
def test_mnist_folder_with_training_files(tmp_path: Path, end: str) -> None:
    _write_mnist(tmp_path, "train", 10_500, end)
    _write_mnist(tmp_path, "t10k", 1_200, end)
    arrays, said = _load("mnist_grid").load(tmp_path)
    assert {name: len(array) for name, array in arrays.items()} == {
        "train_images": 10_000,
        "train_labels": 10_000,
        "test_images": 1_000,
        "test_labels": 1_000,
    }
    assert arrays["train_images"].shape[1:] == (28, 28)
    assert arrays["train_labels"][:3].tolist() == [0, 1, 2]
    assert said == "10,000 training, 1,000 evaluation images (the training files)"


def test_mnist_folder_with_only_t10k_is_split_and_says_so(tmp_path: Path) -> None:
    _write_mnist(tmp_path, "t10k", 10_000, ".gz")
    arrays, said = _load("mnist_grid").load(tmp_path)
    assert (len(arrays["train_images"]), len(arrays["test_images"])) == (9_000, 1_000)
    assert arrays["test_images"][0, 0, 0] == 9_000 % 251
    assert "split 9,000/1,000" in said
    few, _ = _load("mnist_grid").load(tmp_path, 50)
    assert (len(few["train_labels"]), len(few["test_labels"])) == (50, 5)


def test_mnist_folder_without_files_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        _load("mnist_grid").load(tmp_path)
    assert "has no t10k-images" in str(caught.value.code)


def test_digits_are_all_there_and_send_the_same_bytes_each_time() -> None:
    module = _load("digits_grid")
    digits = module.load()
    assert digits["images"].shape == (1797, 8, 8)
    assert (digits["images"].max(), digits["labels"].max()) == (16, 9)
    assert prepare({"d": digits})[0].ref == prepare({"d": module.load()})[0].ref


@pytest.mark.parametrize("name", ["digits_grid", "mnist_grid"])
def test_example_travels_alone(name: str) -> None:
    bundle = bundle_script(EXAMPLES / f"{name}.py", "objective")
    assert (bundle.entry, bundle.files) == (f"{name}:objective", (f"{name}.py",))


def test_digits_example_prints_each_candidate_and_the_best(server: FakeConsole) -> None:
    def compute() -> None:
        until("the study", lambda: server.specs)
        for number in range(8):
            server.finish(1, number, value=number / 10)

    device = threading.Thread(target=compute)
    device.start()
    done = subprocess.run(
        [sys.executable, EXAMPLES / "digits_grid.py", "--join-url"],
        env={**os.environ, "HYPERFLOCK_URL": server.url, "HYPERFLOCK_TOKEN": server.token},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    device.join()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("study 1: 8 candidates")
    assert lines[1] == "volunteers join at http://127.0.0.1:1/join#abc"
    assert lines[3].split() == ["4-4-4", "0.0000", "0.9", "1", "d_1", "(chromium", "142,", "cpu)"]
    assert [line.split()[0] for line in lines[3:11]] == [
        *("4-4-4", "4-4-8", "4-8-4", "4-8-8", "8-4-4", "8-4-8", "8-8-4", "8-8-8"),
    ]
    assert lines[11] == "best: 8-8-8 with accuracy 0.7000 on held-out images"
    assert lines[12] == "page: http://127.0.0.1:1/join#abc"
    spec = server.specs[1]
    assert (spec.direction, spec.entry) == ("maximize", "hyperflock_main:objective")


TRAIN = """
import sys
sys.path += {paths!r}
sys.path.insert(0, {examples!r})
import digits_grid, mnist_grid, hyperflock
import numpy as np
def run(module, seed, data):
    params = {{"c1": 4, "c2": 4, "c3": 4}}
    return hyperflock.run_local(module.objective, params, seed, data)
digits = {{"digits": digits_grid.load()}}
first, again, other = (run(digits_grid, seed, digits) for seed in (1, 1, 2))
assert first == again
assert first.points != other.points
assert [step for step, _ in first.points][:21] == list(range(20)) + [20]
assert first.points[-1][1] < 1.0 < first.points[0][1], first.points
# Ten classes: chance is 0.1.
assert first.value > 0.6, first.value
images = np.random.default_rng(0).integers(0, 256, (96, 28, 28)).astype(np.uint8)
labels = (np.arange(96) % 10).astype(np.uint8)
names = ("train_images", "train_labels", "test_images", "test_labels")
mnist = {{"mnist": dict(zip(names, (images, labels, images[:20], labels[:20])))}}
trained = run(mnist_grid, 1, mnist)
assert trained == run(mnist_grid, 1, mnist)
assert len(trained.points) == 3
print("trained", hyperflock.__file__)
"""


@pytest.mark.parametrize("chainer", ["7.8.1", "5.4.0"])
def test_objectives_train_here_and_depend_on_the_seed_alone(chainer: str) -> None:
    root = EXAMPLES.parents[1]
    wheel = root / "build" / "cache" / "wheels" / f"chainer-{chainer}-py3-none-any.whl"
    six = sorted((root / "build" / "cache" / "downloads").glob("six-*.whl"))
    if not wheel.is_file() or not six:
        pytest.fail("Chainer's wheel is not there; ./run setup makes it")
    paths = [str(wheel), str(six[0]), str(root / "worker-runtime" / "python")]
    code = TRAIN.format(paths=paths, examples=str(EXAMPLES))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("trained")
