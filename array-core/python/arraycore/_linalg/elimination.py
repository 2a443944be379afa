"""Computes inverses and determinants of batches of small matrices by Gaussian elimination.

The kernels run where the arrays live, and nothing is read back. One thread eliminates one matrix,
with partial pivoting, as in cuBLAS's batched LU. A device works on the matrices of a batch in
parallel. :data:`MOST_ROWS` limits the time of a thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.creation import empty
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray

#: The largest number of rows of a matrix that a kernel eliminates. A device needs some
#: milliseconds for such a matrix.
MOST_ROWS = 64

# Finds the row of the largest element of column k on or below the diagonal.
_PIVOT = """
  int p = k; T largest = abs(a[at + k * m + k]);
  for (int r = k + 1; r < m; ++r) {
    T size = abs(a[at + r * m + k]);
    if (size > largest) { largest = size; p = r; }
  }
"""
_invert = elementwise(
    "int32 m",
    "raw T a, raw T c, int32 info",
    f"""
    int at = i * m * m;
    int bad = 0;
    for (int r = 0; r < m; ++r)
      for (int q = 0; q < m; ++q) c[at + r * m + q] = r == q ? 1 : 0;
    for (int k = 0; k < m; ++k) {{
      {_PIVOT}
      if (largest == 0 && bad == 0) bad = k + 1;
      if (p != k) {{
        for (int q = 0; q < m; ++q) {{
          T left = a[at + k * m + q]; a[at + k * m + q] = a[at + p * m + q]; a[at + p * m + q] = left;
          T right = c[at + k * m + q]; c[at + k * m + q] = c[at + p * m + q]; c[at + p * m + q] = right;
        }}
      }}
      T scale = 1 / a[at + k * m + k];
      for (int q = 0; q < m; ++q) {{ a[at + k * m + q] *= scale; c[at + k * m + q] *= scale; }}
      for (int r = 0; r < m; ++r) {{
        if (r == k) continue;
        T factor = a[at + r * m + k];
        for (int q = 0; q < m; ++q) {{
          a[at + r * m + q] -= factor * a[at + k * m + q];
          c[at + r * m + q] -= factor * c[at + k * m + q];
        }}
      }}
    }}
    info = bad;
    """,  # noqa: E501
    "invert_matrices",
)
_determinant = elementwise(
    "int32 m",
    "raw T a, T y, int32 info",
    f"""
    int at = i * m * m;
    int bad = 0;
    T product = 1;
    for (int k = 0; k < m; ++k) {{
      {_PIVOT}
      if (largest == 0) {{ product = 0; bad = k + 1; break; }}
      if (p != k) {{
        product = -product;
        for (int q = k; q < m; ++q) {{
          T held = a[at + k * m + q]; a[at + k * m + q] = a[at + p * m + q]; a[at + p * m + q] = held;
        }}
      }}
      T pivot = a[at + k * m + k];
      product *= pivot;
      for (int r = k + 1; r < m; ++r) {{
        T factor = a[at + r * m + k] / pivot;
        for (int q = k + 1; q < m; ++q) a[at + r * m + q] -= factor * a[at + k * m + q];
      }}
    }}
    y = product;
    info = bad;
    """,  # noqa: E501
    "determinants",
)


def inverses(a: Any) -> tuple[ndarray, ndarray]:
    """Return the inverse of each matrix, and where its elimination failed.

    Parameters
    ----------
    a : ndarray
        Matrices of shape (..., n, n) and a floating dtype; results have the same dtype.

    Returns
    -------
    inverse : ndarray
        The inverses, of the shape of ``a``. The inverse of a singular matrix has inf and nan.
    info : ndarray
        int32, of shape (...): 0, or the number of the first pivot that is 0, counted from 1.
    """
    made = empty(a.shape, a.dtype)
    info = empty(a.shape[:-2], np.int32)
    if a.size:
        _invert(a.shape[-1], a.copy(order="C"), made, info)
    elif info.size:
        info[...] = 0
    return made, info


def determinants(a: Any) -> tuple[ndarray, ndarray]:
    """Return the determinant of each matrix, and where its elimination failed.

    The parameters and ``info`` are those of :func:`inverses`. A singular matrix has determinant 0.
    """
    made = empty(a.shape[:-2], a.dtype)
    info = empty(a.shape[:-2], np.int32)
    if made.size:
        _determinant(a.shape[-1], a.copy(order="C"), made, info)
    return made, info
