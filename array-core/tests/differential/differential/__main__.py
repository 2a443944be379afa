"""Runs the comparison and prints a table of the families; the package's docstring says how.

The exit code is 1 if a case failed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from .judge import REFUSED, SAME
from .run import FORMS, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential", description="arraycore against NumPy.")
    parser.add_argument("--cases", type=int, default=20, help="cases of each function")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", default="", help="functions whose family.path begins so")
    parser.add_argument("--form", choices=sorted(set(FORMS)), help="this form of arguments alone")
    parser.add_argument("--shown", type=int, default=3, help="failures shown for each function")
    arguments = parser.parse_args()
    forms = (arguments.form,) if arguments.form else FORMS
    results = run(arguments.cases, arguments.seed, arguments.only, forms)
    shown: Counter[str] = Counter()
    for result in results.values():
        for text in result.failures:
            path = text.partition("#")[0]
            shown[path] += 1
            if shown[path] <= arguments.shown:
                print(text)
    print(f"{'family':14}{'cases':>8}{'same':>8}{'refused':>9}{'failed':>8}")
    for family, result in results.items():
        kinds = result.kinds
        print(f"{family:14}{result.tried:8}{kinds[SAME]:8}{kinds[REFUSED]:9}{result.failed:8}")
    failed = sum(result.failed for result in results.values())
    print(f"{sum(result.tried for result in results.values())} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
