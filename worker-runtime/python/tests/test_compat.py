"""Tests stand-ins and patches: Chainer's behaviour with each of them, and the failure without
it.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fresh_python import SnippetError, chainer_paths, run_python, without
from hyperflock_worker.compat import numpy_names, patches, stand_ins

TRAIN = """
import chainer.links as L
np.random.seed(3)
model = chainer.Sequential(L.Linear(4, 8), F.relu, L.Linear(8, 3))
optimizer = chainer.optimizers.Adam()
optimizer.setup(model)
x = np.random.rand(6, 4).astype(np.float32)
t = np.array([0, 1, 2, 0, 1, 2], np.int32)
losses = []
for _ in range(3):
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    losses.append(float(loss.array))
result = [chainer.__version__, losses]
"""


def test_both_versions_import_and_train(snippet: Any, version: str) -> None:
    imported, losses = snippet(version, TRAIN)
    assert imported == version
    assert losses[0] > losses[1] > losses[2]


def test_both_versions_train_alike(snippet: Any) -> None:
    assert snippet("7.8.1", TRAIN)[1] == pytest.approx(snippet("5.4.0", TRAIN)[1], rel=1e-6)


def test_chainer_does_not_import_without_the_package(version: str) -> None:
    with pytest.raises(SnippetError, match="ModuleNotFoundError"):
        run_python("import chainer\nresult = 0", chainer_paths(version))


def test_patches_reach_a_chainer_that_is_already_imported(snippet: Any) -> None:
    # The first install had no patches. The later one must find the modules that are already
    # imported.
    code = """
clip = lambda: F.clip(np.zeros(2, np.float32), np.float64(-1), np.float64(1)).dtype.name
result = [clip()]
import sys
sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _hooks._PatchFinder)]
_hooks.install(table)
result.append(clip())
"""
    before = "table, patches.PATCHES = patches.PATCHES, ()"
    assert snippet("5.4.0", code, before=before) == ["float64", "float32"]


def test_a_second_install_changes_nothing(snippet: Any) -> None:
    code = """
import sys
before = list(sys.meta_path)
compat.install()
result = before == list(sys.meta_path)
"""
    assert snippet("7.8.1", code)


def test_patched_modules_keep_their_own_loader(snippet: Any, version: str) -> None:
    code = """
import chainer.optimizer as m
result = [type(m.__loader__).__module__, m.__spec__.loader is m.__loader__]
"""
    assert snippet(version, code) == ["_frozen_importlib_external", True]


# --- stand-ins ---------------------------------------------------------------------------------


def refuse(*names: str) -> str:
    """Return code that makes imports of these modules fail, as in a browser that lacks them."""
    return f"""
import sys
class Absent:
    def find_spec(self, name, path, target=None):
        if name.split('.')[0] in {names!r} or name in {names!r}:
            for finder in sys.meta_path:
                if type(finder).__name__ == '_FallbackFinder' and finder.find_spec(name, path):
                    return finder.find_spec(name, path)
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
"""


@pytest.mark.parametrize("name", ["filelock", "typing_extensions"])
def test_chainer_imports_without(snippet: Any, name: str) -> None:
    assert snippet("7.8.1", "result = chainer.__version__", before=refuse(name)) == "7.8.1"


@pytest.mark.parametrize(
    ("name", "versions"),
    [("filelock", ["7.8.1", "5.4.0"]), ("typing_extensions", ["7.8.1"])],
)
def test_fallback_is_needed(snippet: Any, name: str, versions: list[str]) -> None:
    for version in versions:
        with pytest.raises(SnippetError, match=name):
            snippet(
                version, "result = 0", before=f"{refuse(name)}\ndel stand_ins.FALLBACKS[{name!r}]"
            )


@pytest.mark.parametrize(
    ("name", "versions"),
    [("numpy.distutils.system_info", ["7.8.1", "5.4.0"]), ("pkg_resources", ["7.8.1"])],
)
def test_shadow_is_needed(snippet: Any, name: str, versions: list[str]) -> None:
    remove = f"del stand_ins.SHADOWS['chainer._environment_check'][{name!r}]"
    remove += f"\nstand_ins.FALLBACKS.pop({name!r}, None)"
    for version in versions:
        with pytest.raises(SnippetError, match=r"numpy\.distutils|pkg_resources"):
            snippet(version, "result = 0", before=f"{refuse(name)}\n{remove}")


def test_shadows_are_seen_by_nobody_else(snippet: Any) -> None:
    code = (
        "import sys\nresult = [n for n in ('pkg_resources', 'numpy.distutils') if n in sys.modules]"
    )
    assert snippet("7.8.1", code) == []


def test_mac_check_asks_the_stand_in_for_the_blas(snippet: Any, version: str) -> None:
    code = """
