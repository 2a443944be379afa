"""Lowers what compiled functions do with arrays: elements, shapes, local arrays, atomic updates."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .expressions import Expressions
from .operators import Value
from .positions import ATOMICS, PositionAxis, grid, gridsize, is_local_array, is_shared
from .types import SMALL_INT, Type, promote

#: The most elements of a local array (``src/ir/read.h``).
MOST_LOCAL: Final = 1024


@dataclass
class ArrayRef:
    """An array in a compiled function.

    Attributes
    ----------
    name : str
    dtype : str
    ndim : int
        How many indices the function writes.
    number : int
        The number of the parameter, or of the local.
    length : int
        The elements of a local array; 0 for a parameter.
    outer : tuple of int
        Expressions of indices that precede the function's own.
    reads, writes, atomics : bool
        What the passes over the function have found so far.
    """

    name: str
    dtype: str
    ndim: int
    number: int
    length: int = 0
    outer: tuple[int, ...] = ()
    reads: bool = field(default=False, compare=False)
    writes: bool = field(default=False, compare=False)
    atomics: bool = field(default=False, compare=False)
    #: The type of what has been written, for outputs whose dtype is not given.
    kind: Type | None = field(default=None, compare=False)

    def joins(self, kind: Type) -> None:
        """Widen an output's type to that of one more value."""
        self.kind = kind if self.kind is None else promote(self.kind, kind)


@dataclass(frozen=True)
class Threads:
    """The numbers of the scalar parameters that hold a launch's threads and blocks, by axis."""

    threads: tuple[int, ...]
    blocks: tuple[int, ...]


