"""Tests that every error code of the package is listed and documented, and raises each code.

test_cannot.py raises the codes for refused objectives (``cannot_bundle_*``).
"""

from __future__ import annotations

import ast
import asyncio
import re
import socket
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import hyperflock
import hyperflock.optuna
import numpy as np
import optuna
import pytest
from asked_objectives import raising, square
from fake_asked import Devices
from fake_console import FakeConsole
from fakes.answers import json_answer
from hyperflock import AsyncClient, Client, HyperflockError
from hyperflock._base.codes import BUNDLE_CODES, CODES
from hyperflock._cli import command as _cli
from hyperflock._cli import dashboard as _cli_dashboard
from hyperflock._cli import demo as _cli_demo
from hyperflock._cli import script as _script
from hyperflock._client.submission import Submission
from hyperflock._execution import dry_run as _dry_run
from hyperflock._execution import worker as _worker
from hyperflock._local import parts as _parts
from hyperflock._local import server as _up
from hyperflock._local import share as _share
from hyperflock._local import trust_service
from hyperflock._local.engines import Engine, find_engine
from hyperflock._local.pack import LIST, unpacked
from hyperflock._local.tunnel import Program, Tunnel
from hyperflock._local.volunteers import Volunteers
from hyperflock._model import data as _data
from hyperflock._model import grid as _grid
from hyperflock._model import spec as _spec
from hyperflock._model import sweep as _sweep
from hyperflock._reports import plots as _plots
from hyperflock._transport import background_loop as _loop
from hyperflock._transport import frames
from hyperflock._transport import http as _http
from hyperflock._transport import validation as _schema
from hyperflock._transport import websocket as _connection
from hyperflock._transport.settings import token_in_file
from hyperflock._trial import elsewhere as _elsewhere
from hyperflock._trial.checkpoints import decode
from hyperflock._trial.host import LocalHost
from hyperflock._trial.optuna_trial import OptunaTrial
from hyperflock.optuna import Storage
from hyperflock.optuna.owner.attributes import attributes_text
from hyperflock.optuna.owner.optimize import own
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.owner.run import Plan
from hyperflock.optuna.owner.service import Description, serve
from hyperflock.optuna.version import check_version
from hyperflock.sklearn.crowd import run_on_devices
from hyperflock.sklearn.outcomes import Outcome, fit_results
from hyperflock.sklearn.version import check_version as check_sklearn
from objectives import objective
from small_runtime import SmallRuntime
from travelling_helper import endless, holding

SOURCES = Path(hyperflock.__file__).parent
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "errors.md"
REST = Path(__file__).resolve().parents[3] / "server" / "docs" / "rest.md"
SPACE = {"x": [1]}
_NO_IMPORT = "raise ImportError('not on this machine')\ndef objective(trial):\n    return 1.0\n"
# Codes from the server that also belong to an error class of the package.
SERVERS = {"study_cancelled", "study_exists", "study_running", "unknown_artifact"}
# Codes with which an owner answers a device's call. The device then fails with `owner_error`.
OWNERS = {"owner_error", "sampler_raised", "unknown_trial"}


