"""``einsum``: sums of products in index notation, computed as products of two matrices at a time.

Every axis of an operand has a label. A label that only one operand has, and not the result, is
summed first. Then two operands at a time are joined: a label of both is summed by the matrix
product if nothing else has it, else it is a batch axis of that product. Operands without a label
to sum are multiplied element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import operand_array
from .._core.ndarray import require_array
from .products import matmul, sum_axes

__all__ = [
    "einsum",
]

#: A label: a letter, or a negative number for an axis of the ellipsis, -1 for its last one.
Label = str | int
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def einsum(
    *operands: Any,
    out: Any = None,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Any:
    """Return the sums of products that subscripts describe.

    Parameters
    ----------
    subscripts : str
        The labels of each operand's axes and of the result's, such as ``"ij,jk->ik"``. Without an
        arrow the result has the labels that occur once, in alphabetical order. ``...`` stands for
        axes that broadcast.
    *operands : ndarray
        The operands. Instead of subscripts each may be followed by a sequence of numbers as its
        labels; the result's labels come last.
    out : ndarray, optional
        Receives the result instead of a new array.
    dtype : dtype, optional
        The dtype to compute in.
    order : str
        Accepted for compatibility with NumPy; new results are in C order.
    casting : str
        The rule for casts to ``dtype``.
    optimize
        Accepted for compatibility with NumPy; three or more operands are joined in a greedy order.

    Returns
    -------
    ndarray
        A new array, or, as in NumPy, a view if a single operand is only transposed.

    Raises
    ------
    ValueError
        The subscripts do not fit the operands.
    """
    subscripts, arrays = _given(operands)
    inputs, output = _parsed(subscripts, [a.ndim for a in arrays])
    common = np.dtype(dtype) if dtype is not None else np.result_type(*(a.dtype for a in arrays))
    terms = [
        _cast(_on_diagonals(a, labels, place), common, casting)
        for place, (a, labels) in enumerate(zip(arrays, inputs, strict=True))
    ]
    labels = [tuple(dict.fromkeys(each)) for each in inputs]
    _check_extents(arrays, inputs)
    _drop_ones(terms, labels)
    if len(terms) > 1:
        terms = [_summed_alone(a, at, labels, output) for at, a in enumerate(terms)]
        labels = [
            tuple(x for x in each if x in output or any(x in o for o in _but(labels, at)))
            for at, each in enumerate(labels)
        ]
    while len(terms) > 1:
        first, second = _next_pair(terms, labels)
        needed = set(output).union(
            *(each for at, each in enumerate(labels) if at not in (first, second))
        )
        joined = _joined(terms[first], labels[first], terms[second], labels[second], needed)
        for at in sorted((first, second), reverse=True):
            del terms[at], labels[at]
        terms.append(joined[0])
        labels.append(joined[1])
    result = _finished(terms[0], labels[0], output)
    if out is None:
        return result
    require_array(out)[...] = result
    return out


# ---- parsing the arguments


def _given(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    if not operands:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at "
            "least one operand and its corresponding subscripts list"
        )
    if isinstance(operands[0], str):
        if len(operands) < 2:
            raise ValueError("not enough operands provided to einstein sum function")
        return operands[0], [operand_array(a) for a in operands[1:]]
    arrays = [operand_array(a) for a in operands[: len(operands) // 2 * 2 : 2]]
    text = ",".join(_letters(labels) for labels in operands[1::2])
    if len(operands) % 2:
        text += "->" + _letters(operands[-1])
    return text, arrays


def _letters(labels: Sequence[Any]) -> str:
    text = ""
    for label in labels:
        if label is Ellipsis:
            text += "..."
        elif 0 <= int(label) < 52:
            text += chr(ord("A") + int(label)) if label < 26 else chr(ord("a") + int(label) - 26)
        else:
            raise ValueError("subscript is not within the valid range [0, 52)")
    return text


def _parsed(
    subscripts: str, ndims: Sequence[int]
) -> tuple[list[tuple[Label, ...]], tuple[Label, ...]]:
    """Return the labels of each operand and of the result."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) > len(ndims):  # NumPy's message has it the wrong way round; it is kept
        raise ValueError(
            "more operands provided to einstein sum function than specified in the subscripts "
            "string"
        )
    if len(parts) < len(ndims):
        raise ValueError(
            "fewer operands provided to einstein sum function than specified in the subscripts "
            "string"
        )
    inputs: list[tuple[Label, ...]] = []
    for place, (part, ndim) in enumerate(zip(parts, ndims, strict=True)):
        named = len(_checked(part.replace("...", "", 1)))
        if named > ndim:
            raise ValueError(
                f"einstein sum subscripts string contains too many subscripts for operand {place}"
            )
        if "..." not in part and named < ndim:
            raise ValueError(
                "operand has more dimensions than subscripts given in einstein sum, but no "
                "'...' ellipsis provided to broadcast the extra dimensions."
            )
        inputs.append(_expanded(part, ndim - named))
    widest = max((-min(x for x in each if isinstance(x, int)) for each in inputs
                  if any(isinstance(x, int) for x in each)), default=0)  # fmt: skip
    everything = [label for each in inputs for label in each]
    if not arrow:
        once = sorted(x for x in set(everything) if isinstance(x, str) and everything.count(x) == 1)
        return inputs, (*range(-widest, 0), *once)
    letters = _checked(right.replace("...", "", 1))
    for letter in letters:
        if letters.count(letter) > 1:
            raise ValueError(
                f"einstein sum subscripts string includes output subscript '{letter}' multiple "
                "times"
            )
        if letter not in everything:
            raise ValueError(
                f"einstein sum subscripts string included output subscript '{letter}' which never "
                "appeared in an input"
            )
    if widest and "..." not in right:
        raise ValueError(
            "output has more dimensions than subscripts given in einstein sum, but no '...' "
            "ellipsis provided to broadcast the extra dimensions."
        )
    return inputs, _expanded(right, widest)


