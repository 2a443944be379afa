"""Describes estimators by their classes and parameters, from which a device builds them.

    described(make_pipeline(StandardScaler(), SVC(C=10)), "the estimator")

An estimator is its class and those parameters that differ from the class's defaults, also inside of
pipelines and lists. Nothing is pickled, and nothing that a fit has learned travels. device_code.py
builds the values again. Any thread may use this module.
"""

from __future__ import annotations

import inspect
import types
from importlib import import_module
from typing import Any, TypeAlias

from hyperflock._base.codes import cannot
from hyperflock._bundle.checks.untransferable import a

# A kind and what it needs: ("value", 3), ("name", "sklearn.svm", "SVC"), ("list", [...]), ...
Described: TypeAlias = tuple[Any, ...]

_ATOMS = (type(None), bool, int, float, str, bytes)


def described(value: Any, where: str) -> Described:
    """Return the description of an estimator, of another parameter, or of a scoring.

    ``where`` begins the message of an error, such as ``the estimator``.

    Raises
    ------
    BundleError
        ``cannot_bundle_value``: it cannot be built from its class and parameters.
    """
    kind = type(value)
    if kind in _ATOMS:
        return ("value", value)
    if kind in (list, tuple):
        return (kind.__name__, [described(item, f"{where}[{i}]") for i, item in enumerate(value)])
    if kind is dict:
        items = [(key, described(item, f"{where}[{key!r}]")) for key, item in value.items()]
        return ("dict", items)
    if isinstance(value, type | types.FunctionType):
        public = _public_name(value)
        return ("value", value) if public is None else ("name", *public)
    if hasattr(value, "_score_func") and hasattr(value, "_sign"):
        return _scorer(value, where)
    if hasattr(value, "get_params"):
        return _estimator(value, where)
    # A function of NumPy, a splitter, a generator of random numbers and the like: the bundle writes
    # it, or refuses it with a sentence.
    return ("value", value)


def _estimator(value: Any, where: str) -> Described:
    cls = type(value)
    usual = import_module("sklearn.base").BaseEstimator.__sklearn_clone__
    if getattr(cls, "__sklearn_clone__", usual) is not usual:
        raise cannot(
            "value",
            f"{where} is {a(cls)}, which keeps what a fit has learned; give an estimator that its "
            "class and its parameters describe",
        )
    params = {
        name: described(param, f"{where}.{name}")
        for name, param in value.get_params(deep=False).items()
        if not _is_default(cls, name, param)
    }
    output = dict(getattr(value, "_sklearn_output_config", {}))
    return ("estimator", described(cls, where), params, output)


def _scorer(value: Any, where: str) -> Described:
    """Describe what `sklearn.metrics.make_scorer` returned."""
    options = {key: described(item, f"{where}.{key}") for key, item in value._kwargs.items()}
    response = getattr(value, "_response_method", "predict")
    return (
        "scorer",
        described(value._score_func, where),
        value._sign,
        list(response) if isinstance(response, tuple) else response,
        options,
    )


def _is_default(cls: type, name: str, value: Any) -> bool:
    """Return whether a parameter has its class's default. If not sure, the answer is False."""
    found = inspect.signature(cls).parameters.get(name)
    if found is None or found.default is inspect.Parameter.empty:
        return False
    default = found.default
    if value is default:
        return True
    return type(value) in _ATOMS and type(value) is type(default) and bool(value == default)


def _public_name(value: Any) -> tuple[str, str] | None:
    """Return the module and name by which every version of scikit-learn has a class or function;
    None if it belongs to another package.
    """
    parts = str(getattr(value, "__module__", "")).split(".")
    name = value.__qualname__
    if parts[0] != "sklearn":
        return None
    for end in range(1, len(parts) + 1):
        module = ".".join(parts[:end])
        if getattr(import_module(module), name, None) is value:
            return module, name
    return None
