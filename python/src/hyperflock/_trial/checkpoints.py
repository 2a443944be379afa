"""Writes and reads a trial's state: trees of plain values and arrays, and Chainer's npz.

    kind, content = encode({"epoch": 3, "weights": [w, b]})      # ("tree", a zip)
    decode(kind, content)["epoch"]

Checkpoints are exchanged between devices of people who do not know each other, so nothing is
pickled. A tree is a zip of ``tree.json`` and one ``.npy`` or ``.bin`` file for each array or bytes
object. An npz is what ``chainer.serializers.save_npz`` writes, except for entries that are None:
Chainer pickles them, and here they become the text ``NONE``. The module is pure; any thread may use
it.
"""

from __future__ import annotations

import io
import json
import math
import sys
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hyperflock._base.errors import CheckpointError

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 100_000
# Python writes and reads ints of up to 4,300 digits.
MAX_INT_BITS = 14_000
NONE = "\0None"
_TREE = "tree.json"


def encode(state: Any, beside: Mapping[str, str] | None = None) -> tuple[str, bytes]:
    """Write a trial's state.

    Parameters
    ----------
    state
        A tree of dicts with string keys, lists, tuples, None, bools, ints, floats, strings, bytes
        and arrays (none of dtype object), or an object of Chainer with ``serialize``: a link, an
        optimizer or a trainer.
    beside
        Further texts for the zip, by file name. `decode` ignores them.

    Returns
    -------
    (str, bytes)
        The format, ``tree`` or ``npz``, and the content.

    Raises
    ------
    CheckpointError
        ``checkpoint_not_a_tree``, ``checkpoint_too_large``.
    """
    serialize = getattr(state, "serialize", None)
    is_chainers = callable(serialize)
    out = _encode_npz(serialize) if is_chainers else _encode_tree(state)  # type: ignore[arg-type]
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (beside or {}).items():
            archive.writestr(name, text)
    content = out.getvalue()
    _check_size(len(content))
    return "npz" if is_chainers else "tree", content


def decode(kind: str, content: bytes) -> Any:
    """Return the state that ``encode`` wrote: the tree, or an npz as a dict of arrays.

    Raises
    ------
    CheckpointError
        ``checkpoint_malformed``: the content does not have this format, or needs too much memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > 2 * MAX_BYTES:
                raise _malformed("the checkpoint unpacks to too much")
            if kind == "npz":
                return _decode_npz(content)
            if kind == "tree":
                return _TreeReader(archive).read()
    except CheckpointError:
        raise
    except Exception as error:
        # Another device sent these bytes. zipfile, zlib and NumPy raise nearly any error for
        # invalid ones, and MemoryError for an array that only claims to be large.
        raise _malformed(f"the checkpoint is no {kind}: {error}") from error
    raise _malformed(f"there is no format '{kind}'")


def read_member(content: bytes, name: str, max_bytes: int) -> Any:
    """Return the JSON of a further file in a checkpoint's zip; None if there is no such file.

    Raises
    ------
    CheckpointError
        ``checkpoint_malformed``.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if name not in archive.namelist():
                return None
            if archive.getinfo(name).file_size > max_bytes:
                raise _malformed(f"the checkpoint's {name} is too long")
            told = json.loads(archive.read(name))
            if told is None:
                raise _malformed(f"the checkpoint's {name} says nothing")
            return told
    except CheckpointError:
        raise
    except Exception as error:
        # Invalid bytes raise nearly any error, as in `decode`.
        raise _malformed(f"the checkpoint's {name} cannot be read: {error}") from error


def restore(target: Any, arrays: Mapping[str, Any]) -> None:
    """Load an npz's arrays into an object of Chainer, as ``chainer.serializers.load_npz`` does.

    Raises
    ------
    KeyError
        The arrays lack an entry of ``target``.
    """
    from chainer.serializers import NpzDeserializer

    # Chainer's deserializer expects NumPy arrays, which is what its own files contain.
    held = {name: np.asarray(value) for name, value in arrays.items()}
    target.serialize(NpzDeserializer(held))


def _encode_npz(serialize: Callable[[Any], Any]) -> io.BytesIO:
    from chainer.serializers import DictionarySerializer

    serializer = DictionarySerializer()
    serialize(serializer)
    arrays = {
        name: np.asarray(NONE) if value.dtype == object and value[()] is None else value
        for name, value in serializer.target.items()
    }
    for name, value in arrays.items():
        _check_array(value, f"the entry '{name}'")
    _check_size(sum(value.nbytes for value in arrays.values()))
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **arrays)
    return out


