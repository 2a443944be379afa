"""Writes a program's words as NumPy code that runs by itself, for the report of a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from array_core_fuzz.keys import key_text
from array_core_fuzz.steps import DTYPES, IndexKind, StepOp

_HEADER = """import numpy as np

def create(dtype, seed, shape):
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    at = np.arange(seed, seed + size, dtype=np.uint32)
    return ((at * np.uint32(2654435761)) >> 13).astype(np.uint8).view(dtype).reshape(shape)

def host(values, dtype, shape):  # an index that stays NumPy's
    return np.array(values, dtype).reshape(shape)

device = host  # one that is made an array of the package
"""


def _list(words: Iterator[int]) -> list[int] | None:
    length = next(words)
    return None if length < 0 else [next(words) for _ in range(length)]


def _indices(words: Iterator[int], count: int) -> str:
    items = []
    while count > 0:
        count -= 1
        kind = next(words)
        if kind == IndexKind.INTEGER:
            items.append(str(next(words)))
        elif kind == IndexKind.SLICE:
            given, start, stop, step = (next(words) for _ in range(4))
            parts = [str(start) if given & 1 else "", str(stop) if given & 2 else ""]
            items.append(":".join(parts) + (f":{step}" if given & 4 else ""))
        else:
            items.append("np.newaxis" if kind == IndexKind.NEWAXIS else "...")
    if "..." not in items:
        items.append("...")
    return ", ".join(items)


def _step(op: int, words: Iterator[int]) -> tuple[str, bool]:
    """Return the code of one operation. The second result is whether the code is a statement that
    makes no array.
    """
    if op == StepOp.CREATE:
        dtype, seed = DTYPES[next(words)], next(words)
        return f"create({dtype.name!r}, {seed}, {_list(words)})", False
    a = f"a[{next(words)}]"
    match op:
        case StepOp.INDEX:
            return f"{a}[{_indices(words, next(words))}]", False
        case StepOp.TRANSPOSE:
            axes = _list(words)
            return f"{a}.T" if axes is None else f"{a}.transpose({axes})", False
        case StepOp.SWAP_AXES:
            return f"{a}.swapaxes({next(words)}, {next(words)})", False
        case StepOp.MOVE_AXES:
            return f"np.moveaxis({a}, {_list(words)}, {_list(words)})", False
        case StepOp.RESHAPE:
            return f"{a}.reshape({_list(words)})", False
        case StepOp.BROADCAST:
            return f"np.broadcast_to({a}, {_list(words)})", False
        case StepOp.SQUEEZE:
            axes = _list(words)
            return f"{a}.squeeze({'' if axes is None else tuple(axes)})", False
        case StepOp.EXPAND_DIMS:
            return f"np.expand_dims({a}, {_list(words)})", False
        case StepOp.DIAGONAL:
            return f"writable({a}.diagonal({next(words)}, {next(words)}, {next(words)}))", False
        case StepOp.FLIP:
            axes = _list(words)
            return f"np.flip({a}{'' if axes is None else f', {tuple(axes)}'})", False
        case StepOp.REINTERPRET:
            return f"{a}.view({DTYPES[next(words)].name!r})", False
        case StepOp.ASTYPE:
            return f"{a}.astype({DTYPES[next(words)].name!r}, order='C')", False
        case StepOp.ASSIGN:
            return f"{a}[...] = a[{next(words)}].copy()", True
        case StepOp.TAKE:
            return f"np.asarray({a}[{key_text(words)}]).copy(order='C')", False
        case StepOp.PUT:
            value = f"a[{next(words)}].copy()"
            return f"{a}[{key_text(words)}] = {value}", True
        case StepOp.FILL | StepOp.ADD:
            sign = "+=" if op == StepOp.ADD else "="
            value = f"{a}.dtype.type({next(words)})"
            return f"{a}[{key_text(words)}] {sign} {value}", True
        case StepOp.RAVEL | StepOp.REAL | StepOp.IMAG | StepOp.COPY:
            name = StepOp(op).name.lower()
            return f"{a}.{name}" + ("" if name in ("real", "imag") else "()"), False
    raise ValueError(f"no operation {op}")


def numpy_source(program: Sequence[int]) -> str:
    """Return runnable code. ``a`` is the list of arrays; steps that fail print their error."""
    words = iter(program)
    lines = [_HEADER]
    lines.append("def writable(view):")
    lines.append("    if view.base is not None and view.base.flags.writeable:")
    lines.append("        view.flags.writeable = True")
    lines.append("    return view\n")
    lines.append("a = []")
    for _ in range(next(words)):
        expression, is_statement = _step(next(words), words)
        lines.append("try:")
        lines.append(f"    {expression}" if is_statement else f"    a.append({expression})")
        lines.append("except (ValueError, IndexError, TypeError) as error:")
        lines.append("    print(type(error).__name__, error)")
    lines.append("for view in a:")
    lines.append("    print(view.shape, view.strides, view.flags.num & 3, view.tobytes().hex())")
    return "\n".join(lines) + "\n"
