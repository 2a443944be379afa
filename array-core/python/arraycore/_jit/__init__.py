"""Compiles Python functions to kernels: ``jit``, ``vectorize``, ``reduce`` and ``guvectorize``
(``docs/jit.md``).

A function's syntax tree is typed and lowered to the kernel language (``src/ir/ir.h``), so every
back end runs it. From the bottom up: ``errors`` and ``source`` (texts and places), ``types``
(NumPy's promotion), ``program`` (the kernel as text), ``operators`` and ``functions`` (what
operators and functions mean), ``positions`` (what kernels over a grid call), ``expressions``,
``arrays``, ``statements``, ``compiler`` (inference, and calls of other functions), ``kernels``
(launches over a grid), ``plain`` (plain Python for debuggers), ``decorators``, ``reductions``,
``generalized``.
"""
