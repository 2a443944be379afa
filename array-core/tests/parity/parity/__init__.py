r"""Compares every operation of array-core with NumPy: values, dtypes, layouts, operands, modes.

    ./run python --mount array-core/python --mount array-core/tests/parity \
        -m parity --backend-name cpu [--short] [--report FILE.json]

``values`` holds the operands' values, ``reference`` the right results, ``judge`` the allowed
errors, ``layouts`` the operands' layouts in memory, and ``cases`` the cases. ``runner`` runs and
compares them. The first three do not use arraycore. ``page`` makes one page from the reports of
several runs.
"""
