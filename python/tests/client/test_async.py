"""Tests the asynchronous client in the caller's own loop, in parallel, cancelled, and in a
notebook.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import hyperflock
import numpy as np
import pytest
from fake_console import FakeConsole
from hyperflock import AsyncClient, AsyncStudy, Client, Study
from hyperflock._reports import optuna_plots as _pictures
from hyperflock._reports import plots as _plots
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import MAX_CONNECTIONS
from hyperflock._transport.messages import Watch
from objectives import objective
from patience import LIMIT_S, until
from travelling_helper import endless, holding

SPACE = {"x": [1.0, 2, 3]}
_T = TypeVar("_T")


def _run(coroutine: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(asyncio.wait_for(coroutine, LIMIT_S))


def test_study_is_submitted_iterated_and_asked(server: FakeConsole, tmp_path: Path) -> None:
    async def main() -> None:
        async with AsyncClient(server.url, server.token, patience_s=LIMIT_S) as client:
            study = await client.grid(objective, SPACE, {"a": np.ones(3)}, "digits", seed=7)
            assert isinstance(study, AsyncStudy)
            assert (study.name, study.seed, len(study)) == ("digits", 7, 3)
            with pytest.raises(hyperflock.NoCompleteTrialError):
                await study.best_trial()
            server.finish(study.id, 0, value=0.5)
            seen = []
            async for trial in study:
                seen.append(trial.value)
                if len(seen) < 3:
                    server.finish(study.id, len(seen), value=float(len(seen)))
            assert seen == [0.5, 1.0, 2.0]
            assert [t.number for t in await study.trials()] == [0, 1, 2]
            assert (await study.best_trial()).number == 0
            assert (await study.trial(2)).points == ((0, 0.5),)
            assert (await study.wait(timeout_s=LIMIT_S)).row.state == "finished"
            assert await study.export("csv", tmp_path / "t.csv") == (tmp_path / "t.csv").read_text()
            assert "history of 3 trials" in (await study.plot()).svg
            assert [s.id for s in await client.studies()] == [study.id]
            assert (await client.study(study.id)).name == "digits"
            assert await client.join_url() == "http://127.0.0.1:1/join#abc"
            assert await client.workers() == []
            assert (await client.server())["name"] == "ada"
            assert client.url == server.url

    _run(main())


def test_pictures_are_drawn_beside_the_loop(
    server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []

    def noted(draw: Callable[..., _T]) -> Callable[..., _T]:
        def draws(*arguments: object) -> _T:
            drawn.append(threading.current_thread().name)
            return draw(*arguments)

        return draws

    monkeypatch.setattr(_plots, "plot", noted(_plots.plot))
    monkeypatch.setattr(_pictures, "draw", noted(_pictures.draw))

    async def main() -> None:
        async with AsyncClient(server.url, server.token) as client:
            study = await client.grid(objective, SPACE)
            server.finish(study.id, 0, value=0.5)
            assert "history of 1 trials" in (await study.plot()).svg
            assert (await study.plot("edf")).data
            # Matplotlib's windows belong to the thread that opens them.
            monkeypatch.setattr(_pictures, "has_plotly", lambda: False)
            await study.plot("edf")

    _run(main())
    assert drawn == ["hyperflock-work", "hyperflock-work", threading.current_thread().name]


def test_studies_are_watched_side_by_side_while_other_work_goes_on(server: FakeConsole) -> None:
    async def values(study: AsyncStudy) -> list[float | None]:
        return [trial.value async for trial in study]

    async def main() -> None:
        client = AsyncClient(server.url, server.token)
        studies = [await client.grid(objective, {"x": [1, 2]}) for _ in range(3)]
        watching = [asyncio.ensure_future(values(study)) for study in studies]
        turns = 0
        for number in (0, 1):
            for study in studies:
                server.finish(study.id, number, value=float(10 * study.id + number))
                await asyncio.sleep(0)
                turns += 1
        assert await asyncio.gather(*watching) == [[10.0 * s.id, 10.0 * s.id + 1] for s in studies]
        assert turns == 6
        client.close()

    _run(main())


def test_one_client_serves_several_loops(server: FakeConsole) -> None:
    client = AsyncClient(server.url, server.token)
    first = _run(client.grid(objective, SPACE))
    assert [study.id for study in _run(client.studies())] == [first.id]
    assert _run(first.cancel()).row.state == "cancelled"
    assert _run(first.retry()).id == first.id
    assert _run(first.delete()).study == first.id
    assert _run(client.studies()) == []
    client.close()


def test_many_requests_at_once_share_a_few_connections(
    server: FakeConsole, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        client = AsyncClient(server.url, server.token)
        found = await asyncio.gather(*(client.studies() for _ in range(60)))
        assert found == [[]] * 60
        assert len(server._tasks) <= MAX_CONNECTIONS
        client.close()

    _run(main())
    assert len(server.requests) == 60
    assert caplog.records == []


def test_what_cannot_travel_is_told_by_the_call_itself(server: FakeConsole) -> None:
    client = AsyncClient(server.url, server.token)
    with pytest.raises(hyperflock.EmptySpaceError):
        _ = client.grid(objective, {"x": []})
    with pytest.raises(hyperflock.BundleError) as caught:
        _ = client.grid(lambda trial: client and 1.0, SPACE)
    assert caught.value.code == "cannot_bundle_client"
    assert server.requests == []


@pytest.mark.parametrize("given", ["first", 1.7, True, None, "-1", "9" * 5_000])
def test_what_is_no_number_names_no_study_and_no_trial(server: FakeConsole, given: Any) -> None:
    async def main() -> None:
        client = AsyncClient(server.url, server.token)
        study = await client.grid(objective, SPACE)
        asks: list[Callable[[], Any]] = [lambda: study.trial(given)]
        if given not in ("first", "-1"):  # as text these two would be a study's name
            asks.append(lambda: client.study(given))
        for ask in asks:
            with pytest.raises(hyperflock.HyperflockError, match="goes by its number") as caught:
                await ask()
            assert caught.value.code == "bad_number"
        assert (await client.study(str(study.id))).id == study.id

    _run(main())


def test_lines_of_a_trial_that_is_none_are_not_waited_for(server: FakeConsole) -> None:
    async def main() -> None:
        study = await AsyncClient(server.url, server.token).grid(objective, SPACE)
        for number in (3, -1):
            with pytest.raises(hyperflock.NotFoundError, match="has 3 trials, none with number"):
                await anext(study.log(number, follow=True))

    _run(main())


@pytest.mark.parametrize(
    ("options", "code", "field"),
    [
        ({"dry_run": "firefox"}, "bad_field", "dry_run"),
        ({"data": np.ones(3)}, "bad_field", "data"),
        ({"time_limit_s": "60"}, "bad_number", None),
    ],
)
def test_options_of_a_wrong_kind_are_named(
    server: FakeConsole, options: dict[str, Any], code: str, field: str | None
) -> None:
    async def main() -> None:
        with pytest.raises(hyperflock.HyperflockError) as caught:
            await AsyncClient(server.url, server.token).grid(objective, SPACE, **options)
        assert (caught.value.code, caught.value.field) == (code, field)

    _run(main())
    assert server.requests == []


def test_token_and_address_as_a_file_or_a_slip_gives_them(server: FakeConsole) -> None:
    client = AsyncClient(server.url, server.token + "\n")
    assert _run(client.studies()) == []
    for token in ("two words", "a\nb", "é"):
        with pytest.raises(hyperflock.AuthError) as caught:
            AsyncClient(server.url, token)
        assert caught.value.code == "no_token"
        assert token not in str(caught.value)
    for url in ("http://[::1", 8790, "http://127.0.0.1:99999"):
        with pytest.raises(hyperflock.HyperflockError, match="is no console address"):
            AsyncClient(url, server.token)  # type: ignore[arg-type]


def test_dry_run_and_its_cancelling(server: FakeConsole, tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    async def main() -> None:
        client = AsyncClient(server.url, server.token)
        run = await client.grid(holding(np.ones(4)), SPACE, dry_run=True)
        assert run.value == 4.0
        space = {"where": [str(begun)]}
        trying = asyncio.ensure_future(client.grid(endless(), space, dry_run=True))
        while not begun.exists():
            await asyncio.sleep(0.02)
        pid = int(begun.read_text())
        trying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trying
        assert not Path(f"/proc/{pid}").exists()

    _run(main())
    assert server.requests == []


def test_cancelled_request_is_not_waited_for(server: FakeConsole) -> None:
    async def main() -> None:
        client = AsyncClient(server.url, server.token, patience_s=2 * LIMIT_S)
        server.faults = [503] * 1000
        asking = asyncio.ensure_future(client.studies())
        while not server.requests:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    begun = time.monotonic()
    _run(main())
    assert time.monotonic() - begun < LIMIT_S


def test_ending_an_iteration_early_closes_its_connection(server: FakeConsole) -> None:
    async def main() -> None:
        client = AsyncClient(server.url, server.token)
        study = await client.grid(objective, SPACE)
        server.finish(study.id, 0, value=1.0)
        trials = study.watch()
        assert (await anext(trials)).number == 0
        assert len(server._sockets) == 1
        await trials.aclose()
        while server._sockets:
            await asyncio.sleep(0.01)
        assert (await study.refresh()).row.state == "running"

    _run(main())


def test_a_space_that_is_sent_once_stays_in_the_row(server: FakeConsole) -> None:
    async def main() -> None:
        study = await AsyncClient(server.url, server.token).grid(objective, SPACE)
        whole = study.row.space
        assert all(dimension.values for dimension in whole)
        trials = study.watch()
        for number in range(2):
            server.finish(study.id, number, value=1.0)
            assert (await anext(trials)).number == number
            assert study.row.space == whole
        server.kick()  # the next connection gets the space again
        server.finish(study.id, 2, value=1.0)
        assert (await anext(trials)).number == 2
        assert study.row.space == whole
        await trials.aclose()

    _run(main())


def test_time_out_of_a_wait_leaves_the_study_alone(server: FakeConsole) -> None:
    async def main() -> None:
        study = await AsyncClient(server.url, server.token).grid(objective, SPACE)
        with pytest.raises(hyperflock.WaitTimeoutError) as caught:
            await study.wait(timeout_s=0.1)
        assert caught.value.code == "wait_timeout"
        assert (await study.refresh()).row.state == "running"

    _run(main())


def test_blocking_client_works_inside_a_running_loop(server: FakeConsole) -> None:
    """A notebook's cells run inside a running loop too."""

    async def cell() -> list[float | None]:
        with Client(server.url, server.token) as client:
            study: Study = client.grid(objective, {"x": [1]})
            server.finish(study.id, 0, value=4.0)
            return [trial.value for trial in study]

    assert _run(cell()) == [4.0]


