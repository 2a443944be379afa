"""Tests exports: typed columns, exact JSON, formulas that stay text, pictures, notebooks' HTML."""

from __future__ import annotations

import asyncio
import csv
import dataclasses
import io
import json
import os
import sys
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from typing import Any

import hyperflock.optuna
import msgspec
import numpy as np
import optuna
import pandas
import pyarrow.parquet
import pytest
from asked_objectives import square
from fake_console import FakeConsole
from hyperflock import AsyncStudy, Client, HyperflockError, NoCompleteTrialError, Scalar, Study
from hyperflock._client import client as _client
from hyperflock._reports import export as _export
from hyperflock._reports import html as _html
from hyperflock._reports import parquet as _parquet
from hyperflock._reports import plots as _plots
from hyperflock._transport.messages import SamplerRow
from objectives import objective
from patience import LIMIT_S

EVIL = "\x1b[2J<script>alert(1)</script>&\"'"
SPACE: dict[str, list[Any]] = {
    "rate": [0.5, 2],
    "layers": [2**62, 1],
    "flag": [True, False],
    "depth": [None, 3],
    "kind": ["=1+1", "b"],
    "mixed": ["a", 1],
}


@pytest.fixture
def study(client: Client, server: FakeConsole) -> Study:
    """Return a grid study with values of every kind, and with a trial in which a hostile device
    reported a failure.
    """
    made = client.grid(objective, SPACE, name=f"digits {EVIL}", direction="maximize")
    server.finish(made.id, 0, value=0.25)
    server.finish(made.id, 63, values=[0.5, 7.0])
    error = {"cause": "user_error", "code": "objective_raised", "message": EVIL, "traceback": EVIL}
    device = {"device": "+d", "class": "phone", "engine": f"@{EVIL}", "backend": "cpu"}
    server.finish(made.id, 5, "failed", error=error, device=device)
    return made


def test_csv_has_a_column_for_each_thing_and_no_formula(study: Study) -> None:
    rows = list(csv.DictReader(io.StringIO(study.export("csv"))))
    assert list(rows[0]) == [
        *("number", "state", "value", "value_1", "seed", "run_s", "load_s", "attempts"),
        *("device", "device_class", "engine", "backend", "adapter"),
        *("started_at", "finished_at"),
        *("error_code", "error"),
        *(f"params_{name}" for name in SPACE),
    ]
    assert [(r["number"], r["state"], r["value"], r["value_1"]) for r in rows] == [
        ("0", "complete", "0.25", ""),
        ("5", "failed", "", ""),
        ("63", "complete", "0.5", "7.0"),
    ]
    first, failed, _ = rows
    assert [first[f"params_{name}"] for name in SPACE] == [
        *("0.5", str(2**62), "True", "", "'=1+1", "a")
    ]
    assert first["finished_at"] == "2025-11-21T00:00:01+00:00"
    assert (failed["device"], failed["engine"][:2]) == ("'+d", "'@")
    assert failed["error_code"] == "objective_raised"
    assert "\x1b" not in study.export("csv")


def test_json_keeps_every_value_and_its_kind(study: Study) -> None:
    told = json.loads(study.export("json"))
    assert told["study"]["best"]["trial"] == 63
    assert repr(told["study"]["space"]) == repr(SPACE)
    assert [trial["number"] for trial in told["trials"]] == [0, 5, 63]
    assert repr(told["trials"][0]["params"]) == repr({n: v[0] for n, v in SPACE.items()})
    lines = study.export("jsonl").splitlines()
    assert [json.loads(line) for line in lines] == told["trials"]
    assert told["trials"][2]["values"] == [0.5, 7.0]


