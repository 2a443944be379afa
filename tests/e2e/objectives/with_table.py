"""Sends a table of pandas to volunteers, and lets them draw it.

    python with_table.py

The objective does not import pandas: its data need it. The exit code is 1, with a sentence, if the
table is another one on a device, or if Matplotlib draws no picture there.
"""

import sys
from typing import Any

import pandas


def objective(trial: Any) -> float:
    import io

    import matplotlib.pyplot as plt

    table = trial.data["table"]
    means = table.groupby("name", observed=True)["value"].mean()
    axes = means.plot.bar(title="Größe $x^2$")
    file = io.BytesIO()
    axes.figure.savefig(file, format=trial.params["format"])
    plt.close(axes.figure)
    assert len(file.getvalue()) > 3000
    assert table["note"].tolist() == ["é", None, ""] or table["note"].isna().sum() == 1
    assert str(table["at"].dt.year.iloc[0]) == "2026"
    return float(means["b"]) + trial.data["offsets"][0]


if __name__ == "__main__":
    import hyperflock

    table = pandas.DataFrame(
        {
            "name": pandas.Categorical(["a", "b", "b"]),
            "value": [1.0, 2.0, 4.0],
            "note": ["é", None, ""],
            "at": pandas.to_datetime(["2026-11-28"] * 3),
        },
        index=pandas.Index([5, 7, 9], name="id"),
    )
    client = hyperflock.Client()
    data = {"table": table, "offsets": [0.5, 1]}
    study = client.grid(objective, {"format": ["png", "svg"]}, data=data, name="table")
    study.wait()
    values = [trial.value for trial in study.trials]
    if values != [3.5, 3.5]:
        sys.exit(f"the values are {values}, not 3.5: {[trial.error for trial in study.trials]}")
