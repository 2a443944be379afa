"""Adds up GoogleTest's XML reports and prints one closing line.

Usage: ``count_cases.py TITLE FOLDER``. It prints ``TITLE: N passed, N failed, N skipped``. Its exit
code is 1 if a case failed, or if no case ran, because a suite that runs nothing has not passed.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def main(title: str, folder: str) -> int:
    """Print the line for the reports in ``folder``. Return the exit status."""
    total = failed = skipped = 0
    for report in Path(folder).glob("*.xml"):
        root = ElementTree.parse(report).getroot()
        total += int(root.get("tests", "0"))
        failed += int(root.get("failures", "0")) + int(root.get("errors", "0"))
        for case in root.iter("testcase"):
            if case.find("skipped") is not None:
                skipped += 1
                print(f"SKIPPED {case.get('classname')}.{case.get('name')}")
    print(f"{title}: {total - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or total == skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
