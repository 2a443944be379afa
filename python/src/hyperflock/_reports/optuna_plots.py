"""Draws Optuna's own plots of a server's study with plotly, or with Matplotlib.

    draw(study, "param_importances", {}).show()

The calling thread draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import optuna

from hyperflock._base.errors import HyperflockError


def has_plotly() -> bool:
    """Return whether plotly is installed, which can draw in any thread."""
    return optuna.visualization.is_available()


def draw(study: optuna.Study, kind: str, options: Mapping[str, Any]) -> Any:
    """Return a plot of ``optuna.visualization``.

    Parameters
    ----------
    study
        An Optuna study.
    kind
        The function's name without ``plot_``.
    options
        The function's keyword arguments.

    Returns
    -------
    plotly.graph_objects.Figure or matplotlib.axes.Axes
        plotly's figure if it is installed, otherwise Matplotlib's axes; for some kinds an array.

    Raises
    ------
    HyperflockError
        ``no_plotter``: neither of them is installed.
    """
    for library in (optuna.visualization, optuna.visualization.matplotlib):
        if library.is_available():
            return getattr(library, f"plot_{kind}")(study, **options)
    raise HyperflockError(
        f"the plot {kind!r} needs plotly or Matplotlib; 'pip install plotly' brings one, and "
        "plot('history') needs nothing",
        code="no_plotter",
    )
