"""Tests files that trials uploaded: they are listed, fetched, and copied into the researcher's own
stores.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import asked_objectives as given
import hyperflock
import optuna
import pytest
from asked_objectives import uploading as using
from dashboard_app import Dashboard
from fake_asked import Devices
from fake_console import FakeConsole, artifact_id
from hyperflock import AsyncClient, Client, HyperflockError, NotFoundError
from hyperflock._bundle.bundle import bundle_objective
from hyperflock._bundle.capture import Capture
from hyperflock._bundle.capture_stores import label_of
from hyperflock._cli import command as _cli
from hyperflock._client.artifacts import Artifact, file_name
from hyperflock._transport import background_loop as _loop
from hyperflock.optuna import ArtifactStore, Storage
from hyperflock.optuna.owner import optimize as _optimize
from hyperflock.optuna.owner import owner as _owner
from hyperflock.optuna.owner.artifact_sync import Bringer
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.storage.artifacts import Stores
from hyperflock.optuna.study_import import Outcome, artifacts_of
from objectives import objective as grid_objective
from optuna.artifacts import Backoff, FileSystemArtifactStore, download_artifact
from optuna.artifacts.exceptions import ArtifactNotFound
from patience import LIMIT_S

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Bucket:
    """A store that is not one of Optuna's classes. Its connection cannot be pickled."""

    def __init__(self, bucket: str) -> None:
        self.bucket = bucket
        self.connection = threading.Lock()
        self.held: dict[str, bytes] = {}

    def open_reader(self, artifact_id: str) -> BinaryIO:
        raise ArtifactNotFound(artifact_id)

    def write(self, artifact_id: str, content_body: BinaryIO) -> None:
        self.held[artifact_id] = content_body.read()

    def remove(self, artifact_id: str) -> None:
        raise NotImplementedError


def leaving(server: FakeConsole, label: str | None) -> Callable[[Any], float]:
    """Return an objective that stores its file at the server, as a device does."""

    def run(trial: Any) -> float:
        x = trial.suggest_float("x", -10, 10)
        identity = server.keep(1, trial.number, "weights.txt", str(x).encode(), store=label)
        meta = {"artifact_id": identity, "filename": "weights.txt", "mimetype": "text/plain"}
        trial.system_attrs[f"artifacts:{identity}"] = json.dumps({**meta, "encoding": None})
        return float(x * x)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "artifacts"
    made.mkdir()
    return made


def optimize(study: optuna.Study, objective: Any, n_trials: int, **options: Any) -> None:
    hyperflock.optuna.optimize(study, objective, n_trials, **options)