import sys
sys.platform = 'darwin'
chainer._environment_check._check_osx_numpy_backend()
result = 'asked'
"""
    assert snippet(version, code) == "asked"


def test_filelock_locks_and_times_out() -> None:
    import threading
    from types import ModuleType

    module = ModuleType("filelock")
    stand_ins.filelock(module)
    lock = module.FileLock("somewhere", timeout=0)
    failures: list[BaseException] = []

    def try_it() -> None:
        try:
            lock.acquire()
        except module.Timeout as error:
            failures.append(error)

    with lock:
        other = threading.Thread(target=try_it)
        other.start()
        other.join()
    assert len(failures) == 1
    with lock:
        pass


def test_typing_extensions_and_mock_forward() -> None:
    import typing
    import unittest.mock
    from types import ModuleType

    module = ModuleType("typing_extensions")
    stand_ins.typing_extensions(module)
    assert module.Protocol is typing.Protocol
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = module.Nonsense
    module = ModuleType("mock")
    stand_ins.mock(module)
    assert module.Mock is unittest.mock.Mock


# --- names of NumPy 1 --------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(numpy_names.NAMES))
def test_numpy_name_comes_back(name: str) -> None:
    bare, installed = names_of_numpy()
    assert name not in bare
    assert name in installed


@functools.cache
def names_of_numpy() -> tuple[frozenset[str], frozenset[str]]:
    """Return NumPy's names before and after ``numpy_names.install()``, in a new interpreter."""
    code = """
import numpy as np
result = [sorted(vars(np))]
from hyperflock_worker.compat import numpy_names
numpy_names.install()
result.append(sorted(vars(np)))
"""
    bare, installed = run_python(code, [])
    return frozenset(bare), frozenset(installed)


def test_numpy_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "product", "already here", raising=False)
    numpy_names.install()
    assert vars(np)["product"] == "already here"


def test_asscalar() -> None:
    assert numpy_names.NAMES["asscalar"](np.array([[2.5]])) == 2.5


def test_as_strided_needs_sctypes(snippet: Any) -> None:
    with pytest.raises(SnippetError, match="sctypes"):
        snippet("7.8.1", "result = 0", before="del numpy_names.NAMES['sctypes']")
    code = "result = F.as_strided(np.arange(4, dtype=np.float32), (2, 3), (1, 1), 0).array.tolist()"
    assert snippet("7.8.1", code) == [[0, 1, 2], [1, 2, 3]]


def test_resize_images_needs_float(snippet: Any) -> None:
    code = "result = F.resize_images(np.ones((1, 1, 2, 2), np.float32), (3, 3)).array.sum().item()"
    with pytest.raises(SnippetError, match=r"np\.float|'float'"):
        snippet("7.8.1", code, before="del numpy_names.NAMES['float']")
    assert snippet("7.8.1", code) == pytest.approx(9)


# --- patches -----------------------------------------------------------------------------------


def test_softmax_cross_entropy_stays_float32(snippet: Any) -> None:
    code = """
x = chainer.Variable(np.random.RandomState(0).rand(3, 4).astype(np.float32))
loss = F.softmax_cross_entropy(x, np.array([0, 1, 2], np.int32))
loss.backward()
result = [loss.dtype.name, x.grad.dtype.name]
"""
    assert snippet("5.4.0", code) == ["float32", "float32"]
    forward_only = code.replace("loss.backward()", "x.grad = x.array")
    patch = without("softmax_cross_entropy_stays_float32")
    assert snippet("5.4.0", forward_only, before=patch)[0] == "float64"


def test_softmax_cross_entropy_computes_in_float32(snippet: Any) -> None:
    # NumPy 1 multiplied the float32 sum by the coefficient as float32.
    code = """
x = np.random.RandomState(5).rand(7, 4).astype(np.float32)
t = np.array([0, 1, 2, 3, 0, 1, 2], np.int32)
log_p = F.log_softmax(x).array[np.arange(7), t]
expected = log_p.sum(keepdims=True) * np.float32(-1 / 7)
result = [float(F.softmax_cross_entropy(x, t).array), float(expected[0])]
"""
    got, expected = snippet("5.4.0", code)
    assert got == expected


def test_clip_bounds_give_way(snippet: Any) -> None:
    code = """
y = F.clip(np.array([-2, 2], np.float32), np.float64(-1), np.float64(1))
result = [y.dtype.name, y.array.tolist()]
"""
    assert snippet("5.4.0", code) == ["float32", [-1, 1]]
    assert snippet("5.4.0", code, before=without("clip_bounds_give_way"))[0] == "float64"


def test_clip_still_refuses_what_it_refused(snippet: Any) -> None:
    code = """
try:
    F.clip(np.zeros(2, np.float32), 0, 1.0)
    result = 'accepted'
except TypeError as error:
    result = str(error)
"""
    assert snippet("5.4.0", code) == "x_min must be float value"