class Scene:
    """The objects that the functions which provoke an error can use: a server, a client, a
    folder.
    """

    def __init__(self, server: FakeConsole, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = server
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.client = Client(server.url, server.token, patience_s=0)

    def file(self, text: str) -> str:
        path = self.folder / "file"
        path.write_text(text)
        return str(path)

    def answered(self, status: int) -> None:
        """Make a request that is answered with a status and no error code, as by a proxy."""
        from fakes.answers import Answer

        self.server._answer = lambda *_: Answer(status)  # type: ignore[method-assign]
        self.client.studies()

    def dry_run(self, **options: Any) -> hyperflock.DryRun:
        where: dict[str, Any] = {"where": [str(self.folder / "begun")]}
        return self.client.grid(endless(), where, dry_run=True, **options)

    def local_server(self, script: str) -> None:
        binary = Path(self.file(f"#!/bin/sh\n{script}\n"))
        binary.chmod(0o755)
        parts = _parts.Parts(binary, self.folder, self.folder)
        _up.LocalServer(self.folder / "home").start(parts, [])


def _already_up(scene: Scene) -> None:
    running = _up.Running(1, 2, "http://a", "http://b")
    scene.monkeypatch.setattr(_up.LocalServer, "running", lambda self: running)
    scene.local_server("exit 0")


def _arrays_alive(scene: Scene) -> None:
    library = SimpleNamespace(counters=lambda: {"live_arrays": 2})
    with patch.dict(sys.modules, {"arraycore": library}):
        hyperflock.run_local(lambda trial: 1.0, {})


def _bad_ca(scene: Scene) -> None:
    scene.monkeypatch.setenv("HYPERFLOCK_CA", scene.file("no certificate"))
    _http._context.cache_clear()
    _http.tls_context("https://a")


def _of_one_name(scene: Scene) -> None:
    for _ in range(2):
        scene.client.grid(objective, SPACE, name="n")
    scene.client.study("n")


def _without_yaml(scene: Scene) -> None:
    scene.monkeypatch.setitem(sys.modules, "yaml", None)
    (scene.folder / "sweep.yaml").write_text("program: t.py\n")
    _sweep.read_sweep(scene.folder / "sweep.yaml")


def _no_feasible_trial(scene: Scene) -> None:
    study = scene.client.grid(objective, SPACE)
    attrs = '{"system": {"constraints:room": 1}}'
    scene.server.finish(study.id, 0, value=1.0, attrs=attrs)
    _ = study.best_trial


def _no_optuna(scene: Scene) -> None:
    scene.monkeypatch.setattr("hyperflock.optuna.version.version", lambda name: "3.6.1")
    check_version()


def _no_sklearn(scene: Scene) -> None:
    scene.monkeypatch.setattr("hyperflock.sklearn.version.version", lambda name: "1.5.2")
    check_sklearn()


def _failed_search(scene: Scene) -> None:
    fit_results([Outcome([], "why")], [([0], [1])], None, SimpleNamespace(error_score="raise"))


class _EmptyStudy(list[Any]):
    """A study of which all trials were cancelled."""

    id = 1


def _incomplete_search(scene: Scene) -> None:
    client: Any = SimpleNamespace(grid=lambda *_, **__: _EmptyStudy())
    run_on_devices(client, objective, [{"candidate": 0}], {}, name="search", options={})


def _optimize(scene: Scene, study: Any) -> None:
    with Devices(scene.server, raising):
        hyperflock.optuna.optimize(study, raising, 1, client=scene.client)


def _other_directions(scene: Scene) -> None:
    study = optuna.create_study()
    hyperflock.optuna.optimize(study, raising, 0, client=scene.client)
    owner = Owner(optuna.create_study(direction="maximize"), scene.client.study(1).row)
    own(owner, scene.client, Plan(0))


def _serve(scene: Scene, **told: Any) -> None:
    study = optuna.create_study()
    hyperflock.optuna.optimize(study, square, 0, client=scene.client)
    serve(scene.client, 1, Description(**told))


def _replaced(scene: Scene) -> None:
    def callback(study: optuna.Study, trial: object) -> None:
        again = optuna.create_study(study_name=study.study_name)
        hyperflock.optuna.optimize(again, square, 0, client=scene.client)

    with Devices(scene.server, square):
        study = optuna.create_study()
        hyperflock.optuna.optimize(study, square, callbacks=[callback], client=scene.client)


def _differing(scene: Scene) -> None:
    def callback(study: optuna.Study, trial: object) -> None:
        study.enqueue_trial({"x": 1.0})
        raise KeyboardInterrupt

    study = optuna.create_study()
    with Devices(scene.server, square), pytest.raises(KeyboardInterrupt):
        hyperflock.optuna.optimize(study, square, callbacks=[callback], client=scene.client)
    # Another process continued the study, and this study object does not know of it.
    other = scene.client.study(1).to_optuna()
    with Devices(scene.server, square):
        hyperflock.optuna.optimize(other, square, 2, client=scene.client)
    hyperflock.optuna.optimize(study, square, 1, client=scene.client)


def _missing_pack(scene: Scene) -> None:
    def objective(trial: Any) -> float:
        import scipy

        return float(len(scipy.__version__))

    scene.server.packs = None
    scene.client.grid(objective, SPACE)


def _no_pandas(scene: Scene) -> None:
    scene.monkeypatch.setitem(sys.modules, "pandas", None)
    scene.client.grid(objective, SPACE).to_pandas()


def _no_pyarrow(scene: Scene) -> None:
    scene.monkeypatch.setitem(sys.modules, "pyarrow", None)
    scene.client.grid(objective, SPACE).export("parquet")


def _no_plotter(scene: Scene) -> None:
    for name in ("optuna.visualization", "optuna.visualization.matplotlib"):
        scene.monkeypatch.setattr(import_module(name), "is_available", lambda: False)
    scene.client.grid(objective, SPACE).plot("rank")


def _no_dashboard(scene: Scene) -> None:
    scene.monkeypatch.setitem(sys.modules, "optuna_dashboard", None)
    _cli_dashboard.dashboard(url=scene.server.url, token=scene.server.token)


def _dashboard_at_a_port_that_is_taken(scene: Scene) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        _cli_dashboard.dashboard(
            port=taken.getsockname()[1], url=scene.server.url, token=scene.server.token
        )


def _broken_dry_run(scene: Scene) -> None:
    scene.monkeypatch.setattr(_dry_run, "_CHILD", Path(scene.file("raise SystemExit(3)")))
    scene.dry_run()


def _no_worker(scene: Scene) -> None:
    scene.monkeypatch.setattr(_worker, "_CHECKOUT", scene.folder)
    scene.monkeypatch.setattr(_worker, "_PACKAGE", scene.folder)
    scene.dry_run()


def _no_server(scene: Scene) -> None:
    scene.monkeypatch.setattr(_parts, "_CHECKOUT", scene.folder)
    scene.monkeypatch.setattr(_parts, "_PACKED", scene.folder)
    scene.monkeypatch.setenv("PATH", str(scene.folder))
    _parts.find_parts(None, None, None)


def _damaged_parts(scene: Scene) -> None:
    (scene.folder / LIST).write_text("{}")
    unpacked(scene.folder, scene.folder / "cache")


def _no_engine(scene: Scene) -> None:
    scene.monkeypatch.setenv("PATH", str(scene.folder))
    scene.monkeypatch.setenv("HYPERFLOCK_NODE", str(scene.folder / "none"))
    find_engine("node", scene.folder)


def _volunteer_that_cannot_start(scene: Scene) -> None:
    engine = Engine("node", str(scene.folder / "none"), "Node")
    with Volunteers(engine, scene.folder, scene.folder, lambda line: None) as volunteers:
        volunteers.start(1, "http://127.0.0.1:1", "code")


def _no_tunnel(scene: Scene) -> None:
    program = Path(scene.file("#!/bin/sh\necho '2026-01-01T00:00:00Z ERR 429'; exit 1\n"))
    program.chmod(0o755)
    Tunnel(Program("cloudflared", str(program)), 1, scene.folder).start()


def _no_token_file(scene: Scene) -> None:
    scene.monkeypatch.setenv("HYPERFLOCK_TOKEN_FILE", str(scene.folder / "none"))
    token_in_file()


def _no_authority(scene: Scene) -> None:
    scene.monkeypatch.setattr(trust_service, "_PATIENCE_S", 0)
    trust_service.fetched(scene.server.url)


def _no_way(scene: Scene) -> None:
    scene.monkeypatch.setenv("PATH", str(scene.folder))
    _share.find_way("ngrok")


def _no_demo(scene: Scene) -> None:
    scene.monkeypatch.setattr(_cli_demo, "_PLACES", (scene.folder,))
    _cli_demo._command([], scene.folder)


def _time_limit(scene: Scene) -> None:
    error = scene.dry_run(time_limit_s=0.1).error
    assert error is not None
    raise HyperflockError(error.message, code=error.code)


def _replayed(
    scene: Scene, *, state: str = "complete", damage: bool = False, script: str = ""
) -> None:
    source = script or "def objective(trial):\n    return 1.0\n"
    (scene.folder / "again.py").write_text(source)
    made = _script.bundle_of(str(scene.folder / "again.py"), [])
    study = scene.client.submit(Submission(made, SPACE, [], "again"))
    scene.server.finish(study.id, 0, state, value=1.0)
    if damage:
        scene.server.blobs[made.sha256] += b" "
    study.replay(0)


def _not_mine(scene: Scene) -> None:
    answer = scene.server._answer
    scene.monkeypatch.setattr(
        scene.server,
        "_answer",
        lambda method, path, *rest: (
            json_answer(200, {"name": "grace"})
            if path == "/api/me"
            else answer(method, path, *rest)
        ),
    )
    scene.client.grid(objective, SPACE).replay(0)


def _in_browser(scene: Scene, index: str | None) -> None:
    scene.monkeypatch.setenv("HYPERFLOCK_BROWSER", sys.executable)
    if index is not None:
        scene.server.built = SmallRuntime(scene.folder / "built").folder
        (scene.server.built / "runtime" / "index.json").write_text(index)
    scene.client.grid(objective, SPACE, dry_run="browser")


class _Host(LocalHost):
    """Returns the same text for each suggestion, and ``stores`` for each upload."""

    def __init__(self, answer: str = "", *, stores: bool = True) -> None:
        super().__init__()
        self._answer, self._stores = answer, stores

    def suggest(self, name: str, distribution: str) -> str:
        return self._answer

    def upload_artifact(self, artifact: object, content: bytes) -> bool:
        return self._stores


def _trial(host: LocalHost | None = None) -> hyperflock.Trial:
    return hyperflock.Trial({}, number=0, seed=0, data={}, host=host)


def _log(*rows: Any) -> None:
    trial = hyperflock.Trial({}, number=0, seed=0, data={})
    for row in rows:
        trial.log(row)


def _optuna_trial(answer: str = "") -> OptunaTrial:
    return OptunaTrial(number=0, seed=0, data={}, host=_Host(answer))


def _uploaded(size: int, *, stores: bool = True, **options: Any) -> Callable[[Scene], object]:
    def upload(scene: Scene) -> None:
        path = scene.folder / "weights"
        with path.open("wb") as file:
            file.truncate(size)
        _trial(_Host(stores=stores)).upload_artifact(path, **options)

    return upload


def _not_in_trial(scene: Scene) -> None:
    scene.monkeypatch.setattr(_elsewhere, "in_trial", lambda: True)
    load, _ = _elsewhere.public_names("objectives", {"Client": "_client.client"})
    load("Client")()


def _suggested(scene: Scene) -> None:
    hyperflock.run_local(lambda trial: trial.suggest_float("x", 2.0, 3.0), {"x": 1.0})


def _command(*arguments: str) -> Callable[[Scene], None]:
    """Return a function that runs a command, and raises an error with the code that it prints."""

    def run(scene: Scene) -> None:
        told: list[str] = []
        scene.monkeypatch.setattr(_cli, "complain", lambda code, *_: told.append(code))
        assert _cli.run(list(arguments)) != 0
        raise HyperflockError("told", code=told[0])

    return run


def _sent(**options: Any) -> Callable[[Scene], object]:
    return lambda scene: scene.client.grid(objective, SPACE, **options)


PROVOCATIONS: dict[str, Callable[[Scene], object]] = {
    "arrays_alive": _arrays_alive,
    "artifact_invalid": _uploaded(1, mimetype="text/ä"),
    "artifact_not_stored": _uploaded(1, stores=False),
    "artifact_too_large": _uploaded((64 << 20) + 1),
    "attribute_not_json": lambda s: attributes_text(0, {"model": object()}, {}),
    "attributes_too_large": lambda s: attributes_text(0, {"notes": "n" * 40_000}, {}),
    "bad_ca": _bad_ca,
    "bad_factory": lambda s: _serve(s, sampler="json:dumps"),
    "bad_field": lambda s: s.client.grid(objective, {"x": [object()]}),  # type: ignore[list-item]
    "bad_format": lambda s: s.client.grid(objective, SPACE).export("xlsx"),  # type: ignore[call-overload]
    "bad_number": _sent(time_limit_s=-1.0),
    "bad_once": _sent(once=True),
    "bad_plot": lambda s: _plots.plot("pie", s.client.grid(objective, SPACE).row, []),  # type: ignore[arg-type]
    "bad_range": lambda s: hyperflock.random_point({"x": hyperflock.uniform(1, 0)}, 0),
    "ambiguous_study": _of_one_name,
    "bad_signature": lambda scene: hyperflock.verify_webhook(b"{}", "t=1,v1=0", "hfw_key"),
    "bad_space": _command("submit", "objectives", "--space", "{"),
    "bad_storage": lambda s: _serve(s, storage="sqlite:///:memory:"),
    "bad_sweep": _command("submit", "none.yaml"),
    "bad_url": lambda s: Client("ftp://x", "t"),
    "blob_damaged": lambda s: _replayed(s, damage=True),
    "blob_too_large": lambda s: _data._check_size("name", (512 << 20) + 1),
    "cannot_listen": _dashboard_at_a_port_that_is_taken,
    "cannot_read": _no_token_file,
    "cannot_share": _no_way,
    "cannot_write": lambda s: s.client.grid(objective, SPACE).export("csv", s.folder / "a" / "b"),
    "checkpoint_malformed": lambda s: decode("tree", b""),
    "checkpoint_not_a_tree": lambda s: _trial().checkpoint(object()),
    "checkpoint_too_large": lambda s: _trial().checkpoint(np.broadcast_to(np.float64(1), 2**24)),
    "data_invalid": _sent(data={"a": 7}),
    "data_not_found": _sent(data={"a": "none.npy"}),
    "demo_missing": _no_demo,
    "directions_differ": _other_directions,
    "dry_run_broken": _broken_dry_run,
    "dry_run_unavailable": _no_worker,
    "empty_space": lambda s: s.client.grid(objective, {}),
    "forbidden": lambda s: s.answered(403),
    "frame_too_large": lambda s: _schema.read_json(" " * 9, 8),
    "malformed": lambda s: frames.parse_server("{"),
    "malformed_answer": lambda s: _optuna_trial("no JSON").suggest_float("x", 0, 1),
    "metric_not_finite": lambda s: hyperflock.run_local(lambda trial: float("nan"), {}),
    "metric_not_number": lambda s: hyperflock.run_local(lambda trial: "1", {}),
    "missing_field": lambda s: frames.parse_server('{"type": "refused"}'),
    "no_certificate": _no_authority,
    "no_complete_trial": lambda s: s.client.grid(objective, SPACE).best_trial,
    "no_dashboard": _no_dashboard,
    "no_feasible_trial": _no_feasible_trial,
    "no_optuna": _no_optuna,
    "missing_pack": _missing_pack,
    "no_pandas": _no_pandas,
    "no_plotter": _no_plotter,
    "no_pyarrow": _no_pyarrow,
    "no_sklearn": _no_sklearn,
    "search_failed": _failed_search,
    "search_incomplete": _incomplete_search,
    "not_in_trial": _not_in_trial,
    "not_optuna_study": lambda s: _optimize(s, "no study"),
    "no_volunteer_engine": _no_engine,
    "objective_failed": lambda s: _optimize(s, optuna.create_study()),
    "owner_replaced": _replaced,
    "parts_damaged": _damaged_parts,
    "no_yaml": _without_yaml,
    "no_token": lambda s: Client(s.server.url),
    "replay_failed": lambda s: _replayed(s, script=_NO_IMPORT),
    "not_found": lambda s: s.answered(404),
    "rate_limited": lambda s: s.answered(429),
    "read_only_storage": lambda s: optuna.create_study(storage=Storage(s.client)),
    "runtime_damaged": lambda s: _in_browser(s, "no index"),
    "runtime_unavailable": lambda s: _in_browser(s, None),
    "series_count": lambda s: _log({f"s{i}": i for i in range(257)}),
    "series_image": lambda s: hyperflock.Image(b"GIF89a"),
    "series_kind": lambda s: _log({"a": 1}, {"a": hyperflock.Image(np.zeros((2, 2)))}),
    "series_name": lambda s: _log({"": 1}),
    "series_size": lambda s: _log({f"i{k}": hyperflock.Image(np.eye(1)) for k in range(65)}),
    "series_step": lambda s: hyperflock.run_local(lambda trial: trial.log({"a": 1}, -1), {}),
    "series_value": lambda s: _log({"a": "1"}),
    "server_already_up": _already_up,
    "server_error": lambda s: s.answered(418),
    "server_failed": lambda s: s.local_server("echo 'no port is free' >&2; exit 1"),
    "server_not_found": _no_server,
    "server_unreachable": lambda s: Client("http://127.0.0.1:1", "t", patience_s=0).studies(),
    "space_too_large": lambda s: _grid.grid_size({f"x{n}": list(range(64)) for n in range(9)}),
    "study_differs": _differing,
    "study_elsewhere": lambda s: _optuna_trial().relative_params,
    "suggest_invalid": lambda s: _optuna_trial().suggest_float("", 0, 1),
    "suggest_mismatch": _suggested,
    "summary_too_large": lambda s: hyperflock.run_local(
        lambda trial: {"value": 1, **{f"n{i}": i for i in range(65)}}, {}
    ),
    "time_limit": _time_limit,
    "tunnel_failed": _no_tunnel,
    "volunteer_failed": _volunteer_that_cannot_start,
    "too_long": _sent(name="n" * 257),
    "too_many": _sent(data={f"d{n}": np.ones(1) for n in range(65)}),
    "trial_unfinished": lambda s: _replayed(s, state="running"),
    "unauthorized": lambda s: s.answered(401),
    "unknown_runtime": _sent(runtime="chainer-1.0"),
    "unknown_type": lambda s: frames.parse_server('{"type": "dance"}'),
    "untrusted_code": _not_mine,
    "usage": _command("dance"),
    "wait_timeout": lambda s: s.client.grid(objective, SPACE).wait(timeout_s=0),
}


@pytest.mark.parametrize("code", sorted(PROVOCATIONS))
def test_code_is_raised(
    code: str, server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(server, tmp_path, monkeypatch)
    try:
        with pytest.raises(HyperflockError) as caught:
            PROVOCATIONS[code](scene)
        assert caught.value.code == code
        # The message is one sentence: without line breaks, and without a full stop inside.
        assert caught.value.message
        assert "\n" not in caught.value.message
    finally:
        scene.client.close()
        _http._context.cache_clear()


def sources() -> list[Path]:
    """Return the package's own files. A wheel also contains the worker's."""
    return [path for path in SOURCES.rglob("*.py") if "_worker" not in path.parts]


def test_lists_and_provocations_are_the_same() -> None:
    assert set(PROVOCATIONS) == set(CODES)
    assert list(CODES) == sorted(CODES)
    assert list(BUNDLE_CODES) == sorted(BUNDLE_CODES)
    assert not set(CODES) & set(BUNDLE_CODES)


def test_every_code_of_the_sources_is_listed_and_none_that_is_gone() -> None:
    made: set[str] = set()
    for path in sources():
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            made |= _codes_of(node)
    assert made - SERVERS - OWNERS == set(CODES)
    rest = REST.read_text("utf-8")
    assert all(f"`{code}`" in rest for code in SERVERS)


def _codes_of(node: ast.AST) -> set[str]:
    """Return the error codes in a syntax node: in keyword arguments, first arguments of helpers,
    class defaults and dicts.
    """
    found: list[ast.expr | None] = []
    match node:
        case ast.Call(func=ast.Name(id="_fail" | "complain" | "server_error"), args=[first, *_]):
            found = [first]
        case ast.Call(keywords=keywords):
            found = [keyword.value for keyword in keywords if keyword.arg == "code"]
        case ast.Assign(targets=[ast.Name(id="default_code")], value=value):
            found = [value]
        case ast.Dict(keys=keys, values=values):
            pairs = list(zip(keys, values, strict=True))
            found = [v for k, v in pairs if isinstance(k, ast.Constant) and k.value == "code"]
            found += [v for k, v in pairs if isinstance(k, ast.Constant) and k.value in _STATUSES]
    texts = {e.value for e in found if isinstance(e, ast.Constant) and isinstance(e.value, str)}
    # No error is raised with `error`, the default code of the root class. The next test checks
    # that.
    return texts - {"error"}


_STATUSES = {401, 403, 404, 429}


def test_no_error_is_raised_by_the_root_without_a_code() -> None:
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="HyperflockError" | "BundleError"), keywords=given):
                    assert any(k.arg == "code" for k in given), f"{path.name}:{node.lineno}"


def test_documentation_lists_every_code_with_what_it_means() -> None:
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE))
    listed = {**CODES, **BUNDLE_CODES}
    assert {code: rows.get(code) for code in listed} == listed
    assert set(rows) - set(listed) == set()


def test_asynchronous_client_raises_the_same(server: FakeConsole) -> None:
    client = AsyncClient(server.url, server.token)
    with pytest.raises(HyperflockError) as caught:
        asyncio.run(client.grid(holding(np.ones(1)), SPACE, time_limit_s=-1))
    assert caught.value.code == "bad_number"


def test_frames_that_break_the_protocol_are_errors_of_a_code() -> None:
    async def opened() -> None:
        _connection._update(b"")

    with pytest.raises(HyperflockError) as caught:
        _loop.run(opened())
    assert caught.value.code == "malformed"
    with pytest.raises(HyperflockError) as caught:
        _spec.parse_spec("[]")
    assert caught.value.code == "malformed"
