"""The Python side of a Hyperflock worker.

``runner`` runs one attempt of a trial, ``compat`` lets Chainer run unmodified on today's Python and
NumPy, ``bridge`` talks to the agent. The same code runs under Pyodide in a browser and on ordinary
CPython (local runs, tests).
"""