def _checked(letters: str) -> str:
    for letter in letters:
        if letter == ".":
            raise ValueError(
                "einstein sum subscripts string contains a '.' that is not part of an ellipsis "
                "('...')"
            )
        if not (letter.isascii() and letter.isalpha()):
            raise ValueError(
                f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must "
                "be letters"
            )
    return letters


def _expanded(part: str, extra: int) -> tuple[Label, ...]:
    before, dots, after = part.partition("...")
    return (*before, *(range(-extra, 0) if dots else ()), *after)


# ---- one operand


def _on_diagonals(a: Any, labels: tuple[Label, ...], place: int) -> Any:
    """Return a view with one axis for each label, in the order in which labels first occur. Axes
    with the same label are replaced by their diagonal.
    """
    rest = list(labels)
    for label in dict.fromkeys(labels):
        while rest.count(label) > 1:
            i = rest.index(label)
            j = rest.index(label, i + 1)
            if a.shape[i] != a.shape[j]:
                raise ValueError(
                    f"dimensions in operand {place} for collapsing index '{label}' don't match "
                    f"({a.shape[i]} != {a.shape[j]})"
                )
            a = a.diagonal(0, i, j)  # its axis is the last one
            del rest[j], rest[i]
            rest.append(label)
    order = [rest.index(label) for label in dict.fromkeys(labels)]
    return a.transpose(order) if order != sorted(order) else a


def _cast(a: Any, dtype: np.dtype[Any], casting: str) -> Any:
    if casting not in _CASTINGS:
        raise ValueError(f"casting must be one of {', '.join(map(repr, _CASTINGS))}")
    if not np.can_cast(a.dtype, dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Iterator operand required copying or buffering: cannot cast from {a.dtype!r} to "
            f"{dtype!r} according to the rule '{casting}'"
        )
    return a.astype(dtype, copy=False)


