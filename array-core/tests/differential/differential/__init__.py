"""Compares functions of arraycore with NumPy's for generated arguments.

    PYTHONPATH=array-core/python:array-core/tests/differential python3 -m differential --cases 50

A case is a function, its arguments, which a seeded generator draws, and a form: arrays on the
device, or as NumPy's arrays and lists where NumPy takes them. Values, dtypes, shapes and classes of
errors have to be NumPy's. A call that raises NotImplementedError counts as refused. The modules
whose names end in `families` have the functions, `arguments.py` draws, `judge.py` compares.
"""
