"""Tests searches over points, nested values and distributions: what is sent, and what results
show.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from html import unescape
from typing import Any

import hyperflock
import numpy as np
import pytest
from fake_console import FakeConsole
from hyperflock import AsyncClient, Client, HyperflockError, choice, integer, uniform
from hyperflock._cli import command as _cli
from objectives import objective
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

NESTED: dict[str, list[Any]] = {
    "x": [1],
    "layers": [(32, 64), (64,)],
    "opt": [{"name": "sgd", "lr": 0.1}, None],
}
POINTS: list[dict[str, Any]] = [
    {"x": 0.1, "net": "a"},
    {"x": 0.1, "net": ("b", 2)},
    {"x": 3, "net": None},
]
SPACE: dict[str, Any] = {
    "x": uniform(1e-4, 0.1, log=True),
    "depth": integer(1, 9, step=2),
    "drop": uniform(0, 0.5, step=0.1),
    "layers": choice([(32, 64), (64,)]),
    "act": ["relu", "tanh"],
}


def finished(server: FakeConsole, study: hyperflock.Study, count: int) -> list[dict[str, Any]]:
    for number in range(count):
        server.finish(study.id, number, value=float(number))
    return [trial.params for trial in study.trials]


def rows(study: hyperflock.Study) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(study.export("csv"))))


def test_nested_values_come_back_as_they_were(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, NESTED)
    assert len(study) == 4
    params = finished(server, study, 4)
    assert repr(params) == repr(list(hyperflock.suggest_grid(NESTED)))
    assert repr(params[0]["layers"]) == "(32, 64)"
    assert json.loads(study.export("json"))["study"]["space"]["layers"] == [[32, 64], [64]]


def test_a_list_of_points_is_tried_in_its_order(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, POINTS, direction="maximize")
    assert len(study) == 3
    assert server.specs[study.id].kind == "points"
    assert repr(finished(server, study, 3)) == repr(POINTS)
    assert study.best_trial.params == POINTS[2]


def test_a_dry_run_takes_the_first_point(client: Client, server: FakeConsole) -> None:
    run = client.grid(objective, POINTS, dry_run=True)
    assert (run.error, run.params) == (None, POINTS[0])
    drawn = client.random(objective, SPACE, trials=5, seed=3, dry_run=True)
    assert drawn.params == hyperflock.random_point(SPACE, 0, seed=3)
    assert "layers (" in str(drawn)
    assert not server.specs


@pytest.mark.parametrize("method", ["random", "sobol"])
def test_drawn_trials_have_the_points_of_the_seed(
    method: str, client: Client, server: FakeConsole
) -> None:
    study = getattr(client, method)(objective, SPACE, trials=8, seed=11)
    spec = server.specs[study.id]
    assert (spec.kind, spec.trials, spec.seed, len(study)) == (method, 8, 11, 8)
    point = getattr(hyperflock, f"{method}_point")
    assert repr(finished(server, study, 8)) == repr([point(SPACE, n, seed=11) for n in range(8)])


def test_a_million_trials_are_one_small_request(client: Client, server: FakeConsole) -> None:
    study = client.random(objective, SPACE, trials=1_000_000)
    assert len(study) == 1_000_000
    assert len(json.dumps(server.study_row(study.id))) < 2000


def test_the_asynchronous_client_draws_too(server: FakeConsole) -> None:
    client = AsyncClient(server.url, server.token)
    study = asyncio.run(client.sobol(objective, SPACE, trials=4, name="s"))
    assert (study.name, server.specs[study.id].kind) == ("s", "sobol")


def test_the_same_search_is_submitted_once(client: Client) -> None:
    first = client.random(objective, SPACE, trials=5, name="r", once=True)
    again = client.random(objective, SPACE, trials=5, name="r", once=True)
    assert again.id == first.id
    more = client.random(objective, SPACE, trials=6, name="r", once=True)
    assert (more.id, len(more)) == (first.id, 6)
    with pytest.raises(hyperflock.StudyExistsError) as caught:
        client.random(objective, SPACE, trials=5, name="r", once=True)
    assert caught.value.code == "space_changed"
    with pytest.raises(hyperflock.StudyExistsError, match="differs in: seed"):
        client.random(objective, SPACE, trials=6, seed=1, name="r", once=True)


@pytest.mark.parametrize(
    ("trials", "code"),
    [(0, "bad_number"), (-1, "bad_number"), (2**53, "bad_number"), (1.5, "bad_number"),
     (True, "bad_number"), ("5", "bad_number")],
)  # fmt: skip
def test_wrong_number_of_trials_has_its_code(
    trials: Any, code: str, client: Client, server: FakeConsole
) -> None:
    with pytest.raises(HyperflockError) as caught:
        client.random(objective, SPACE, trials=trials)
    assert (caught.value.code, caught.value.field) == (code, "trials")
    assert not server.specs


def test_a_grid_has_no_distributions(client: Client, server: FakeConsole) -> None:
    with pytest.raises(hyperflock.InvalidSpaceError, match=r"client\.random and client\.sobol"):
        client.grid(objective, {"x": uniform(0, 1)})  # type: ignore[dict-item]
    assert not server.specs


def test_csv_shows_nested_values_as_python_writes_them(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, NESTED)
    finished(server, study, 2)
    assert [row["params_layers"] for row in rows(study)] == ["(32, 64)", "(32, 64)"]
    assert [row["params_opt"] for row in rows(study)] == ["{'name': 'sgd', 'lr': 0.1}", ""]


def test_tables_have_the_types_of_a_range_before_any_trial(
    client: Client, server: FakeConsole
) -> None:
    study = client.random(objective, SPACE, trials=4)
    wanted = {"params_x": "float64", "params_depth": "int64", "params_drop": "float64"}
    for count in (0, 3):
        finished(server, study, count)
        types = study.to_pandas().dtypes
        assert {name: str(types[name]) for name in wanted} == wanted
    assert list(study.to_pandas()["params_layers"]) == [t.params["layers"] for t in study.trials]


def test_points_have_a_column_for_each_name(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, POINTS)
    assert {"params_x", "params_net"} <= set(study.to_pandas().columns)
    finished(server, study, 3)
    assert [row["params_net"] for row in rows(study)] == ["a", "('b', 2)", ""]
    assert study.export("parquet")


@pytest.mark.parametrize("kind", ["nested", "points", "random"])
def test_pictures_and_notebook_views_show_every_space(
    kind: str, client: Client, server: FakeConsole
) -> None:
    study = {
        "nested": lambda: client.grid(objective, NESTED),
        "points": lambda: client.grid(objective, POINTS),
        "random": lambda: client.random(objective, SPACE, trials=3),
    }[kind]()
    finished(server, study, 3)
    picture = study.plot("parallel").svg
    shown = {"nested": "(32, 64)", "points": "('b', 2)", "random": "0.0001"}[kind]
    assert shown in unescape(picture)
    assert "best" in study.refresh()._repr_html_()


def test_a_range_s_axis_is_logarithmic_where_the_range_is(
    client: Client, server: FakeConsole
) -> None:
    from hyperflock._model.results import space_of
    from hyperflock._reports.plots import _positions

    study = client.random(objective, {"x": uniform(1, 10_000, log=True)}, trials=1)
    (dimension,) = space_of(study.row, [])
    dimension.values = [1.0, 100.0, 10_000.0]
    low, middle, high = _positions(dimension).values()
    assert middle == pytest.approx((low + high) / 2)


@pytest.mark.parametrize(
    ("method", "lines"),
    [
        (
            "random",
            [
                "space x       uniform 0.0001 to 0.1, log",
                "space depth   integer 1 to 9, step 2",
                "space drop    uniform 0 to 0.5, step 0.1",
                "space layers  (32, 64), (64,)",
                "kind          random",
            ],
        ),
        ("points", ["kind        points", "space net   one of each point"]),
    ],
)
def test_the_command_shows_the_space(
    method: str, lines: list[str], client: Client, server: FakeConsole, capsys: Any
) -> None:
    made = client.grid(objective, POINTS) if method == "points" else None
    study = made or client.random(objective, SPACE, trials=3)
    finished(server, study, 2)
    where = ["--url", server.url, "--token", server.token]
    for arguments in (["show", str(study.id)], ["trials", str(study.id)]):
        assert _cli.run([*arguments, *where]) == 0
    out = capsys.readouterr().out
    for line in lines:
        assert line in out, out


def test_optuna_gets_distributions(client: Client, server: FakeConsole) -> None:
    study = client.random(objective, SPACE, trials=4)
    finished(server, study, 4)
    found = study.to_optuna()
    assert found.trials[0].distributions == {
        "x": FloatDistribution(1e-4, 0.1, log=True),
        "depth": IntDistribution(1, 9, step=2),
        "drop": FloatDistribution(0.0, 0.5, step=0.1),
        "layers": CategoricalDistribution(["(32, 64)", "(64,)"]),
        "act": CategoricalDistribution(["relu", "tanh"]),
    }
    assert found.trials[1].params["layers"] == str(study.trial(1).params["layers"])


def test_optuna_gets_the_values_of_points(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, POINTS)
    finished(server, study, 2)
    found = study.to_optuna()
    assert found.trials[1].params == {"x": 0.1, "net": "('b', 2)"}
    assert found.trials[0].distributions["net"] == CategoricalDistribution(["a", "('b', 2)", None])


def refused(
    client: Client, space: Any, code: str = "study_exists", **options: Any
) -> hyperflock.StudyExistsError:
    with pytest.raises(hyperflock.StudyExistsError) as caught:
        client.grid(objective, space, name="g", once=True, **options)
    assert caught.value.code == code
    return caught.value


def test_a_larger_grid_under_the_same_name_extends_the_study(
    client: Client, server: FakeConsole
) -> None:
    first = client.grid(objective, {"x": [1, 2], "y": ["a", ("b", 1)]}, name="g", once=True)
    params = finished(server, first, 4)
    again = client.grid(objective, {"x": [3, 1, 2], "y": ["a", ("b", 1), "c"]}, name="g", once=True)
    assert (again.id, len(again), again.state) == (first.id, 9, "running")
    assert [trial.params for trial in again.trials] == params
    repeated = client.grid(
        objective, {"y": ["c", "a", ("b", 1)], "x": [1, 2, 3]}, name="g", once=True
    )
    assert (repeated.id, len(repeated)) == (first.id, 9)


def test_a_grid_that_lost_a_value_is_refused(client: Client) -> None:
    first = client.grid(objective, {"x": [1, 2], "y": ["a"]}, name="g", once=True)
    error = refused(client, {"x": [2, 3], "y": ["a"]}, "space_changed")
    assert error.study == first.id
    assert error.missing == [{"x": 3, "y": "a"}]
    assert len(first.refresh()) == 2
    rest = client.grid(objective, error.missing, name="g 2", once=True)
    assert len(rest) == 1
    with pytest.raises(hyperflock.StudyExistsError) as caught:  # without `once` nothing is extended
        client.grid(objective, {"x": [1, 2, 3], "y": ["a"]}, name="g", submit_key="name:g")
    assert caught.value.code == "study_exists"
    assert "lacks 1 of these 3 points" in caught.value.message


def test_points_and_grids_are_compared_by_their_points(client: Client) -> None:
    client.grid(objective, {"x": [1, 2], "y": [1.0]}, name="g", once=True)
    assert refused(client, [{"y": 1.0, "x": 2}, {"y": 1, "x": 2}]).missing == [{"y": 1, "x": 2}]
    fewer = refused(client, {"x": [2], "y": [1.0]}, "space_changed")
    assert fewer.missing == []


def test_other_content_under_the_same_name_is_named(client: Client) -> None:
    client.grid(objective, {"x": [1]}, name="g", once=True)
    error = refused(client, {"x": [1, 2]}, seed=3, direction="maximize", data={"d": np.ones(1)})
    assert "differs in: direction, data, seed, space" in error.message
    assert error.missing == []
    with pytest.raises(hyperflock.StudyExistsError, match="differs in: method"):
        client.random(objective, {"x": [1]}, trials=1, name="g", once=True)


def test_a_space_too_large_to_compare_is_named_only(client: Client) -> None:
    names = [f"n{index}" for index in range(20)]
    client.grid(objective, {name: [1, 2] for name in names}, name="g", once=True)
    error = refused(client, {name: [1, 3] for name in names}, "space_changed")
    assert "has lost the value 2" in error.message
    assert error.missing == []
