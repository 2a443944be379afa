"""Optuna's own plots of a server's study, by plotly or else Matplotlib, whichever is there.

    draw(study, "param_importances", {}).show()

The thread that calls it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import optuna

from hyperflock._base.errors import HyperflockError


def has_plotly() -> bool:
    """Whether plotly draws, which works in any thread."""
    return optuna.visualization.is_available()


def draw(study: optuna.Study, kind: str, options: Mapping[str, Any]) -> Any:
    """Make a plot of ``optuna.visualization``.

    Parameters
    ----------
    study
        An Optuna study.
    kind
        The function's name there, without ``plot_``.
    options
        Its keyword arguments.

    Returns
    -------
    plotly.graph_objects.Figure or matplotlib.axes.Axes
        Of plotly where it is installed; Matplotlib gives an array of axes for some kinds.

    Raises
    ------
    HyperflockError
        ``no_plotter``: neither is installed.
    """
    for library in (optuna.visualization, optuna.visualization.matplotlib):
        if library.is_available():
            return getattr(library, f"plot_{kind}")(study, **options)
    raise HyperflockError(
        f"the plot {kind!r} needs plotly or Matplotlib; 'pip install plotly' brings one, and "
        "plot('history') needs nothing",
        code="no_plotter",
    )
