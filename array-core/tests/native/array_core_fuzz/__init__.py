"""Runs random programs of views in NumPy and in array-core's C++, and compares the results.

``python -m array_core_fuzz --programs 1000000`` runs them. ``ARRAYCORE_PROBE`` is the path of the
probe library.
"""