def _decode_npz(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        # The zip may have files besides the arrays, and these are skipped.
        read = {
            name: arrays[name] for name in arrays.files if f"{name}.npy" in arrays.zip.namelist()
        }
    return {
        name: None if value.shape == () and value.dtype.kind == "U" and value[()] == NONE else value
        for name, value in read.items()
    }


def _check_array(value: Any, what: str) -> None:
    if value.dtype.hasobject:
        raise _no_tree(f"{what} is an array of objects, which would be pickled")
    # As long as nothing has used numpy.ma, NumPy has not imported it, so no array is masked. An
    # import here would take a browser some time.
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(value, masked.MaskedArray):
        raise _no_tree(
            f"{what} is a masked array, whose mask would be lost: give its data and its mask"
        )


def _check_size(count: int) -> None:
    if count > MAX_BYTES:
        raise CheckpointError(
            f"the checkpoint has {count} bytes or more, but may have at most {MAX_BYTES}",
            code="checkpoint_too_large",
        )


def _encode_tree(state: Any) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        tree = _TreeWriter(archive).node(state, 0)
        archive.writestr(_TREE, json.dumps(tree, allow_nan=False))
    return out


class _TreeWriter:
    """A writer of values as JSON with their kinds; arrays and bytes become other files."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._nodes = 0
        self._bytes = 0

    def node(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise _no_tree(
                f"a checkpoint is at most {MAX_DEPTH} deep and has at most {MAX_NODES} values"
            )
        if type(value) is int and value.bit_length() > MAX_INT_BITS:
            raise _no_tree(f"a checkpoint's ints have at most {MAX_INT_BITS} bits")
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, bytes | bytearray | memoryview):
            self._count(memoryview(value).nbytes)
            return {"bytes": self._file("bin", bytes(value))}
        if isinstance(value, np.ndarray | np.generic):
            _check_array(value, "a value")
            self._count(value.nbytes)
            content = io.BytesIO()
            np.save(content, np.asarray(value), allow_pickle=False)
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return {kind: self._file("npy", content.getvalue())}
        if type(value) in (list, tuple):
            kind = "list" if type(value) is list else "tuple"
            return {kind: [self.node(one, depth + 1) for one in value]}
        if type(value) is dict:
            for key in value:
                if type(key) is not str:
                    raise _unknown_kind(f"a dict with the key {key!r:.100}")
            return {"dict": [[key, self.node(one, depth + 1)] for key, one in value.items()]}
        cls = type(value)
        raise _unknown_kind(f"a {cls.__module__}.{cls.__qualname__}".replace(" builtins.", " "))

    def _count(self, count: int) -> None:
        """Add ``count`` to the size of the checkpoint, and raise an error if the size exceeds the
        limit. It is called before a value is copied.
        """
        self._bytes += count
        _check_size(self._bytes)

    def _file(self, suffix: str, content: bytes) -> str:
        name = f"{self._nodes}.{suffix}"
        self._archive.writestr(name, content)
        return name


def _unknown_kind(what: str) -> CheckpointError:
    return _no_tree(
        f"a checkpoint cannot hold {what}: give dicts with string keys, lists, tuples, numbers, "
        "strings, bytes and NumPy's arrays"
    )


def _no_tree(message: str) -> CheckpointError:
    return CheckpointError(message, code="checkpoint_not_a_tree")


def _malformed(message: str) -> CheckpointError:
    return CheckpointError(message, code="checkpoint_malformed")


class _TreeReader:
    """Reads trees. For an invalid tree it raises various exceptions, which `decode` replaces by its
    own error.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def read(self) -> Any:
        return self._value(json.loads(self._archive.read(_TREE)))

    def _value(self, node: Any) -> Any:
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise ValueError("a list without its kind")
            return node
        ((kind, content),) = node.items()
        if kind == "float":
            return float(content)
        if kind == "bytes":
            return self._archive.read(content)
        if kind in ("array", "scalar"):
            array = np.load(io.BytesIO(self._archive.read(content)), allow_pickle=False)
            return array if kind == "array" else array[()]
        if kind == "list":
            return [self._value(one) for one in content]
        if kind == "tuple":
            return tuple(self._value(one) for one in content)
        if kind == "dict":
            return {key: self._value(one) for key, one in content}
        raise ValueError(f"there is no kind '{kind}'")