def test_bars_are_touched_in_the_thread_that_waits(
    client: Client, server: FakeConsole, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    threads: set[str] = set()
    shown: list[int] = []

    class Recorded:
        def __init__(self, **options: Any) -> None:
            self.n = 0
            self._note()

        def _note(self) -> None:
            threads.add(threading.current_thread().name)

        def update(self, step: int) -> None:
            self._note()
            self.n += step
            shown.append(self.n)

        def set_postfix(self, notes: object, refresh: bool) -> None:
            self._note()

        def refresh(self) -> None:
            self._note()

        def close(self) -> None:
            self._note()
            shown.append(-1)

    monkeypatch.setattr("tqdm.auto.tqdm", Recorded)
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(5 << 20))
    study = client.grid(objective, {"x": [1, 2]}, {"large": path}, progress=True)
    assert (shown[-2:], threads) == ([5 << 20, -1], {threading.current_thread().name})
    shown.clear()
    server.finish(study.id, 0, value=1.0)
    server.finish(study.id, 1, value=1.0)
    assert len(list(study.watch(progress=True))) == 2
    assert (max(shown), shown[-1]) == (2, -1)

    async def main() -> None:
        asynchronous = AsyncClient(server.url, server.token)
        other = path.with_name("other.bin")
        other.write_bytes(bytes(6 << 20))
        again = await asynchronous.grid(objective, {"x": [1]}, {"l": other}, progress=True)
        server.finish(again.id, 0, value=1.0)
        await again.wait()

    _run(main())
    assert threads == {threading.current_thread().name}