def _check_extents(arrays: Sequence[Any], inputs: Sequence[tuple[Label, ...]]) -> None:
    known: dict[Label, int] = {}
    for a, labels in zip(arrays, inputs, strict=True):
        for extent, label in zip(a.shape, labels, strict=True):
            if extent == 1:
                continue
            if known.setdefault(label, extent) != extent:
                shapes = " ".join(str(x.shape).replace(" ", "") for x in arrays)
                raise ValueError(
                    f"operands could not be broadcast together with shapes {shapes}: label "
                    f"'{label}' is {known[label]} and {extent}"
                )


def _drop_ones(terms: list[Any], labels: list[tuple[Label, ...]]) -> None:
    """Remove axes of extent 1 whose label has another extent in another operand."""
    wide = {
        label
        for a, each in zip(terms, labels, strict=True)
        for extent, label in zip(a.shape, each, strict=True)
        if extent != 1
    }
    for at, (a, each) in enumerate(zip(terms, labels, strict=True)):
        ones = tuple(i for i, x in enumerate(each) if a.shape[i] == 1 and x in wide)
        if ones:
            terms[at] = a.squeeze(ones)
            labels[at] = tuple(x for i, x in enumerate(each) if i not in ones)


def _but(labels: Sequence[tuple[Label, ...]], at: int) -> list[tuple[Label, ...]]:
    return [each for other, each in enumerate(labels) if other != at]


def _summed_alone(
    a: Any, at: int, labels: Sequence[tuple[Label, ...]], output: tuple[Label, ...]
) -> Any:
    """Return the sum over the axes whose labels neither the result nor another operand has."""
    others = set(output).union(*_but(labels, at))
    return sum_axes(a, tuple(i for i, x in enumerate(labels[at]) if x not in others))


def _finished(a: Any, labels: tuple[Label, ...], output: tuple[Label, ...]) -> Any:
    a = sum_axes(a, tuple(i for i, x in enumerate(labels) if x not in output))
    rest = [x for x in labels if x in output]
    order = [rest.index(x) for x in output]
    return a.transpose(order) if order != sorted(order) else a[...]


# ---- two operands


def _next_pair(terms: Sequence[Any], labels: Sequence[tuple[Label, ...]]) -> tuple[int, int]:
    """Return the first pair of operands whose product has the fewest elements."""
    best, chosen = None, (0, 1)
    for j in range(1, len(terms)):
        for i in range(j):
            extents = dict(zip(labels[i], terms[i].shape, strict=True))
            extents |= dict(zip(labels[j], terms[j].shape, strict=True))
            size = prod(tuple(extents[x] for x in set(labels[i]) ^ set(labels[j])))
            if best is None or size < best:
                best, chosen = size, (i, j)
    return chosen


def _joined(
    a: Any, of_a: tuple[Label, ...], b: Any, of_b: tuple[Label, ...], needed: set[Label]
) -> tuple[Any, tuple[Label, ...]]:
    """Return the product of two operands, summed over the labels that nothing else needs."""
    batch = tuple(x for x in of_a if x in of_b and x in needed)
    terms = tuple(x for x in of_a if x in of_b and x not in needed)
    rows = tuple(x for x in of_a if x not in of_b)
    columns = tuple(x for x in of_b if x not in of_a)
    extents = dict(zip(of_a, a.shape, strict=True)) | dict(zip(of_b, b.shape, strict=True))
    labels = (*batch, *rows, *columns)
    left = a.transpose([of_a.index(x) for x in (*batch, *rows, *terms)])
    right = b.transpose([of_b.index(x) for x in (*batch, *terms, *columns)])
    if not terms:
        left = left[(Ellipsis,) + (None,) * len(columns)]
        right = right[(slice(None),) * len(batch) + (None,) * len(rows)]
        return ufuncs.multiply(left, right), labels

    def size(group: tuple[Label, ...]) -> int:
        return prod(tuple(extents[x] for x in group))

    before = tuple(extents[x] for x in batch)
    product = matmul(
        left.reshape((*before, size(rows), size(terms))),
        right.reshape((*before, size(terms), size(columns))),
    )
    return product.reshape(tuple(extents[x] for x in labels)), labels
