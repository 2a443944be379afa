"""Tests that no process of a test or a benchmark outlives the process that started it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import LIMIT_S

HERE = Path(__file__).parents[1] / "support"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a signal of Linux")

FAMILY = """
import multiprocessing, subprocess, sys, time
from tied import end_with_parent, tied

def work(told):
    end_with_parent()
    told.set()
    time.sleep(600)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    told = context.Event()
    context.Process(target=work, args=(told,), daemon=True).start()
    told.wait()
    sleeper = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    subprocess.Popen(tied(sleeper)).wait()
"""

SERVER = """
import pathlib, sys, time
from patience import LIMIT_S
from real_server import Server

server = Server(pathlib.Path(sys.argv[1])).start()
print(server.process.pid, flush=True)
time.sleep(600)
"""


def started(script: str, folder: Path) -> subprocess.Popen[bytes]:
    (folder / "script.py").write_text(script)
    return subprocess.Popen(
        [sys.executable, str(folder / "script.py"), str(folder)],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        stdout=subprocess.PIPE,
    )


def test_children_of_a_killed_process_end(tmp_path: Path) -> None:
    with started(FAMILY, tmp_path) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"\n"
        parent.send_signal(signal.SIGKILL)
        # The children share the pipe, so it closes only when the last of them has ended.
        assert parent.communicate(timeout=LIMIT_S)[0] == b""


@pytest.mark.server
def test_the_server_of_a_killed_process_ends(tmp_path: Path) -> None:
    with started(SERVER, tmp_path) as parent:
        assert parent.stdout is not None
        server = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert not select.select([server], [], [], 0)[0]
            parent.send_signal(signal.SIGKILL)
            assert select.select([server], [], [], LIMIT_S)[0]
        finally:
            os.close(server)
