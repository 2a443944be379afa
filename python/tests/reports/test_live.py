"""Tests `Study.display`: in a notebook it is one output that changes in place. Elsewhere it prints
lines.

The tests of notebooks run a real kernel. A test goes on when the kernel has sent what it waits for,
so that none depends on time.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import hyperflock
import nbclient
import nbformat
import pytest
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._model.results import trial_result
from hyperflock._reports import live
from hyperflock._transport.messages import StudyRow, TrialRow
from hyperflock._transport.validation import convert
from jupyter_client.manager import KernelManager
from objectives import objective
from patience import LIMIT_S, until

EVIL = "<script>alert(1)</script>\x1b[2J\u202e\"'&"
_CELL = "study = hyperflock.Client({url!r}, {token!r}).study({study})\n"


class Kernel:
    """A kernel of IPython and the messages of its cells."""

    def __init__(self) -> None:
        self._manager = KernelManager(kernel_name="python3")
        self._manager.start_kernel(env={**os.environ, "JUPYTER_PLATFORM_DIRS": "1"})
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=LIMIT_S)
        self.messages: list[dict[str, Any]] = []

    def run(self, code: str) -> None:
        """Start a cell."""
        self._client.execute(code)

    def read_until(self, words: str) -> dict[str, Any]:
        """Read messages until a picture contains these words, and return that message."""
        while True:
            message = self._client.get_iopub_msg(timeout=LIMIT_S)
            self.messages.append(message)
            content = message["content"]
            assert message["msg_type"] != "error", content
            if words in content.get("data", {}).get("text/html", ""):
                return message

    def read_to_end(self) -> None:
        """Read messages until the cell has ended."""
        while True:
            message = self._client.get_iopub_msg(timeout=LIMIT_S)
            self.messages.append(message)
            if message["content"].get("execution_state") == "idle":
                return

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the messages of a kind."""
        return [message for message in self.messages if message["msg_type"] == kind]

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def end(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    found = Kernel()
    yield found
    found.end()


def _html(message: dict[str, Any]) -> str:
    text: str = message["content"]["data"]["text/html"]
    return text


def test_notebook_has_one_output_that_changes_and_ends_by_itself(
    kernel: Kernel, server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, {"x": [1.0, 2.0, 3.0]}, name="digits")
    server.begin(study.id, 0)
    where = {"url": server.url, "token": server.token, "study": study.id}
    kernel.run("import hyperflock\n" + _CELL.format(**where) + "study.display(every_s=0.2)")
    kernel.read_until("Running trials")
    for number, value in enumerate([0.5, 0.25, 0.75]):
        server.finish(study.id, number, value=value)
        kernel.read_until(f"{number + 1} of 3 trials finished")
    kernel.read_to_end()
    shown = kernel.of("display_data")
    changes = kernel.of("update_display_data")
    assert len(shown) == 1
    ids = {message["content"]["transient"]["display_id"] for message in (*shown, *changes)}
    assert len(ids) == 1
    last = _html(changes[-1])
    assert "finished</div>" in last
    assert "Best: <strong>0.25, trial 1: x=2.0</strong>" in last
    assert "Running trials" not in last
    assert last.count("<svg") == 2  # the best trial's curve, and all values
    assert kernel.of("stream") == []
    assert kernel.of("error") == []


def test_interrupt_ends_the_display_and_not_the_study(
    kernel: Kernel, server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, {"x": [1.0, 2.0]}, name="digits")
    where = {"url": server.url, "token": server.token, "study": study.id}
    kernel.run("import hyperflock\n" + _CELL.format(**where) + "study.display(every_s=0.2)")
    kernel.read_until("0 of 2 trials finished")
    kernel.interrupt()
    text = f"detached: study {study.id} goes on at the server; watch it again by: "
    again = f"{text}client.study({study.id}).display()"
    kernel.read_until(again)
    kernel.read_to_end()
    (error,) = kernel.of("error")
    assert (error["content"]["ename"], error["content"]["traceback"]) == (
        "KeyboardInterrupt",
        [again],
    )
    assert study.state == "running"
    # An interrupt of a loop over a study's results also shows no traceback but one short line.
    kernel.messages.clear()
    kernel.run("print('begun', flush=True)\nfor trial in study:\n    print(trial.number)")
    server.finish(study.id, 0, value=0.5)
    until_printed(kernel, "0\n")
    kernel.interrupt()
    kernel.read_to_end()
    (error,) = kernel.of("error")
    assert error["content"]["traceback"] == [again]
    assert study.state == "running"


def until_printed(kernel: Kernel, text: str) -> None:
    """Read messages until a cell has printed a text."""
    while not any(message["content"]["text"].endswith(text) for message in kernel.of("stream")):
        kernel.messages.append(kernel._client.get_iopub_msg(timeout=LIMIT_S))


def test_saved_notebook_has_the_last_picture(
    server: FakeConsole, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    study = client.grid(objective, {"x": [1.0]}, name=EVIL)
    where = {"url": server.url, "token": server.token, "study": study.id}
    source = "import hyperflock\n" + _CELL.format(**where) + "study.display(every_s=0.2)"
    cells = [nbformat.v4.new_code_cell(source)]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    watched = f"/api/studies/{study.id}/placement"

    def finish() -> None:
        until("the display", lambda: any(watched in request for request in server.requests))
        server.finish(study.id, 0, value=0.5)

    finishing = threading.Thread(target=finish)
    finishing.start()
    runner = nbclient.NotebookClient(notebook, kernel_name="python3", timeout=int(LIMIT_S))
    asyncio.run(runner.async_execute())
    finishing.join()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data"
    assert "1 of 1 trials finished" in output.data["text/html"]
    assert "<script" not in output.data["text/html"]
    assert output.data["text/plain"].startswith(f"study {study.id} ")


def test_terminal_gets_a_line_for_each_change(
    server: FakeConsole, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    study = client.grid(objective, {"x": [1.0, 2.0]}, name=f"digits {EVIL}")
    seen: list[str] = []

    def finish() -> None:
        for number in range(2):
            until("a line", lambda: f"{number} of 2 trials" in "".join(seen))  # noqa: B023
            server.finish(study.id, number, value=0.5 + number)

    class Lines(live.Terminal):
        def show(self, view: live.View) -> None:
            super().show(view)
            seen.append(live.line(view))

    finishing = threading.Thread(target=finish)
    finishing.start()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("hyperflock._client.async_study.screen_here", Lines)
        study.display(every_s=0.2, timeout_s=LIMIT_S)
    finishing.join()
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == len(set(lines)) == 3
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert lines[-1].endswith("finished, 2 of 2 trials, best 0.5, trial 0")
    assert err == ""
    # The printed lines show no running trials and no curve, so these are not requested.
    assert not [asked for asked in server.requests if "/unfinished" in asked or "/trials/" in asked]


def test_display_shows_running_trials_of_all_pages(server: FakeConsole, client: Client) -> None:
    server.page = 2
    study = client.grid(objective, {"x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    for number in range(5):
        server.begin(study.id, number)
    seen: list[list[int]] = []

    class Pictures(live.Screen):
        needs_trials = True

        def show(self, view: live.View) -> None:
            seen.append([trial.number for trial in view.running])

    def finish() -> None:
        until("all running trials", lambda: list(range(5)) in seen)
        for number in range(5):
            server.finish(study.id, number, value=0.5)

    finishing = threading.Thread(target=finish)
    finishing.start()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("hyperflock._client.async_study.screen_here", Pictures)
        study.display(every_s=0.2, timeout_s=LIMIT_S)
    finishing.join()
    assert list(range(5)) in seen


def test_display_ends_in_time(server: FakeConsole, client: Client) -> None:
    study = client.grid(objective, {"x": [1.0]})
    with pytest.raises(hyperflock.WaitTimeoutError):
        study.display(every_s=0.2, timeout_s=0.1)
    assert study.state == "running"


# ---- the picture


class _Strict(HTMLParser):
    """Checks that elements are closed in order, and collects the names of elements."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag != "br":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def close(self) -> None:
        super().close()
        assert self._open == []


def _row(server: FakeConsole, study: int, **fields: Any) -> StudyRow:
    return convert({**server.study_row(study), **fields}, StudyRow)


def _trial(number: int, *values: float, **fields: Any) -> Any:
    row = {
        "study": 1,
        "trial": number,
        "state": "complete",
        "params": json.dumps({"x": number}),
        "seed": 0,
        "values": list(values),
        "attempts": 1,
        "started_at": 1,
        "finished_at": 1_000 + number,
        "run_ms": 1,
        "load_ms": 1,
        "seq": number + 1,
        **fields,
    }
    return trial_result(convert(row, TrialRow))


def test_every_text_of_others_is_escaped(server: FakeConsole, client: Client) -> None:
    client.grid(objective, {EVIL[:40]: [1, EVIL]}, name=EVIL)
    device = {"device": EVIL, "class": EVIL, "engine": EVIL, "backend": EVIL}
    points = [[0, 0.5], [1, 0.25]]
    running = _trial(3, state="running", values=[], device=device, points=points)
    attrs = json.dumps({"system": {"constraints:<b>c": -1}})
    trials = [_trial(0, 0.5, device=device, attrs=attrs), _trial(1, 0.75)]
    row = _row(server, 1, best={"trial": 0, "value": 0.5, "params": '{"x":0}'}, complete=2)
    best = _trial(0, 0.5, points=[[0, 1.0], [5, 0.5]])
    view = live.View(row, trials, [running], best, EVIL, f"waits: {EVIL}")
    drawn = live.html(view)
    checked = _Strict()
    checked.feed(drawn)
    checked.close()
    assert checked.names <= {
        *("div", "strong", "progress", "table", "caption", "tr", "th", "td", "br"),
        *("svg", "path", "circle", "polyline", "text"),
    }
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", drawn)
    assert "meets its constraints (&lt;b&gt;c -1)" in drawn
    # The colours of axes and texts are those of the page, which may be dark.
    assert "currentColor" in drawn
    assert drawn.count('<table style="color: inherit') == drawn.count("<table") == 1
    assert not re.search('(fill|background|stroke)[=:]"?#(fff|000)', drawn)
    assert "\x1b" not in live.line(view)


@pytest.mark.parametrize(("fetched", "names"), [(0, 1), (1, 0)])
def test_only_the_present_best_trial_has_a_curve(
    fetched: int, names: int, server: FakeConsole, client: Client
) -> None:
    client.grid(objective, {"x": [0, 1]})
    row = _row(server, 1, best={"trial": 0, "value": 0.5, "params": '{"x":0}'}, complete=2)
    best = _trial(fetched, 0.5, points=[[0, 1.0], [5, 0.5]])
    drawn = live.html(live.View(row, [_trial(0, 0.5), _trial(1, 0.75)], best=best))
    assert drawn.count(f">best {fetched}</text>") == names


def test_several_objectives_show_their_front(server: FakeConsole, client: Client) -> None:
    client.grid(objective, {"x": list(range(30))})
    trials = [_trial(number, number, 29 - number) for number in range(30)]
    row = _row(
        server, 1, directions=["minimize", "minimize"], best_trials=list(range(20)), complete=30
    )
    drawn = live.html(live.View(row, trials))
    assert "20 best trials: no other trial beats them" in drawn
    assert "and 12 more: study.best_trials" in drawn
    assert "value 1 (minimize)" in drawn
    assert drawn.count("<circle") == 50


def test_curves_of_strange_numbers_are_drawn(server: FakeConsole, client: Client) -> None:
    client.grid(objective, {"x": [1]})
    values = [1e308, -1e308, 0.0, 5e-324]
    trials = [_trial(number, value) for number, value in enumerate(values)]
    row = _row(server, 1, complete=4)
    one = live.html(live.View(row, trials))
    assert "nan" not in one.lower().replace("name", "")
    assert one.count("<circle") == 4
    assert "<svg" not in live.html(live.View(row, []))
    long = [(step, float(step % 7)) for step in range(100_000)]
    running = _trial(9, state="running", values=[], points=[list(p) for p in long[:1000]])
    drawn = live.html(live.View(row, [], [running]))
    assert len(drawn) < 30_000