def test_what_trials_upload_is_in_the_studys_own_store_when_callbacks_run(
    server: FakeConsole, client: Client, folder: Path
) -> None:
    store = Backoff(FileSystemArtifactStore(folder))
    seen: list[float] = []

    def look(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        [meta] = optuna.artifacts.get_all_artifact_meta(trial, storage=study._storage)
        with store.open_reader(meta.artifact_id) as file:
            seen.append(float(file.read()))
        assert (meta.filename, seen[-1]) == ("weights.txt", trial.params["x"])

    study = optuna.create_study()
    with Devices(server, leaving(server, str(folder)), 2):
        optimize(study, using(store), 6, client=client, callbacks=[look])
    assert len(seen) == 6
    assert {t.state for t in study.trials} == {optuna.trial.TrialState.COMPLETE}
    assert len(list(folder.iterdir())) == 6


class Looks(optuna.samplers.RandomSampler):
    """A sampler that counts the unfinished trials whenever another trial begins."""

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.unfinished: list[int] = []

    def before_trial(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        others = (t for t in study.get_trials(deepcopy=False) if t.number != trial.number)
        self.unfinished.append(sum(not t.state.is_finished() for t in others))


def test_with_one_device_the_sampler_is_asked_once_the_artifacts_are_there(
    server: FakeConsole, client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Bringer._bring

    def slowly(self: Bringer, *arguments: Any) -> None:
        time.sleep(0.1)
        real(self, *arguments)

    monkeypatch.setattr(Bringer, "_bring", slowly)
    sampler = Looks()
    study = optuna.create_study(sampler=sampler)
    with Devices(server, leaving(server, str(folder))):
        optimize(study, using(FileSystemArtifactStore(folder)), 4, client=client)
    assert sampler.unfinished == [0, 0, 0, 0]
    assert len(list(folder.iterdir())) == 4


def test_what_came_while_nobody_owned_the_study_is_brought_at_the_next_call(
    server: FakeConsole, client: Client, folder: Path
) -> None:
    study = optuna.create_study(study_name="twice")
    with Devices(server, leaving(server, "artifacts")):
        optimize(study, using(store := FileSystemArtifactStore(folder)), 2, client=client)
        for file in folder.iterdir():
            file.unlink()
        server.keep(1, 0, "other.txt", b"of a run that does not count", store="artifacts")
        optimize(study, using(store), 1, client=client)
    ids = {artifact_id(1, 0), artifact_id(1, 1), artifact_id(1, 3)}
    assert {file.name for file in folder.iterdir()} == ids
    assert {key for t in study.trials for key in t.system_attrs} > {f"artifacts:{i}" for i in ids}


def test_a_store_that_cannot_write_loses_no_trial(
    server: FakeConsole, client: Client, folder: Path
) -> None:
    folder.rmdir()
    study = optuna.create_study()
    with (
        Devices(server, leaving(server, "artifacts"), 2),
        pytest.warns(UserWarning, match=r"stayed at the server \(FileNotFoundError.*ArtifactStore"),
    ):
        optimize(study, using(FileSystemArtifactStore(folder)), 3, client=client)
    assert len(study.trials) == 3
    [meta] = optuna.artifacts.get_all_artifact_meta(study.trials[0], storage=study._storage)
    download_artifact(
        artifact_store=ArtifactStore(client, study=1),
        artifact_id=meta.artifact_id,
        file_path=str(folder),
    )
    assert float(folder.read_text()) == study.trials[0].params["x"]


def test_an_artifact_of_no_store_that_is_here_stays_and_is_told_once(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    stores = [FileSystemArtifactStore(tmp_path / name) for name in ("a", "b")]

    study = optuna.create_study()
    with warnings.catch_warnings(record=True) as caught, Devices(server, leaving(server, "c"), 1):
        warnings.simplefilter("always")
        optimize(study, using(stores[0], stores[1]), 3, client=client)
    [one] = [str(w.message) for w in caught if "stayed at the server" in str(w.message)]
    assert "the artifact 'weights.txt' of study 1" in one
    assert "no store that the objective uses is of its name" in one


def test_nothing_that_a_store_has_is_replaced_but_what_was_cut_off(
    server: FakeConsole, client: Client, folder: Path
) -> None:
    row = client.grid(grid_objective, {"x": [1]}).row
    ids = [server.keep(1, 0, "w", f"content {n}".encode(), store=str(folder)) for n in range(3)]
    (folder / ids[0]).write_bytes(b"cont")  # from a process that was killed while it wrote
    (folder / ids[1]).write_bytes(b"another one's")
    bringer = Bringer(client._core._http, row, Stores([FileSystemArtifactStore(folder)]))
    bringer.bring(ids).result(20)
    assert [(folder / i).read_bytes() for i in ids] == [
        b"content 0",
        b"another one's",
        b"content 2",
    ]
    with pytest.warns(UserWarning, match="the store has another artifact of that id"):
        bringer.close()


def test_an_attribute_names_an_artifact_only_in_optunas_form() -> None:
    right = artifact_id(3, 4)
    names = ["", "../x", "Makefile", right.upper(), f"{right} ", right]
    assert artifacts_of({f"artifacts:{name}": "{}" for name in names} | {"other": 1}) == [right]


class Failing(Bucket):
    """A store whose write fails in the middle of a file."""

    def __init__(self, bucket: str) -> None:
        super().__init__(bucket)
        self.tries = 0

    def write(self, artifact_id: str, content_body: BinaryIO) -> None:
        self.tries += 1
        self.held[artifact_id] = content_body.read(1)
        raise OSError("disk full")

    def remove(self, artifact_id: str) -> None:
        del self.held[artifact_id]


def test_a_store_that_breaks_is_left_alone_and_keeps_no_half_of_a_file(
    server: FakeConsole, client: Client
) -> None:
    row = client.grid(grid_objective, {"x": [1]}).row
    ids = [server.keep(1, 0, f"w{n}", b"content") for n in range(3)]
    store = Failing("models")
    bringer = Bringer(client._core._http, row, Stores([store]))
    bringer.bring(ids).result(20)
    assert (store.held, store.tries) == ({}, 1)
    with pytest.warns(UserWarning, match="the artifact 'w0'.*disk full"):
        bringer.close()


def test_one_that_is_damaged_holds_up_no_other(
    server: FakeConsole, client: Client, folder: Path
) -> None:
    row = client.grid(grid_objective, {"x": [1]}).row
    ids = [server.keep(1, 0, f"w{n}", b"content") for n in range(2)]
    server.artifacts[1][ids[0]] = (server.artifacts[1][ids[0]][0], b"other")
    bringer = Bringer(client._core._http, row, Stores([FileSystemArtifactStore(folder)]))
    bringer.bring(ids).result(20)
    with pytest.warns(UserWarning, match="w0"):
        bringer.close()
    assert [file.name for file in folder.iterdir()] == [ids[1]]


class Held:
    """An owner with a trial 0 that has ended and whose artifact is not copied yet."""

    def __init__(self, client: Client, *, late: bool = False) -> None:
        self.study = optuna.create_study()
        made = client.grid(grid_objective, {"x": [1]})
        self.told: list[int] = []
        self.owner = Owner(
            self.study, made.row, callbacks=[lambda _, t: self.told.append(t.number)]
        )
        self.brought: Future[None] = Future()
        self.owner.bring = lambda ids, trial: self.brought
        for _ in range(2):
            self.owner.ask()
        attrs = {"system": {f"artifacts:{artifact_id(1, 0)}": "{}"}, "stop": True}
        self.study._thread_local.in_optimize_loop = True
        self.owner.finish(0, Outcome.of("complete", [0.5], attrs, None))

    @property
    def states(self) -> list[str]:
        return [trial.state.name for trial in self.study.trials]


def test_an_outcome_waits_for_its_artifacts_but_not_what_it_ends(client: Client) -> None:
    held = Held(client)
    assert (held.states, held.owner.ending) == (["RUNNING", "RUNNING"], 1)
    assert held.study._stop_flag
    assert not held.owner.settle()
    held.owner.finish(0, Outcome.of("failed", [], None, None))  # the end of trial 0, twice
    held.brought.set_result(None)
    assert held.owner.settle()
    assert (held.states, held.told, held.owner.ending) == (["COMPLETE", "RUNNING"], [0], 0)


def test_an_outcome_waits_no_longer_than_it_may(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(client)
    monkeypatch.setattr(_owner, "LATE_S", -1.0)
    assert held.owner.settle()
    assert (held.states, held.owner.late) == (["COMPLETE", "RUNNING"], True)


def test_what_ends_a_call_loses_no_outcome_that_waits(client: Client) -> None:
    held = Held(client)
    held.owner.settle_all()
    assert (held.states, held.told) == (["COMPLETE", "RUNNING"], [])


def test_ctrl_c_while_artifacts_come_keeps_the_outcomes(
    server: FakeConsole, client: Client, folder: Path
) -> None:
    pressed, gone = threading.Event(), threading.Event()

    class Slow(FileSystemArtifactStore):
        def write(self, artifact_id: str, content_body: BinaryIO) -> None:
            if not pressed.is_set():
                pressed.set()
                signal.raise_signal(signal.SIGINT)
            gone.wait(LIMIT_S)

    study = optuna.create_study()
    with Devices(server, leaving(server, str(folder))), pytest.raises(KeyboardInterrupt):
        optimize(study, using(Slow(folder)), 3, client=client)
    gone.set()
    assert study.trials[0].state is optuna.trial.TrialState.COMPLETE


def test_a_store_that_blocks_holds_up_a_call_no_longer_than_it_may(
    server: FakeConsole, client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (_owner, _optimize):
        monkeypatch.setattr(module, "LATE_S", 0.05)
    gone = threading.Event()

    class Blocking(FileSystemArtifactStore):
        def write(self, artifact_id: str, content_body: BinaryIO) -> None:
            gone.wait(LIMIT_S)

    study = optuna.create_study()
    with (
        Devices(server, leaving(server, str(folder))),
        pytest.warns(UserWarning, match="they took longer than 0 s"),
    ):
        optimize(study, using(Blocking(folder)), 3, client=client)
    assert {trial.state.name for trial in study.trials} == {"COMPLETE"}
    assert not gone.is_set()
    gone.set()


def test_stores_are_found_where_an_objective_has_them(tmp_path: Path) -> None:
    store = FileSystemArtifactStore(tmp_path / "own")

    class Held:
        def __init__(self) -> None:
            self.store = store

        def __call__(self, trial: Any) -> float:
            return 0.0

        def run(self, trial: Any) -> float:
            return 0.0

    def takes(trial: Any, store: Any, *, other: Any = None) -> float:
        return 0.0

    def has(trial: Any, store: Any = store) -> float:
        return 0.0

    reached = (
        using(store),
        Held(),
        Held().run,
        has,
        partial(takes, store=store),
        partial(partial(takes, other=store), store=None),
    )
    for objective in reached:
        assert Stores.of(objective).get(str(tmp_path / "own")) is store
    assert not Stores.of(given.square)
    other = FileSystemArtifactStore(tmp_path / "other" / "name")
    both = Stores([store, other, store])
    assert both.get("/home/pyodide/other/name") is other  # a device's path
    assert both.get("own") is store
    assert both.get("none") is None
    assert both.get("") is None
    assert Stores([store]).get("none") is store


def test_a_store_travels_as_its_name_whatever_it_holds(tmp_path: Path) -> None:
    for store, label in (
        (FileSystemArtifactStore("./artifacts"), "artifacts"),
        (Backoff(FileSystemArtifactStore("./artifacts")), "artifacts"),
        (Bucket("models"), "Bucket models"),
        (FileSystemArtifactStore("x" * 256), ""),
    ):
        assert label_of(store) == label
        objective = using(store)
        captured = Capture(wheels=frozenset({"optuna"})).take(objective, objective)
        module = captured.entry.partition(":")[0]
        text = captured.sources[f"{module}.py"].decode()
        assert f"FileSystemArtifactStore({label!r})" in text.replace("_hf_optuna_artifacts_", "")
        bundle_objective(objective, asked=True)
    with pytest.raises(HyperflockError, match=r"call trial\.upload_artifact\(path\)") as caught:
        bundle_objective(using(Bucket("models")))  # only trials of Optuna studies can fill a store
    assert caught.value.code == "cannot_bundle_package"


def test_a_script_with_a_store_at_its_top_travels_whole(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os\nimport optuna\nfrom optuna.artifacts import upload_artifact\n"
        "base_path = './artifacts'\nos.makedirs(base_path, exist_ok=True)\n"
        "store = optuna.artifacts.FileSystemArtifactStore(base_path=base_path)\n"
        "def objective(trial):\n"
        "    upload_artifact(artifact_store=store, file_path='w', study_or_trial=trial)\n"
        "    return trial.suggest_float('x', 0, 1)\n"
    )
    code = (
        "import train\nfrom hyperflock._bundle.bundle import bundle_objective\n"
        "from hyperflock.optuna.storage.artifacts import Stores\n"
        "assert bundle_objective(train.objective, asked=True).files == ('train.py',)\n"
        "assert Stores.of(train.objective).get('artifacts') is train.store\n"
        "def wrapped(trial): return train.objective(trial)\n"
        "assert Stores.of(wrapped).get('artifacts') is train.store\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_a_study_lists_and_fetches_them(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    study = client.grid(grid_objective, {"x": [1, 2]})
    server.page = 2
    for number in (0, 1, 1):
        server.keep(study.id, number, "w\x1b[2K.txt", f"of {number}".encode())
    found = study.artifacts()
    assert [(one.id, one.trial, one.bytes) for one in found] == [
        (artifact_id(1, 0), 0, 4),
        (artifact_id(1, 1), 1, 4),
        (artifact_id(1, 2), 1, 4),
    ]
    assert "\x1b" not in found[0].name
    server.finish(study.id, 1, value=0.5)
    assert [one.id for one in study.artifacts(study.trials[0])] == [
        artifact_id(1, 1),
        artifact_id(1, 2),
    ]
    assert found[0].as_dict()["created_at"].startswith("2025-11-21")
    target = study.download_artifact(artifact_id(1, 2), tmp_path)
    assert target.parent == tmp_path
    assert target.read_bytes() == b"of 1"
    assert study.download_artifact(found[0], tmp_path / "w").read_bytes() == b"of 0"
    with pytest.raises(NotFoundError) as caught:
        study.download_artifact("none", tmp_path)
    assert caught.value.code == "unknown_artifact"
    with pytest.raises(HyperflockError) as refused:
        study.download_artifact(found[0], tmp_path / "no" / "folder" / "w")
    assert refused.value.code == "cannot_write"
    server.artifacts[1][artifact_id(1, 0)] = (server.artifacts[1][artifact_id(1, 0)][0], b"other")
    with pytest.raises(HyperflockError) as damaged:
        study.download_artifact(found[0], tmp_path / "w")
    assert damaged.value.code == "blob_damaged"
    assert (tmp_path / "w").read_bytes() == b"of 0"


def test_coroutines_do_so_too(server: FakeConsole, client: Client, tmp_path: Path) -> None:
    study = client.grid(grid_objective, {"x": [1]})
    server.keep(study.id, 0, "w", b"1")

    async def look() -> bytes:
        core = await AsyncClient(server.url, server.token).study(study.id)
        [one] = await core.artifacts(0)
        return (await core.download_artifact(one.id, tmp_path)).read_bytes()

    assert _loop.run(look()) == b"1"


def test_a_name_is_no_path_and_no_program_reads_it_by_itself() -> None:
    one = Artifact("id", 7, 1, "", "t/t", 1, "0" * 64, datetime.now(timezone.utc))

    def named(name: str, *taken: str) -> str:
        return file_name(replace(one, name=name), taken)

    assert named("w.npz") == "7-w.npz"
    assert named("../../etc/pass\\wd:x") == "7-.._.._etc_pass_wd_x"
    odd = [named(name) for name in ("", "..", ".envrc", "CON")]
    assert odd == ["7-", "7-.", "7-.envrc", "7-CON"]
    assert named("W.npz", "7-w.npz") == "7-id-W.npz"
    long = named("ä" * 120 + ".npz")
    assert long.startswith("7-ä")
    assert long.endswith("ä.npz")
    assert len(long.encode()) < 200


def test_the_command_lists_and_fetches_them(
    server: FakeConsole, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = client.grid(grid_objective, {"x": [1, 2]})
    for number in (0, 1, 1):
        server.keep(study.id, number, "w.txt", f"of {number}".encode())
    to = ["--url", server.url, "--token", server.token]
    assert _cli.run(["artifacts", "1", *to]) == 0
    assert "w.txt" in capsys.readouterr().out
    assert _cli.run(["artifacts", "1", "1", "--json", *to]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == [
        artifact_id(1, 1),
        artifact_id(1, 2),
    ]
    folder = tmp_path / "new" / "folder"
    assert _cli.run(["artifacts", "1", "-o", str(folder), "--json", *to]) == 0
    files = [Path(one["file"]) for one in json.loads(capsys.readouterr().out)]
    assert [file.name for file in files] == ["0-w.txt", "1-w.txt", f"1-{artifact_id(1, 2)}-w.txt"]
    assert [file.read_bytes() for file in files] == [b"of 0", b"of 1", b"of 1"]
    (tmp_path / "file").write_text("")
    assert _cli.run(["artifacts", "1", "-o", str(tmp_path / "file"), *to]) == 1
    assert "cannot_write" in capsys.readouterr().err


def test_optunas_view_reads_them_of_all_studies(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    for _ in range(2):
        client.grid(grid_objective, {"x": [1]})
    identity = server.keep(1, 0, "w", b"first")
    store = ArtifactStore(client)
    with store.open_reader(identity) as file:
        assert file.read() == b"first"
    with pytest.raises(ArtifactNotFound):
        store.open_reader("none")
    del server.artifacts[1][identity]
    with pytest.raises(ArtifactNotFound):
        store.open_reader(identity)
    for change in (partial(store.write, identity, file), partial(store.remove, identity)):
        with pytest.raises(HyperflockError) as caught:
            change()
        assert caught.value.code == "read_only_storage"


def test_the_dashboard_shows_a_trials_files(
    server: FakeConsole, client: Client, folder: Path
) -> None:
    study = optuna.create_study(study_name="mine")
    with Devices(server, leaving(server, None)):
        optimize(study, using(FileSystemArtifactStore(folder)), 1, client=client)
    dashboard = Dashboard(Storage(client), ArtifactStore(client))
    _, told = dashboard.ask("/api/studies/1?after=0")
    [trial] = told["trials"]
    [artifact] = trial["artifacts"]
    assert artifact["filename"] == "weights.txt"
    where = f"/artifacts/1/{trial['trial_id']}/{artifact['artifact_id']}"
    status, content = dashboard.ask(where)
    assert status.startswith("200")
    assert float(content) == study.trials[0].params["x"]
