"""``cupy.util``: decorators that cache results, and a class of warnings."""

from ._shared.functions import clear_memo, memoize

__all__ = ["PerformanceWarning", "clear_memo", "memoize"]


class PerformanceWarning(Warning):
    """CuPy's warning that something is slow; arraycore counts ``cpu_ops`` instead."""
