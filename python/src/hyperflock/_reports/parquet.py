"""Writes a study's finished trials as Parquet, with the columns of the pandas table.

    content = parquet(study.row, study.trials)

The module is pure; any thread may use it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from hyperflock._base.errors import HyperflockError
from hyperflock._model.results import TrialResult
from hyperflock._reports.export import columns_of, series_columns
from hyperflock._transport.messages import StudyRow


def parquet(study: StudyRow, trials: Sequence[TrialResult], *, series: bool = False) -> bytes:
    """Return the trials as Parquet; see `Study.export`.

    Raises
    ------
    HyperflockError
        ``no_pyarrow``: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise HyperflockError(
            "pyarrow is not installed; 'pip install hyperflock[parquet]' brings it, and "
            "export('csv') needs nothing",
            code="no_pyarrow",
        ) from None
    kinds: dict[str, Any] = {
        "bool": pyarrow.bool_(),
        "boolean": pyarrow.bool_(),
        "int64": pyarrow.int64(),
        "Int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "str": pyarrow.string(),
        "datetime64[ns, UTC]": pyarrow.timestamp("ms", tz="UTC"),
        "object": pyarrow.string(),
    }
    table = {}
    for name, dtype, values in series_columns(trials) if series else columns_of(study, trials):
        if dtype == "object":
            # A column of Arrow has one type. Values of several types are written as JSON texts.
            values = [None if value is None else json.dumps(value) for value in values]
        elif dtype == "float64":
            # pyarrow refuses integers that a double cannot represent.
            values = [None if value is None else float(value) for value in values]
        table[name] = pyarrow.array(values, type=kinds[dtype])
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(table), file)
    return file.getvalue()