class Arrays(Expressions):
    """The part of a function's compilation that lowers arrays and the position in the grid."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.arrays: dict[str, ArrayRef] = {}
        self.threads: Threads | None = None
        #: The call that is a statement's whole value. Only there may an atomic update stand.
        self.direct: ast.expr | None = None

    # ---- elements
    def _name(self, node: ast.Name) -> Value:
        if node.id in self.arrays:
            raise self.error(
                node, "jit_index", f"{node.id!r} is an array, and kernels compute with elements",
                f"index it, as in {node.id}[i]",
            )  # fmt: skip
        return super()._name(node)

    def array_of(self, node: ast.expr) -> ArrayRef:
        """Return the array that an expression names."""
        if isinstance(node, ast.Name) and node.id in self.arrays:
            return self.arrays[node.id]
        raise self.error(
            node, "jit_index", f"{ast.unparse(node)!r} is not an array of this function",
            "pass the array as an argument, and index it by its name",
        )  # fmt: skip

    def index(self, array: ArrayRef, node: ast.expr) -> list[int]:
        """Return the expressions of an index, one for each axis, counted from the front."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if len(parts) != array.ndim:
            raise self.error(
                node, "jit_index",
                f"{array.name!r} has {array.ndim} axes, and this index {len(parts)}",
                "give one integer for each axis",
            )  # fmt: skip
        return [*array.outer, *(self._position(array, axis, p) for axis, p in enumerate(parts))]

    def _position(self, array: ArrayRef, axis: int, node: ast.expr) -> int:
        value = self.value(node)
        if value.type.kind not in "iu":
            raise self.error(
                node,
                "jit_index",
                f"an index is an integer, not {value.type}",
                "convert it by int()",
            )
        with self.refusing(node, "jit_index"):
            if value.id < 0 and value.const >= 0:
                return self.ops.id_of(self.ops.narrowed(value))
            at = self.ops.narrowed(value)
            if value.positive:
                return self.ops.id_of(at)
            # A negative index counts from the end.
            extent = self._extent(array, axis)
            from_end = self.program.expr("add", "int32", [self.ops.id_of(at), extent])
            if value.id < 0:
                return from_end
            zero = self.program.constant(0, "int32")
            is_below = self.program.expr("less", "bool", [at.id, zero])
            return self.program.expr("select", "int32", [is_below, from_end, at.id])

    def _extent(self, array: ArrayRef, axis: int) -> int:
        if array.length:
            return self.program.constant(array.length, "int32")
        place = self.program.constant(axis + len(array.outer), "int32")
        return self.program.expr("param_shape", "int32", [place], index=array.number)

    def _subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._shape_at(node, self.array_of(node.value.value))
        array = self.array_of(node.value)
        at = self.index(array, node.slice)
        array.reads = True
        op = "local_at" if array.length else "param_at"
        read = self.program.expr(op, array.dtype, at, index=array.number)
        kind = Type(array.dtype)
        return Value(kind, read, positive=kind.kind == "u")

    def store_at(self, node: ast.Subscript, value: Value) -> None:
        """Assign to an element."""
        array = self.array_of(node.value)
        at = self.index(array, node.slice)
        if value.type.kind == "c" and Type(array.dtype).kind != "c":
            raise self.error(
                node, "jit_type", f"a complex number does not fit {array.dtype}", "store its .real"
            )
        with self.refusing(node):
            stored = self.ops.id_of(self.ops.convert(value, Type(array.dtype)))
        array.writes = True
        kind = "assign_at" if array.length else "store_at"
        self.program.stmt(kind, target=array.number, value=stored, index=at)

    # ---- shapes
    def _shape_at(self, node: ast.Subscript, array: ArrayRef) -> Value:
        axis = self.value(node.slice)
        if not isinstance(axis.const, int) or not -array.ndim <= axis.const < array.ndim:
            raise self.error(
                node.slice, "jit_index", f"the axis of {array.name!r} is a constant below its "
                f"{array.ndim} axes", "write the axis as a number",
            )  # fmt: skip
        return self._size_of(array, axis.const % array.ndim)

    def _size_of(self, array: ArrayRef, axis: int) -> Value:
        return Value(SMALL_INT, self._extent(array, axis), positive=True)

    def shape_of(self, array: ArrayRef) -> list[Value]:
        return [self._size_of(array, axis) for axis in range(array.ndim)]

    def _attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id in self.arrays:
            array = self.arrays[node.value.id]
            if node.attr == "ndim":
                return self.ops.number(array.ndim)
            if node.attr == "size":
                total = self.ops.number(1)
                for extent in self.shape_of(array):
                    total = self.ops.binary("*", total, extent)
                return total
            raise self.error(
                node, "jit_index", f"{node.attr!r} of an array is not compiled",
                "take .shape[axis], .size, .ndim and elements",
            )  # fmt: skip
        found = None if node.attr in ("real", "imag") else self.resolved(node)
        if isinstance(found, PositionAxis):
            return self._thread(node, found)
        return super()._attribute(node)

    # ---- positions in the grid
    def _launch(self, node: ast.AST) -> Threads:
        if self.threads is None:
            raise self.error(
                node, "jit_call", "only a kernel with @arraycore.jit has a position in a grid",
                "compute the position in the kernel, and pass it as an argument",
            )  # fmt: skip
        return self.threads

    def _small(self, identity: int) -> Value:
        return Value(SMALL_INT, identity, positive=True)

    def _scalar(self, number: int) -> int:
        return self.program.expr("param", "int32", index=number)

    def _along(self, axis: int, threads: Threads) -> int:
        """Return the position of this thread along an axis of the whole grid."""
        number = self.program.expr("loop_index", "int32")
        for lower in range(axis):
            number = self.program.expr("divide", "int32", [number, self._total(lower, threads)])
        if axis < len(threads.threads) - 1:
            number = self.program.expr("remainder", "int32", [number, self._total(axis, threads)])
        return number

    def _total(self, axis: int, threads: Threads) -> int:
        parts = [self._scalar(threads.threads[axis]), self._scalar(threads.blocks[axis])]
        return self.program.expr("multiply", "int32", parts)

    def _thread(self, node: ast.AST, found: PositionAxis) -> Value:
        threads = self._launch(node)
        if found.axis >= len(threads.threads):
            return self.ops.number(int(found.name.endswith("Dim")))
        if found.name == "blockDim":
            return self._small(self._scalar(threads.threads[found.axis]))
        if found.name == "gridDim":
            return self._small(self._scalar(threads.blocks[found.axis]))
        op = "divide" if found.name == "blockIdx" else "remainder"
        at = [self._along(found.axis, threads), self._scalar(threads.threads[found.axis])]
        return self._small(self.program.expr(op, "int32", at))

    def positions(self, node: ast.Call, function: Any) -> list[Value]:
        """Return the values of ``grid(ndim)`` or ``gridsize(ndim)``."""
        threads = self._launch(node)
        ndim = self.value(node.args[0]).const if len(node.args) == 1 else None
        if ndim not in (1, 2, 3):
            raise self.error(
                node, "jit_call", f"{function.__name__}() takes the number of axes: 1, 2 or 3",
                "write it as a number",
            )  # fmt: skip
        out = []
        for axis in range(ndim):
            if axis >= len(threads.threads):
                out.append(self.ops.number(int(function is gridsize)))
            elif function is gridsize:
                out.append(self._small(self._total(axis, threads)))
            else:
                out.append(self._small(self._along(axis, threads)))
        return out

    # ---- calls
    def called(self, node: ast.Call, function: Any) -> Value | None:
        if function in (grid, gridsize):
            values = self.positions(node, function)
            if len(values) == 1:
                return values[0]
            raise self.error(
                node, "jit_call", f"{function.__name__}({len(values)}) gives {len(values)} values",
                "assign them to as many names: i, j = ...",
            )  # fmt: skip
        if function is len and len(node.args) == 1:
            return self._size_of(self.array_of(node.args[0]), 0)
        if function in ATOMICS:
            return self._atomic(node, *ATOMICS[function])
        if is_shared(function):
            raise self.error(
                node, "jit_call", "memory that threads share, and barriers, are not compiled",
                "read from the arrays, or take cuda.local.array() for one thread's values",
            )  # fmt: skip
        return None

    def several(self, node: ast.expr) -> list[Value] | None:
        """Return the values that an expression gives for several names, if it does."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return [self.value(each) for each in node.elts]
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return self.shape_of(self.array_of(node.value))
        if isinstance(node, ast.Call):
            function = self.resolved(node.func)
            if function in (grid, gridsize):
                return self.positions(node, function)
        return None

    def _atomic(self, node: ast.Call, op: str, count: int) -> Value:
        shown = ast.unparse(node.func)
        if node is not self.direct:
            raise self.error(
                node, "jit_expression", "an atomic update stands alone in its statement",
                "assign its result to a name first",
            )  # fmt: skip
        if len(node.args) != count + 2:
            raise self.error(
                node, "jit_call", f"{shown}() takes {count + 2} arguments, not {len(node.args)}",
                "pass the array, the index and the value",
            )  # fmt: skip
        array = self.array_of(node.args[0])
        kind = Type(array.dtype)
        if array.length or kind.kind in "bc":
            raise self.error(
                node.args[0], "jit_type", f"there are no atomic updates of {array.name!r}: "
                "it is an array of one thread, of bools or of complex numbers",
                "take an argument of integers or floats",
            )  # fmt: skip
        at = self.index(array, node.args[1])
        values = [self.value(each) for each in node.args[2:]]
        with self.refusing(node):
            converted = [self.ops.convert(value, kind) for value in values]
            if op == "atomic_sub":
                converted = [self.ops.unary("-", converted[0])]
                op = "atomic_add"
            ids = [*at, *(self.ops.id_of(value) for value in converted)]
        array.reads = array.writes = array.atomics = True
        old = self.program.expr(op, array.dtype, ids, index=array.number)
        return self.kept(Value(kind, old))

    def local_array(self, name: str, node: ast.Call) -> bool:
        """Declare a local array, if the call makes one; return whether it did."""
        if not is_local_array(self.resolved(node.func)):
            return False
        length, dtype = self._local_arguments(node)
        if name in self.arrays and self.arrays[name].length != length:
            raise self.error(node, "jit_name", f"{name!r} is another array", "take another name")
        number = self.program.local(name, dtype, length)
        self.arrays[name] = ArrayRef(name, dtype, 1, number, length)
        return True

    def _local_arguments(self, node: ast.Call) -> tuple[int, str]:
        given: list[ast.expr] = [*node.args, *(each.value for each in node.keywords)]
        shape: Sequence[ast.expr] = given[:1]
        if given and isinstance(given[0], ast.Tuple):
            shape = given[0].elts
        length = self.value(shape[0]).const if len(shape) == 1 and len(given) == 2 else None
        if not isinstance(length, int) or not 1 <= length <= MOST_LOCAL:
            raise self.error(
                node, "jit_call", "a local array has one axis, and a constant length from 1 to "
                f"{MOST_LOCAL}", "write the length as a number, and the dtype: (8, np.float32)",
            )  # fmt: skip
        try:
            dtype = np.dtype(self.resolved(given[1]))
        except TypeError:
            dtype = np.dtype(object)
        if dtype.kind not in "biufc" or dtype.itemsize > 16:
            raise self.error(
                given[1], "jit_type", "this is not a dtype", "write np.float32 or alike"
            )
        return length, dtype.name