def test_pad_sequence_wraps(snippet: Any, version: str) -> None:
    code = """
xs = [np.array([1, 2], np.uint8), np.array([3], np.uint8)]
result = F.pad_sequence(xs, padding=-1).array.tolist()
"""
    assert snippet(version, code) == [[1, 2], [3, 255]]
    with pytest.raises(SnippetError, match="OverflowError"):
        snippet(version, code, before=without("pad_sequence_wraps"))


SNAPSHOT = """
import io, chainer.links as L
class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(None, 2)  # its W is not initialised: stored as None
out = io.BytesIO()
chainer.serializers.save_npz(out, Net())
out.seek(0)
net = Net()
chainer.serializers.load_npz(out, net)
result = [net.l.W.array is None, net.l.b.array.tolist()]
"""


def test_snapshots_with_none_load(snippet: Any, version: str) -> None:
    assert snippet(version, SNAPSHOT) == [True, [0, 0]]


def test_snapshots_with_none_need_the_patch(snippet: Any) -> None:
    with pytest.raises(SnippetError, match="allow_pickle=False"):
        snippet("5.4.0", SNAPSHOT, before=without("snapshots_with_none_load"))


def test_snapshots_run_no_foreign_code(snippet: Any) -> None:
    code = """
import io, os
class Evil:
    def __reduce__(self):
        return (os.getcwd, ())
out = io.BytesIO()
np.savez(out, x=np.array(Evil(), dtype=object))
out.seek(0)
try:
    chainer.serializers.NpzDeserializer(np.load(out))('x', None)
    result = 'ran'
except Exception as error:
    result = str(error)
"""
    assert "a snapshot may not hold posix.getcwd" in snippet("5.4.0", code)


ITERATE = """
made = []
for iterator in (
    chainer.iterators.MultiprocessIterator(list(range(5)), 2, repeat=False, shuffle=False,
                                           n_processes=1),
    chainer.iterators.MultithreadIterator(list(range(5)), 2, False, False, 2),
):
    serial = isinstance(iterator, chainer.iterators.SerialIterator)
    batches = [list(batch) for batch in iterator] if serial else []
    made.append([type(iterator).__name__, serial, batches])
    iterator.finalize()
result = made
"""
IN_A_BROWSER = "patches.can_start_threads = lambda: False"


def test_iterators_become_serial(snippet: Any, version: str) -> None:
    batches = [[0, 1], [2, 3], [4]]
    assert snippet(version, ITERATE, before=IN_A_BROWSER) == [
        ["MultiprocessIterator", True, batches],
        ["MultithreadIterator", True, batches],
    ]


def test_iterators_stay_parallel_where_they_can(snippet: Any, version: str) -> None:
    made = snippet(version, ITERATE)
    assert [serial for _, serial, _ in made] == [False, False]


def test_iterators_need_the_patch(snippet: Any, version: str) -> None:
    made = snippet(version, ITERATE, before=f"{IN_A_BROWSER}\n{without('iterators_become_serial')}")
    assert [serial for _, serial, _ in made] == [False, False]


PROGRESS = """
import chainer.links as L
updates = []
compat.install(lambda: updates.append(1))
class Mine(chainer.optimizers.SGD):
    def update(self, lossfun=None, *args, **kwds):
        super().update(lossfun, *args, **kwds)
result = []
for optimizer in (chainer.optimizers.SGD(), chainer.optimizers.Adam(), Mine()):
    model = L.Linear(2, 1)
    optimizer.setup(model)
    before = len(updates)
    optimizer.update(lambda: F.sum(model(np.ones((1, 2), np.float32))))
    result.append(len(updates) > before)
"""


def test_updates_count_as_progress(snippet: Any, version: str) -> None:
    assert snippet(version, PROGRESS) == [True, True, True]
    bare = snippet(version, PROGRESS, before=without("updates_count_as_progress"))
    assert bare == [False, False, False]


TRAINER = """
from chainer import training
seen = []
patches.on_train = seen.append
class Updater(training.Updater):
    iteration = 0
    def get_all_optimizers(self): return {}
    def connect_trainer(self, trainer): pass
    def finalize(self): pass
trainer = training.Trainer(Updater(), lambda trainer: True, out=".")
trainer.run()
result = seen == [trainer]
"""


def test_a_trainer_announces_that_it_runs(snippet: Any, version: str) -> None:
    assert snippet(version, TRAINER)
    assert not snippet(version, TRAINER, before=without("trainers_announce_their_run"))


def test_every_patch_is_taken_out_once() -> None:
    source = Path(__file__).read_text()
    names = {patch.apply.__name__ for patch in patches.PATCHES}
    assert {
        name for name in names if not re.search(rf"without\([\"']{name}[\"']\)", source)
    } == set()
