"""Recognises objects that exist only in this process, such as open files, and explains each.

    error = refusal(value, "the objective uses 'link'")    # BundleError or None

Types are compared by their names, so that no library has to be imported. Any thread may use this
module.
"""

from __future__ import annotations

import io
import types
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError

_DATABASES = frozenset(
    {
        *("sqlite3", "psycopg", "psycopg2", "psycopg_pool", "asyncpg", "pymysql", "MySQLdb"),
        *("mysql", "oracledb", "sqlalchemy", "pymongo", "redis", "duckdb", "peewee", "pyodbc"),
    }
)
_GPU = {
    "torch": "PyTorch",
    "torchvision": "PyTorch",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "jax": "JAX",
    "jaxlib": "JAX",
    "cupy": "CuPy",
    "cupy_backends": "CuPy",
    "mxnet": "MXNet",
    "pycuda": "PyCUDA",
}
# The libraries of tables, and the types of pandas that `data=` takes.
_TABLES = frozenset({"pandas", "polars", "pyarrow"})
_SENT = frozenset({"DataFrame", "Series"})
_NETWORK = frozenset({"socket", "_socket", "ssl", "requests", "urllib3", "httpx", "aiohttp"})
_LOCKS = frozenset({"_thread", "threading", "queue", "_queue"})
# The types of this package that contain a token. A token must not be sent.
_HOLD_TOKENS = frozenset({"AsyncClient", "AsyncStudy", "Client", "Http", "Study"})
_PROCESSES = frozenset({"subprocess", "multiprocessing", "_multiprocessing"})


def refusal(value: Any, where: str) -> BundleError | None:
    """Return the error for a value; ``where`` is the beginning of its message, such as ``the
    objective uses 'link'``.
    """
    if isinstance(value, type | types.ModuleType | types.FunctionType):
        return None
    if isinstance(value, io.IOBase) and not isinstance(value, io.BytesIO | io.StringIO):
        return cannot("file", f"{where}, an open file; send it by data=... or open it there")
    if isinstance(value, PurePath):
        return _path(value, where)
    if isinstance(value, types.CoroutineType | types.AsyncGeneratorType):
        return cannot("coroutine", f"{where}, a coroutine that has begun; await it here")
    for cls in type(value).__mro__:
        if (found := _by_type(cls, where)) is not None:
            return found
    if isinstance(value, types.GeneratorType) or _is_begun(value):
        return cannot(
            "generator",
            f"{where}, {a(type(value))} that is partly used up; make it a list",
        )
    return None


def a(cls: type) -> str:
    """Return a type's name with its article."""
    name = cls.__name__.lstrip("_")
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def _by_type(cls: type, where: str) -> BundleError | None:
    full = cls.__module__ if isinstance(cls.__module__, str) else ""  # Cython's have a descriptor
    module = full.split(".")[0]
    name = cls.__name__
    if module in _NETWORK and name.lower().endswith(("socket", "session", "client", "poolmanager")):
        return cannot("socket", f"{where}, a network connection; a browser has none")
    if module in _DATABASES:
        return cannot(
            "database", f"{where}, an object of the database library {module}; read the data here"
        )
    if module in _GPU:
        return cannot(
            "gpu",
            f"{where}, an object of {_GPU[module]}, which no browser has; make it a NumPy array",
        )
    if module in _TABLES and name in ("DataFrame", "Series", "Index", "LazyFrame", "Table"):
        remedy = "" if module == "pandas" and name in _SENT else "make it a DataFrame of pandas, "
        return cannot(
            "value",
            f"{where}, {a(cls)} of {module}; {remedy}send it by data=... and take it from "
            "trial.data",
        )
    if module in _LOCKS or full.startswith("concurrent.futures"):
        pool = "ProcessPool" in name
        what = "a pool of processes" if pool else f"{a(cls)} of this process's threads"
        return cannot(
            "process" if pool else "lock", f"{where}, {what}; make it inside of the objective"
        )
    if module in _PROCESSES:
        return cannot("process", f"{where}, a process of this machine; a browser starts none")
    if full == "tempfile" and name.startswith("_Temporary"):
        return cannot("file", f"{where}, an open file; send it by data=... or open it there")
    if module == "hyperflock" and name in _HOLD_TOKENS:
        return cannot("client", f"{where}, {a(cls)}, which holds your token; leave it here")
    return None


def _path(value: PurePath, where: str) -> BundleError | None:
    there = getattr(value, "exists", None)
    if value.is_absolute() or (there is not None and there()):
        return cannot(
            "path",
            f"{where}, the path '{value}' of this machine; send the file by data=... "
            "and take its path from trial.data",
        )
    return None


def _is_begun(value: Any) -> bool:
    """Return whether a value is an iterator implemented in C, whose state cannot be copied."""
    if not isinstance(value, Iterator) or isinstance(value, io.IOBase):
        return False
    return not isinstance(getattr(type(value), "__next__", None), types.FunctionType)
