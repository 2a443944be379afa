"""Random view programs, run by NumPy and by array-core's C++ views, and compared.

``python -m array_core_fuzz --programs 1000000`` with ``ARRAYCORE_PROBE`` naming the library.
"""