def test_ctrl_c_ends_a_script_at_once(server: FakeConsole) -> None:
    script = (
        "import asyncio, sys, hyperflock\n"
        "async def main():\n"
        f"    client = hyperflock.AsyncClient({server.url!r}, {server.token!r})\n"
        "    study = await client.study(1)\n"
        "    print('watching', flush=True)\n"
        "    async for trial in study:\n"
        "        pass\n"
        "try:\n"
        "    asyncio.run(main())\n"
        "except KeyboardInterrupt:\n"
        "    print('ended')\n"
    )
    with Client(server.url, server.token) as client:
        study = client.grid(objective, SPACE)
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            until("its watch", lambda: any(isinstance(m, Watch) for m in server.messages))
            process.send_signal(2)
            out, err = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
            process.wait()
        assert (out.decode().split(), err, process.returncode) == (["watching", "ended"], b"", 0)
        assert study.state == "running"


def test_forgotten_iterator_does_not_hold_the_interpreter(server: FakeConsole) -> None:
    script = (
        "import hyperflock\n"
        f"client = hyperflock.Client({server.url!r}, {server.token!r})\n"
        "trials = iter(client.study(1))\n"
        "print(next(trials).value)\n"
    )
    with Client(server.url, server.token) as client:
        server.finish(client.grid(objective, SPACE).id, 0, value=3.0)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.0\n", "")


def test_iterator_that_is_collected_in_the_loop_s_thread_is_closed_there() -> None:
    closed = threading.Event()

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
        finally:
            closed.set()

    items = _loop.iterate(numbers())
    assert next(items) == 1
    _loop._running().call_soon_threadsafe(items.close)  # type: ignore[attr-defined]
    assert closed.wait(LIMIT_S)
    assert _loop.run(asyncio.sleep(0, "alive")) == "alive"


def test_work_in_a_thread_gives_its_value_or_its_error() -> None:
    async def main() -> None:
        names = []

        def work() -> int:
            names.append(threading.current_thread().name)
            return 7

        assert await _loop.in_thread(work) == 7
        assert names == ["hyperflock-work"]
        with pytest.raises(ZeroDivisionError):
            await _loop.in_thread(lambda: 1 // 0)

    _run(main())
