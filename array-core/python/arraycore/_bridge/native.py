"""The bridge to ``libarraycore.so`` by ctypes, on ordinary CPython."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

_INTERFACE_VERSION = 2
_MAX_DIMS = 32
_DESCRIPTION_WORDS = 2 + 2 * _MAX_DIMS

_INT, _DOUBLE, _ADDRESS = ctypes.c_int32, ctypes.c_double, ctypes.c_void_p
# The return type and the argument types of the functions in arraycore/arraycore.h.
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ac_interface_version": (_INT, []),
    "ac_open": (_INT, [_INT, _DOUBLE]),
    "ac_close": (_INT, []),
    "ac_reset": (_INT, []),
    "ac_error_kind": (_INT, []),
    "ac_error_code": (ctypes.c_char_p, []),
    "ac_error_message": (ctypes.c_char_p, []),
    "ac_create": (_INT, [_INT, _INT, _ADDRESS, _ADDRESS]),
    "ac_read": (_INT, [_INT, _ADDRESS, ctypes.c_size_t]),
    "ac_item": (_INT, [_INT, _ADDRESS]),
    "ac_describe": (_INT, [_INT, _ADDRESS]),
    "ac_free": (_INT, [_INT, _ADDRESS]),
    "ac_set_promotion": (_INT, [_INT]),
    "ac_ufunc_number": (_INT, [ctypes.c_char_p]),
    "ac_unary": (_INT, [_INT] * 4),
    "ac_binary": (_INT, [_INT] * 5),
    "ac_binary_scalar": (_INT, [_INT, _INT, _DOUBLE, _INT, _INT, _INT, _INT]),
    "ac_call": (_INT, [_INT, _ADDRESS, _INT, _INT, _INT]),
    "ac_kernel": (_INT, [_INT, ctypes.c_char_p, ctypes.c_size_t]),
    "ac_counter": (_DOUBLE, [_INT]),
    "ac_device_text": (ctypes.c_char_p, []),
    "ac_profile_text": (ctypes.c_char_p, []),
}


def library_path() -> str:
    """Return the path of the library: ``ARRAYCORE_LIBRARY``, else the one next to the package.

    Raises
    ------
    ImportError
        There is no library.
    """
    named = os.environ.get("ARRAYCORE_LIBRARY")
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    beside = os.path.join(package, "libarraycore.so")
    if named is None and not os.path.isfile(beside):
        raise ImportError(
            "arraycore found no libarraycore.so: build it and set ARRAYCORE_LIBRARY to its path."
        )
    return named or beside


class NativeBridge:
    """The bridge by ctypes. Calls keep Python's lock, so only one thread at a time is in C++."""

    name = "native"

    def __init__(self, path: str) -> None:
        library = ctypes.PyDLL(path)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        version = library.ac_interface_version()
        if version != _INTERFACE_VERSION:
            raise ImportError(f"{path} has interface {version}, this is for {_INTERFACE_VERSION}.")
        self._library = library
        self._item = ctypes.c_double()
        self._description = (ctypes.c_int64 * _DESCRIPTION_WORDS)()
        self.open = library.ac_open
        self.close = library.ac_close
        self.reset = library.ac_reset
        self.set_promotion = library.ac_set_promotion
        self.unary = library.ac_unary
        self.binary = library.ac_binary
        self.binary_scalar = library.ac_binary_scalar
        self.counter = library.ac_counter

    def device_text(self) -> str:
        return str(self._library.ac_device_text().decode())

    def profile_text(self) -> str:
        return str(self._library.ac_profile_text().decode())

    def error(self) -> str:
        kind, code = self._library.ac_error_kind(), self._library.ac_error_code()
        return f"{kind} {code.decode()} {self._library.ac_error_message().decode()}"

    def create(self, dtype: int, shape: tuple[int, ...], elements: Any | None) -> int:
        extents = (ctypes.c_int64 * len(shape))(*shape)
        address = None if elements is None else elements.ctypes.data
        return int(self._library.ac_create(dtype, len(shape), extents, address))

    def read(self, array: int, target: Any) -> int:
        return int(self._library.ac_read(array, target.ctypes.data, target.nbytes))

    def item(self, array: int) -> float | bool:
        told = self._library.ac_item(array, ctypes.byref(self._item))
        return self._item.value if told == 1 else told == 0

    def describe(self, array: int) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
        words = self._description
        if self._library.ac_describe(array, words) < 0:
            return None
        ndim = words[1]
        return words[0], tuple(words[2 : 2 + ndim]), tuple(words[2 + ndim : 2 + 2 * ndim])

    def free(self, arrays: list[int]) -> int:
        return int(self._library.ac_free(len(arrays), (ctypes.c_int32 * len(arrays))(*arrays)))

    def ufunc_number(self, name: str) -> int:
        return int(self._library.ac_ufunc_number(name.encode()))

    def call(self, operation: int, freed_a: int, freed_b: int, /, *words: int) -> int:
        count = len(words)
        packed = _words(count)(*words)
        return int(self._library.ac_call(operation, packed, count, freed_a, freed_b))

    def kernel(self, kind: int, texts: str) -> int:
        data = texts.encode()
        return int(self._library.ac_kernel(kind, data, len(data)))


@cache
def _words(count: int) -> type[ctypes.Array[ctypes.c_int32]]:
    return ctypes.c_int32 * count
