r"""Every operation of array-core's against NumPy: values, dtypes, layouts, operands, modes.

    ./run python --mount array-core/python --mount array-core/tests/parity \
        -m parity --backend-name cpu [--short] [--report FILE.json]

``values`` holds what is computed with, ``reference`` what is right, ``judge`` how near is near
enough, ``layouts`` how operands lie in memory, ``cases`` what is compared, ``runner`` compares.
The first three know nothing of arraycore. ``page`` makes one page of several runs' reports.
"""
