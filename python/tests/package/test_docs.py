"""Runs the code blocks of each documentation page, in order, on a server with one device."""

from __future__ import annotations

import linecache
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import hyperflock
import pytest
from fake_console import FakeConsole
from fakes.searches import write_packs
from hyperflock._cli import command as _cli
from pages import RUN, Page, Session
from patience import LIMIT_S, until
from phone import StartedPhone
from real_server import Server

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


@pytest.fixture(scope="module")
def flock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with packs, for which one device computes."""
    folder = tmp_path_factory.mktemp("server")
    server = Server(folder, "--packs", str(write_packs(folder / "packs"))).start()
    phone = StartedPhone(server.compute, server.credentials["enrolment_code"])
    yield server
    phone.kill()
    server.stop()


@pytest.mark.server
# The device of these tests has the versions of this machine.
@pytest.mark.filterwarnings("ignore:.*so scores may differ")
@pytest.mark.parametrize("name", PAGES)
def test_code_of_the_page_runs(
    name: str, flock: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(DOCS / name)
    if not page.blocks:
        return
    monkeypatch.setenv("HYPERFLOCK_URL", flock.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", flock.credentials["researcher_token"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    cached = dict(linecache.cache)
    with flock.client() as client:
        try:
            Session(main, _cli.run, lambda: [study.id for study in client.studies()]).run(page)
        finally:
            linecache.cache.clear()
            linecache.cache.update(cached)
            for study in client.studies():
                if study.row.state == "running":
                    study.cancel()


def test_first_code_of_the_quick_start_is_a_script_too(server: FakeConsole, tmp_path: Path) -> None:
    page = Page(DOCS / "start" / "quickstart.md")
    code = next(block for block in page.blocks if block.kind == "python")
    script = tmp_path / "line.py"
    script.write_text(code.text)
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "HYPERFLOCK_URL": server.url, "HYPERFLOCK_TOKEN": server.token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until("the study", lambda: process.poll() is not None or 1 in server.specs)
        if 1 in server.specs:
            for number in range(6):
                server.finish(1, number, value=float(number))
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err.count("Error")) == (0, 0), err
    assert out.splitlines()[-1] == "{'rate': 0.5, 'steps': 20}"


def test_blocks_are_of_a_kind_that_runs_or_say_why_not() -> None:
    pages = [Page(DOCS / name) for name in PAGES]
    for page in pages:
        for block in page.blocks:
            runs = block.kind in {*RUN, "first"} or block.file
            assert runs, f"{page.path.name}:{block.line}"
    left_out = [reason for page in pages for _, reason in page.left_out]
    assert all(len(reason) > 10 for reason in left_out)
    assert len(left_out) <= 6, left_out
    assert sum(len(page.blocks) for page in pages) > 25


def test_index_names_every_page_and_the_reference_every_name() -> None:
    index = (DOCS / "index.md").read_text("utf-8")
    trees = re.findall(r"^```{toctree}\n((?:.+\n)*)\n((?:.+\n)*)```$", index, re.MULTILINE)
    listed = [line for _, lines in trees for line in lines.split()]
    assert sorted(f"{name}.md" for name in [*listed, "index"]) == PAGES
    # The index also has a link to each page, for people who read the Markdown file itself.
    assert {*re.findall(r"\]\(([^)#]+)\)", index)} == {f"{name}.md" for name in listed}
    reference = (DOCS / "reference" / "python.md").read_text("utf-8")
    said = {line.split()[-1].rpartition(".")[2] for line in reference.splitlines() if ":: " in line}
    assert said >= {*hyperflock.__all__} - {"__version__", "Requires", "Scalar"}
