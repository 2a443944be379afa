"""Ends processes together with the process that started them, even if that is killed (Linux).

subprocess.Popen(tied([server, "serve"]))     # from a thread that lives as long as the process
multiprocessing.Process(target=work)          # work() begins with end_with_parent()
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import threading
from collections.abc import Sequence


def tied(command: Sequence[str | os.PathLike[str]]) -> list[str | os.PathLike[str]]:
    """Return a command that is killed as soon as the thread that started it ends."""
    setpriv = shutil.which("setpriv")
    return [*((setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()), *command]


def end_with_parent() -> None:
    """End this process of `multiprocessing` when its parent ends."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "not a process of multiprocessing"

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