def test_parquet_has_the_columns_of_the_table(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "trials.parquet"
    content = study.export("parquet", path)
    assert path.read_bytes() == content
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    assert table.column_names == list(study.to_pandas().columns)
    kinds = {name: str(kind) for name, kind in zip(table.column_names, table.schema.types)}  # noqa: B905
    assert (kinds["number"], kinds["value_1"], kinds["state"]) == ("int64", "double", "string")
    assert kinds["finished_at"] == "timestamp[ms, tz=UTC]"
    assert (kinds["params_flag"], kinds["params_depth"]) == ("bool", "int64")
    rows = table.to_pylist()
    assert [row["value"] for row in rows] == [0.25, None, 0.5]
    assert [row["params_layers"] for row in rows] == [2**62, 2**62, 1]
    assert [row["params_depth"] for row in rows] == [None, 3, 3]
    # A column with values of several kinds contains JSON text.
    assert [json.loads(row["params_mixed"]) for row in rows] == ["a", 1, 1]
    assert rows[0]["params_kind"] == "=1+1"
    assert str(rows[0]["finished_at"]) == "2025-11-21 00:00:01+00:00"


def test_integers_that_no_column_holds_are_rounded_or_text(
    client: Client, server: FakeConsole
) -> None:
    made = client.grid(objective, {"x": [2**60 + 1, 0.5]})
    server.finish(made.id, 0, value=0.25)
    (row,) = pyarrow.parquet.read_table(io.BytesIO(made.export("parquet"))).to_pylist()
    assert row["params_x"] == 2.0**60
    # Integers of an ask-and-tell study may be too large for every type of a column.
    asked = msgspec.structs.replace(made.row, kind="asked", space=[])
    long = [
        dataclasses.replace(made.trials[0], number=number, params={"x": value, "y": value})
        for number, value in enumerate((2**63, 10**400, 7))
    ]
    rows = pyarrow.parquet.read_table(io.BytesIO(_parquet.parquet(asked, long))).to_pylist()
    assert [json.loads(row["params_x"]) for row in rows] == [2**63, 10**400, 7]
    assert _export.frame(asked, long)["params_x"].tolist() == [2**63, 10**400, 7]


def test_parquet_of_no_trials_has_the_same_kinds(client: Client, study: Study) -> None:
    empty = client.grid(objective, SPACE).export("parquet")
    full = pyarrow.parquet.read_schema(io.BytesIO(study.export("parquet")))
    assert pyarrow.parquet.read_schema(io.BytesIO(empty)).equals(
        full.remove(full.get_field_index("value_1"))
    )


def test_file_is_written_whole_or_not_at_all(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("old")
    assert study.export("csv", path) == path.read_text()
    assert os.listdir(tmp_path) == ["trials.csv"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    with pytest.raises(HyperflockError) as caught:
        study.export("csv", tmp_path / "none" / "trials.csv")
    assert caught.value.code == "cannot_write"
    with pytest.raises(HyperflockError) as caught:
        study.export("xlsx")  # type: ignore[call-overload]
    assert caught.value.code == "bad_format"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_pandas_columns_have_the_dtypes_of_the_space(study: Study) -> None:
    table = study.to_pandas()
    dtypes = {name: str(dtype) for name, dtype in table.dtypes.items()}
    assert dtypes["number"] == dtypes["seed"] == dtypes["attempts"] == "int64"
    assert dtypes["value"] == dtypes["value_1"] == dtypes["run_s"] == "float64"
    assert dtypes["finished_at"] == "datetime64[ns, UTC]"
    assert dtypes["params_rate"] == "float64"
    assert dtypes["params_layers"] == "int64"
    assert dtypes["params_flag"] == "bool"
    assert dtypes["params_depth"] == "Int64"
    texts = "str" if int(pandas.__version__.split(".")[0]) >= 3 else "object"
    assert dtypes["params_kind"] == dtypes["device"] == dtypes["state"] == texts
    assert table["error"].isna().tolist() == [True, False, True]
    assert dtypes["params_mixed"] == "object"
    assert table["number"].tolist() == [0, 5, 63]
    assert table["params_layers"].tolist() == [2**62, 2**62, 1]
    np.testing.assert_equal(table["value"].to_numpy(), [0.25, np.nan, 0.5])
    assert table["params_kind"][0] == "=1+1"
    assert table["params_depth"].isna().tolist() == [True, False, False]
    assert table.loc[table["value"].idxmax(), "params_mixed"] == 1


def test_pandas_table_without_trials_has_its_columns_and_dtypes(
    client: Client, study: Study
) -> None:
    empty = client.grid(objective, SPACE).to_pandas()
    full = study.to_pandas().drop(columns="value_1")
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == full.dtypes.to_dict()


def test_pandas_that_is_not_here_is_one_sentence(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(HyperflockError) as caught:
        study.to_pandas()
    assert caught.value.code == "no_pandas"
    assert "pip install pandas" in caught.value.message


def test_notebook_shows_a_study_with_every_text_escaped(study: Study) -> None:
    study.refresh()
    shown = study._repr_html_()
    page = ET.fromstring(shown)
    texts = [text.strip() for text in page.itertext() if text.strip()]
    assert texts[0] == f"Study {study.id}: digits [2J<script>alert(1)</script>&\"'"
    assert page.find(".//script") is None
    cells = dict(zip(*[iter(t.text or "" for t in page.iter() if t.tag in {"th", "td"})] * 2))  # noqa: B905
    assert cells["trials"] == "3 of 64 (2 complete, 0 pruned, 1 failed), 0 running"
    assert cells["best"] == "0.5, trial 63"
    assert cells["best kind"] == "b"
    assert isinstance(study._core, AsyncStudy)
    assert study._core._repr_html_() == shown


def test_notebook_says_that_a_study_waits_for_its_sampler(
    client: Client, server: FakeConsole
) -> None:
    optuna_study = optuna.create_study()
    hyperflock.optuna.optimize(optuna_study, square, 0, client=client)
    row = client.study(1).row
    waiting = msgspec.structs.replace(
        row, state="running", sampler=SamplerRow(1, False, "notebook", 0)
    )
    assert "<td" in _html.study(waiting)
    assert "none now: the study waits for one" in _html.study(waiting)


def test_notebook_shows_a_client_with_its_newest_studies(
    client: Client, server: FakeConsole, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_client, "_SHOW_S", LIMIT_S)
    for _ in range(10):
        client.grid(objective, {"x": [1, 2]})
    page = ET.fromstring(client._repr_html_())
    assert page.findtext(".//caption/strong") == f"Hyperflock at {server.url}"
    assert [head.text for head in page.findall(".//th[@scope='col']")] == [
        *("id", "name", "state", "done", "best")
    ]
    rows = [[cell.text for cell in row.findall("td")] for row in page.findall(".//tr")[1:]]
    assert [row[0] for row in rows] == [str(n) for n in range(11, 1, -1)]
    assert page.findtext("p") == "and 1 older ones: client.studies()"
    shown = _html.client(server.url, [study.refresh().row])
    assert ET.fromstring(shown).find(".//script") is None
    assert "&lt;script&gt;" in shown
    assert "token" not in repr(client) + shown
    server.faults = [503] * 20
    monkeypatch.setattr(_client, "_SHOW_S", 0.05)
    assert "no answer now" in client._repr_html_()


SVG = "{http://www.w3.org/2000/svg}"


def test_history_shows_each_value_and_the_best_so_far(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, {"x": list(range(5))}, name=EVIL)
    for number, value in ((3, 0.75), (0, 0.5), (4, 0.625), (1, 0.25), (2, 1.0)):
        server.finish(study.id, number, value=value, finished_at=1_763_683_200_000 + 1000 * value)
    picture = ET.fromstring(study.plot("history").svg)
    assert picture.get("role") == "img"
    assert "history of 5 trials, best 0.25" in picture.get("aria-label", "")
    assert picture.find(f".//{SVG}script") is None
    dots = picture.findall(f"{SVG}circle")
    titles = [dot.findtext(f"{SVG}title") for dot in dots]
    # The points are sorted by the time at which the trials finished.
    assert titles == [
        *("trial 1: 0.25, x=1", "trial 0: 0.5, x=0", "trial 4: 0.625, x=4"),
        *("trial 3: 0.75, x=3", "trial 2: 1, x=2"),
    ]
    heights = [float(dot.get("cy", "nan")) for dot in dots]
    assert heights == sorted(heights, reverse=True)
    (line,) = (p for p in picture.findall(f"{SVG}path") if p.get("fill") == "none")
    # The first trial is already the best, so the line of the best value is horizontal.
    assert {part.split("H")[0] for part in line.get("d", "").split("V")[1:]} == {
        f"{heights[0]:.1f}"
    }


def test_parallel_coordinates_have_an_axis_for_each_parameter(
    client: Client, server: FakeConsole, tmp_path: Path
) -> None:
    space: dict[str, list[Any]] = {"rate": [0.5, 0.25], "act": ["<b>", None, "tanh"]}
    study = client.grid(objective, space, direction="maximize")
    for number in range(6):
        server.finish(study.id, number, value=float(number))
    plot = study.plot("parallel")
    picture = ET.fromstring(plot._repr_svg_())
    lines = picture.findall(f"{SVG}polyline")
    # The line of the best trial is drawn last and thick, so that it is on top.
    assert [line.findtext(f"{SVG}title", "")[:7] for line in lines] == [
        f"trial {n}" for n in range(6)
    ]
    assert lines[-1].get("stroke-width") == "2.5"
    points = [[tuple(map(float, p.split(","))) for p in line.get("points", "").split()]
              for line in lines]  # fmt: skip
    assert all(len(line) == 3 for line in points)
    assert len({line[0][1] for line in points}) == 2
    assert len({line[1][1] for line in points}) == 3
    labels = [text.text for text in picture.findall(f"{SVG}text")]
    assert {"rate", "act", "<b>", "None", "tanh", "0.5", "0.25"} <= set(labels)
    plot.save(tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text() == plot.svg
    assert "save(path)" in repr(plot)


def test_pictures_of_many_trials_stay_small(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, {"x": list(range(9001))})
    row = study.row
    results = []
    server.finish(study.id, 0, value=1.0)
    (one,) = study.trials
    for number in range(9001):
        params: dict[str, Scalar] = {"x": number}
        results.append(
            dataclasses.replace(one, number=number, params=params, values=(float(number % 97),))
        )
    history = ET.fromstring(_plots.plot("history", row, results).svg)
    assert len(history.findall(f"{SVG}circle")) <= _plots.MAX_POINTS + 100
    parallel = ET.fromstring(_plots.plot("parallel", row, results).svg)
    assert len(parallel.findall(f"{SVG}polyline")) == _plots.MAX_LINES


def test_ticks_span_the_values() -> None:
    for low, high in ((0.0, 1.0), (3.0, 3.0), (0.0, 0.0), (-1e308, 1e308), (1.0, 1.0 + 1e-15),
                      (-5e-324, 5e-324), (0.123, 0.987), (1e300, 2e300)):  # fmt: skip
        ticks = _plots.ticks(low, high)
        assert ticks[0] <= low <= high <= ticks[-1], (low, high, ticks)
        assert ticks[0] < ticks[-1]
        assert 2 <= len(ticks) <= 12
        assert 0 <= _plots._height(low, ticks[0], ticks[-1]) <= 400


@pytest.fixture
def searched(client: Client, server: FakeConsole) -> Study:
    study = client.grid(objective, {"x": [1, 2, 3], "y": [0.5, 0.25]}, direction="maximize")
    for number in range(6):
        server.finish(study.id, number, value=float(number % 3))
    return study


def test_plots_of_optunas_are_plotly_figures(searched: Study) -> None:
    figure = searched.plot("optimization_history")
    assert figure.layout.title.text == "Optimization History Plot"
    assert sorted(figure.data[0].y) == [0, 0, 1, 1, 2, 2]
    shown = searched.plot("slice", params=["x"])
    assert shown.layout.xaxis.title.text == "x"
    again = asyncio.run(_plotted(searched))
    assert again.layout.title.text == figure.layout.title.text


async def _plotted(study: Study) -> Any:
    return await AsyncStudy(study._core._http, study.row).plot("optimization_history")


def test_plots_of_optunas_are_matplotlibs_without_plotly(
    searched: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plotly = import_module("optuna.visualization")  # the package's attribute may be a stand-in
    monkeypatch.setattr(plotly, "is_available", lambda: False)
    axes = searched.plot("optimization_history")
    assert axes.get_title() == "Optimization History Plot"
    axes.figure.clear()


def test_plots_that_cannot_be_are_refused(client: Client, study: Study) -> None:
    with pytest.raises(HyperflockError) as caught:
        study.plot("pie")  # type: ignore[call-overload]
    assert caught.value.code == "bad_plot"
    assert "param_importances" in caught.value.message
    with pytest.raises(NoCompleteTrialError):
        client.grid(objective, SPACE).plot()


@pytest.fixture
def logged(client: Client, server: FakeConsole) -> Study:
    """Return a study with two trials that logged series, with gaps, attributes and a summary, and
    one that did not.
    """
    made = client.grid(objective, {"rate": [0.5, 2, 3]}, name="logged")
    attrs = {"user": {"git": "=a3", "layers": [8, 8], "n": 1}, "summary": {"size": 9, "acc": "NaN"}}
    server.series[made.id, 0] = [
        ["loss", [0, 1, 5], [2.5, "NaN", "-Infinity"]],
        ["acc", [5], [0.5]],
    ]
    server.series[made.id, 2] = [["loss", [1], [0.25]]]
    last = [["loss", "-Infinity"], ["acc", 0.5]]
    server.finish(made.id, 2, value=0.5, last=[["loss", 0.25]])
    server.finish(made.id, 0, value=0.25, last=last, attrs=json.dumps(attrs))
    server.finish(made.id, 1, value=0.75, attrs='{"user": {"n": 2}, "summary": {"size": "x"}')
    return made


def test_a_result_has_its_summary_its_attributes_and_its_series(logged: Study) -> None:
    trial = logged.trial(0)
    assert trial.user_attrs == {"git": "=a3", "layers": [8, 8], "n": 1}
    assert list(trial.summary) == ["loss", "acc", "size"]
    assert (trial.summary["loss"], trial.summary["size"]) == (-np.inf, 9.0)
    assert np.isnan(trial.summary["acc"])  # the returned number counts, not the series' last value
    assert trial.series is not None
    assert trial.series["acc"] == ((5, 0.5),)
    assert [step for step, _ in trial.series["loss"]] == [0, 1, 5]
    assert logged.trial(1).series == {}
    assert logged.trial(1).summary == {}  # the attributes of this trial are malformed
    assert sorted(logged.series()) == [0, 2]
    assert logged.trials[0].series is None


def test_every_table_has_summaries_and_attributes(logged: Study) -> None:
    rows = list(csv.DictReader(io.StringIO(logged.export("csv"))))
    names = ["summary_loss", "summary_acc", "summary_size"]
    names += ["user_attrs_git", "user_attrs_layers", "user_attrs_n"]
    assert list(rows[0])[-6:] == names
    assert [rows[0][name] for name in names] == ["-inf", "nan", "9.0", "'=a3", "[8, 8]", "1"]
    assert [rows[1][name] for name in names] == [""] * 6
    table = logged.to_pandas()
    assert table.summary_loss.tolist() == [-np.inf, pytest.approx(np.nan, nan_ok=True), 0.25]
    assert str(table.user_attrs_n.dtype) == "Int64"
    assert table.user_attrs_layers[0] == [8, 8]
    told = json.loads(logged.export("json"))["trials"]
    assert told[0]["summary"] == {"loss": "-Infinity", "acc": "NaN", "size": 9.0}
    assert told[0]["user_attrs"]["layers"] == [8, 8]
    assert "series" not in told[0]
    parquet = pyarrow.parquet.read_table(io.BytesIO(logged.export("parquet"))).to_pylist()
    assert (parquet[0]["user_attrs_layers"], parquet[2]["summary_loss"]) == ("[8, 8]", 0.25)


def test_every_format_has_what_trials_logged(logged: Study) -> None:
    table = logged.to_pandas(series=True)
    assert list(table) == ["number", "step", "loss", "acc"]
    assert table[["number", "step"]].values.tolist() == [[0, 0], [0, 1], [0, 5], [2, 1]]
    assert table.loss.fillna(7).tolist() == [2.5, 7, -np.inf, 0.25]
    assert logged.export("csv", series=True).splitlines() == [
        *("number,step,loss,acc", "0,0,2.5,", "0,1,nan,", "0,5,-inf,0.5", "2,1,0.25,")
    ]
    lines = [json.loads(line) for line in logged.export("jsonl", series=True).splitlines()]
    assert lines[0]["series"]["loss"] == [[0, 2.5], [1, "NaN"], [5, "-Infinity"]]
    assert lines[1]["series"] == {}
    rows = pyarrow.parquet.read_table(io.BytesIO(logged.export("parquet", series=True)))
    assert rows.column_names == ["number", "step", "loss", "acc"]
    assert rows.num_rows == 4


def test_a_study_that_logged_nothing_has_an_empty_table(study: Study) -> None:
    assert list(study.to_pandas(series=True)) == ["number", "step"]
    assert study.export("csv", series=True) == "number,step\n"
