"""Tests how the client submits, iterates, reconnects and detaches, with a console in this
process.
"""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import hyperflock
import numpy as np
import pytest
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import Watch
from objectives import objective
from patience import LIMIT_S, until
from travelling_helper import holding

SPACE = {"x": [1.0, 2, 3]}


def _values(study: hyperflock.Study) -> list[float | None]:
    return [trial.value for trial in study]


def test_submit_sends_code_data_and_spec(
    client: Client, server: FakeConsole, tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("one two")
    study = client.grid(
        objective,
        SPACE,
        {"images": np.arange(6, dtype=np.float32), "both": {"a": np.zeros(2)}, "words": words},
        "my study",
        direction="maximize",
        seed=7,
        runtime="chainer-5.4.0",
        time_limit_s=1.5,
    )
    spec = server.specs[study.id]
    assert (spec.name, spec.direction, spec.seed) == ("my study", "maximize", 7)
    assert (spec.runtime.chainer, spec.limits.time_limit_ms) == ("5.4.0", 1500)
    assert spec.entry == "objectives:objective"
    assert [(d.name, d.kind, d.filename) for d in spec.data] == [
        ("images", "npy", "images.npy"),
        ("both", "npz", "both.npz"),
        ("words", "file", "words.txt"),
    ]
    assert {spec.bundle.sha256, *(d.sha256 for d in spec.data)} == set(server.blobs)
    assert server.blobs[spec.data[2].sha256] == b"one two"
    assert repr(spec.space[0].values) == "[1.0, 2, 3]"
    assert len(study) == 3


def test_what_another_deletion_takes_is_sent_again(
    client: Client, server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = server._answer
    lost: list[str] = []

    def losing(method: str, path: str, *rest: Any) -> Any:
        if method == "POST" and path == "/api/studies" and not lost:
            lost.extend(server.blobs)
            server.blobs.clear()
        return answer(method, path, *rest)

    monkeypatch.setattr(server, "_answer", losing)
    client.grid(objective, SPACE, {"a": np.zeros(2)})
    assert sorted(lost) == sorted(server.blobs)


def test_direction_is_minimize_unless_told(client: Client, server: FakeConsole) -> None:
    assert server.specs[client.grid(objective, SPACE).id].direction == "minimize"


def test_blob_that_the_server_has_is_not_sent_again(client: Client, server: FakeConsole) -> None:
    for _ in range(2):
        client.grid(objective, SPACE, {"a": np.arange(9), "same": np.arange(9)})
    assert sum(request.startswith("PUT") for request in server.requests) == 2


def test_blob_that_the_server_does_not_take_is_refused_before_a_byte_is_sent(
    client: Client, server: FakeConsole
) -> None:
    server.max_blob_bytes = 2_000_000
    images = {"small": np.zeros(10), "images": np.zeros(300_000)}
    with pytest.raises(hyperflock.ServerError, match=r"'images' has 2400\d* bytes") as caught:
        client.grid(objective, SPACE, images)
    assert caught.value.code == "blob_too_large"
    assert server.requests == ["GET /api/me"]
    server.max_blob_bytes = 3_000_000
    assert client.grid(objective, SPACE, images).state == "running"


def test_same_submit_key_gives_the_same_study(client: Client) -> None:
    first = client.grid(objective, SPACE, submit_key="k")
    assert client.grid(objective, SPACE, submit_key="k").id == first.id
    assert client.grid(objective, SPACE).id != first.id


def test_named_study_is_submitted_once_and_other_content_is_refused(
    client: Client, server: FakeConsole
) -> None:
    def submit(**changes: Any) -> int:
        options: dict[str, Any] = {"data": {"a": np.ones(3)}, "seed": 1, **changes}
        study: hyperflock.Study = client.grid(objective, SPACE, name="digits", once=True, **options)
        return study.id

    first = submit()
    assert submit() == first
    for changes in ({"data": {"a": np.zeros(3)}}, {"seed": 2}, {"direction": "maximize"}):
        with pytest.raises(hyperflock.StudyExistsError) as caught:
            submit(**changes)
        assert caught.value.code == "study_exists"
    assert len(server.specs) == 1
    # Without `once`, studies may share a name.
    assert client.grid(objective, SPACE, name="digits").id != first


def test_lambda_has_a_name_and_sends_what_it_holds(client: Client, server: FakeConsole) -> None:
    study = client.grid(holding(np.ones(10_000)), SPACE)
    spec = server.specs[study.id]
    assert (spec.name, spec.entry) == ("objective", "hyperflock_travelling_helper:_hf_1")
    assert [(d.kind, d.name.split(":")[0]) for d in spec.data] == [("file", "array")]
    assert {spec.bundle.sha256, spec.data[0].sha256} == set(server.blobs)


@pytest.mark.parametrize("fault", [None, 503, 502, 429])
def test_submit_survives_a_passing_fault_once(
    client: Client, server: FakeConsole, fault: int | None
) -> None:
    # The requests are HEAD and PUT of the bundle, then the POST. Each fails once.
    server.faults = [fault, 0, fault, 0, fault]
    client.grid(objective, SPACE)
    assert len(server.specs) == 1


def test_nothing_is_sent_when_the_space_is_wrong(client: Client, server: FakeConsole) -> None:
    with pytest.raises(hyperflock.EmptySpaceError) as caught:
        client.grid(objective, {"x": []})
    assert caught.value.code == "empty_space"
    with pytest.raises(hyperflock.ProtocolError) as wrong:
        client.grid(objective, SPACE, name="n" * 257)
    assert (wrong.value.code, wrong.value.field) == ("too_long", "name")
    assert server.requests == []


def test_iteration_yields_each_trial_once_and_ends(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, SPACE)
    server.finish(study.id, 0, value=0.25)
    seen = []
    for trial in study:
        seen.append(trial)
        if len(seen) < 3:
            server.finish(study.id, len(seen), value=float(len(seen)))
    assert [t.number for t in seen] == [0, 1, 2]
    assert repr(seen[0].params) == "{'x': 1.0}"
    assert repr(seen[1].params) == "{'x': 2}"
    first = seen[0]
    assert (first.value, first.device, first.backend, first.engine) == (
        0.25,
        "d_1",
        "cpu",
        "chromium 142",
    )
    assert (first.run_s, first.load_s, first.attempts) == (0.9, 0.1, 1)
    assert first.seed == hyperflock.trial_seed(0, 0)
    # A second iteration gives the same values without new rows from the server.
    assert _values(study) == [0.25, 1.0, 2.0]


def test_iteration_goes_on_behind_its_cursor_when_the_connection_breaks(
    client: Client, server: FakeConsole
) -> None:
    study = client.grid(objective, SPACE)
    server.finish(study.id, 0, value=0.0)
    trials = iter(study)
    assert next(trials).number == 0
    server.kick()
    server.finish(study.id, 1, value=0.0)
    server.finish(study.id, 2, value=0.0)
    assert [t.number for t in trials] == [1, 2]
    watches = [m for m in server.messages if isinstance(m, Watch)]
    assert [w.after for w in watches] == [0, 1]


def test_iteration_waits_for_a_server_that_is_full(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, {"x": [1]})
    server.finish(study.id, 0, value=1.0)
    server.refusals = ["full"]
    assert _values(study) == [1.0]


def test_iteration_takes_many_updates(client: Client, server: FakeConsole) -> None:
    server.page = 3
    study = client.grid(objective, {"x": list(range(20))})
    for number in range(20):
        server.finish(study.id, number, value=float(number))
    assert _values(study) == [float(n) for n in range(20)]
    assert [t.number for t in client.study(study.id).trials] == list(range(20))


def test_studies_come_in_pages(client: Client, server: FakeConsole) -> None:
    server.page = 2
    made = [client.grid(objective, {"x": [n]}, name=f"s{n}") for n in range(5)]
    assert [study.id for study in client.studies()] == [study.id for study in reversed(made)]
    assert client.study("s0").id == made[0].id
    assert "and more than" not in client._repr_html_()


def test_unknown_type_is_ignored_and_a_binary_frame_is_an_error(
    client: Client, server: FakeConsole
) -> None:
    study = client.grid(objective, {"x": [1]})
    server.finish(study.id, 0, value=1.0)
    server.strange_frames = [b"\x00"]
    with pytest.raises(hyperflock.ProtocolError) as caught:
        _values(study)
    assert caught.value.code == "malformed"


def test_refusal_for_good_is_an_error(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, SPACE)
    server.refusals = ["client_too_old"]
    with pytest.raises(hyperflock.ServerError) as caught:
        _values(study)
    assert caught.value.code == "client_too_old"


FAILURE = {"cause": "worker_lost", "code": "poison", "message": "lost", "traceback": ""}


def test_trial_that_is_accepted_late_is_yielded_once_and_shown_as_it_is(
    client: Client, server: FakeConsole
) -> None:
    study = client.grid(objective, SPACE)
    server.finish(study.id, 0, "failed", error=FAILURE)
    seen = []
    for trial in study:
        seen.append((trial.number, trial.state))
        if len(seen) == 1:
            assert study.trials[0].state == "failed"
            server.finish(study.id, 0, value=0.5)
            server.finish(study.id, 1, value=1.0)
            server.finish(study.id, 2, value=2.0)
    assert seen == [(0, "failed"), (1, "complete"), (2, "complete")]
    assert [(t.number, t.value) for t in study.trials] == [(0, 0.5), (1, 1.0), (2, 2.0)]
    assert study.best_trial.value == 0.5
    assert _values(study) == [0.5, 1.0, 2.0]


def test_retry_runs_failed_trials_again(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, SPACE)
    server.finish(study.id, 0, value=0.0)
    server.finish(study.id, 1, "failed", error=FAILURE)
    server.finish(study.id, 2, "failed", error=FAILURE)
    assert [t.state for t in study] == ["complete", "failed", "failed"]
    assert study.retry().row.state == "running"
    assert [t.number for t in study.trials] == [0]
    server.finish(study.id, 2, value=2.0)
    server.finish(study.id, 1, value=1.0)
    assert _values(study) == [0.0, 2.0, 1.0]
    assert study.state == "finished"


def test_cancel_ends_the_iteration(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, SPACE)
    server.finish(study.id, 1, value=4.0)
    seen = []
    for trial in study:
        seen.append(trial.number)
        study.cancel()
    assert seen == [1]
    assert study.state == "cancelled"


def test_wait_has_a_time_out(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, {"x": [1]})
    with pytest.raises(hyperflock.WaitTimeoutError):
        study.wait(timeout_s=0.2)
    server.finish(study.id, 0, value=1.0)
    assert study.wait(timeout_s=LIMIT_S).state == "finished"


def test_ctrl_c_detaches_and_says_how_to_watch_again(
    client: Client, server: FakeConsole, capsys: pytest.CaptureFixture[str]
) -> None:
    study = client.grid(objective, SPACE)

    def interrupt() -> None:
        until("its watch", lambda: any(isinstance(m, Watch) for m in server.messages))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressing = threading.Thread(target=interrupt)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        _values(study)
    pressing.join()
    assert f"hyperflock watch {study.id}" in capsys.readouterr().err
    assert study.state == "running"


def test_best_trial_in_either_direction(client: Client, server: FakeConsole) -> None:
    low = client.grid(objective, SPACE)
    high = client.grid(objective, SPACE, direction="maximize")
    with pytest.raises(hyperflock.NoCompleteTrialError):
        _ = low.best_trial
    for study in (low, high):
        server.finish(study.id, 2, value=1.0)
        server.finish(study.id, 0, value=5.0)
        server.finish(study.id, 1, value=1.0)
    assert low.best_trial.number == 1
    assert high.best_trial.number == 0
    assert high.best_trial.params == {"x": 1.0}


def test_failed_trial_has_its_error_without_control_characters(
    client: Client, server: FakeConsole
) -> None:
    study = client.grid(objective, {"x": [1]})
    error = {
        "cause": "user_error",
        "code": "objective_raised",
        "message": "no \x1b[2Jscreen\u202e",
        "traceback": "line\n\tnext\x07",
    }
    server.finish(
        study.id,
        0,
        "failed",
        error=error,
        device={"device": "d", "class": "phone", "engine": "\x1b]0;evil\x07x", "backend": "cpu"},
    )
    (trial,) = study
    assert trial.error is not None
    assert trial.error.message == "no [2Jscreen"
    assert trial.error.traceback == "line\n\tnext"
    assert trial.engine == "]0;evilx"
    assert trial.value is None
    assert json.dumps(trial.as_dict())


def test_studies_and_study_and_trial(client: Client, server: FakeConsole) -> None:
    ids = [client.grid(objective, SPACE, name=f"s{n}").id for n in range(3)]
    assert [s.id for s in client.studies()] == ids[::-1]
    assert client.study(ids[1]).name == "s1"
    assert client.study("s1").id == ids[1]
    with pytest.raises(hyperflock.NotFoundError, match="no study 'none'"):
        client.study("none")
    assert client.study(str(ids[1])).id == ids[1]
    server.finish(ids[1], 2, value=3.0)
    assert client.study(ids[1]).trial(2).points == ((0, 0.5),)
    with pytest.raises(hyperflock.NotFoundError) as caught:
        client.study(99)
    assert caught.value.code == "unknown_study"
    assert client.join_url().endswith("/join#abc")


def test_wrong_token_is_an_auth_error(server: FakeConsole) -> None:
    with pytest.raises(hyperflock.AuthError) as caught:
        Client(server.url, "hfr_other").studies()
    assert caught.value.code == "unauthorized"
    with pytest.raises(hyperflock.AuthError) as missing:
        Client(server.url)
    assert missing.value.code == "no_token"


def test_machine_without_a_server_says_how_to_get_one(
    server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url, token, code in (
        (None, None, "server_unreachable"),
        (server.url, None, "no_token"),
        (None, "two words", "no_token"),
    ):
        with pytest.raises(hyperflock.HyperflockError) as caught:
            Client(url, token)
        assert caught.value.code == code
        assert ("hyperflock up" in caught.value.message) == (code == "server_unreachable")
    assert Client(token="t").url == "http://127.0.0.1:8790"
    monkeypatch.setenv("HYPERFLOCK_URL", "")
    with pytest.raises(hyperflock.ServerUnreachableError, match="no server runs on this machine"):
        Client()


def test_settings_come_from_the_environment(
    server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", server.url)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)
    assert Client().studies() == []


def test_a_token_may_be_in_a_file(
    server: FakeConsole, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HYPERFLOCK_TOKEN", raising=False)
    file = tmp_path / "token"
    file.write_text(f"{server.token}\n")
    monkeypatch.setenv("HYPERFLOCK_TOKEN_FILE", str(file))
    assert Client(server.url).studies() == []
    # A token that is given counts before the one of the file.
    monkeypatch.setenv("HYPERFLOCK_TOKEN", "wrong")
    with pytest.raises(hyperflock.AuthError):
        Client(server.url).studies()
    monkeypatch.delenv("HYPERFLOCK_TOKEN")
    file.unlink()
    with pytest.raises(hyperflock.HyperflockError, match="HYPERFLOCK_TOKEN_FILE") as caught:
        Client(server.url)
    assert caught.value.code == "cannot_read"


def test_server_that_is_away_is_one_sentence() -> None:
    with pytest.raises(hyperflock.ServerUnreachableError) as caught:
        Client("http://127.0.0.1:1", "t", patience_s=0).studies()
    assert caught.value.code == "server_unreachable"
    assert "127.0.0.1:1 does not answer" in caught.value.message
    assert "object at 0x" not in caught.value.message


@pytest.mark.parametrize(
    "url", ["ftp://x", "http://", "http://h/path", "http://u:p@h", "http://h:x"]
)
def test_wrong_address_is_refused(url: str) -> None:
    with pytest.raises(hyperflock.HyperflockError) as caught:
        Client(url, "t")
    assert caught.value.code == "bad_url"


def test_answer_that_is_no_json_is_a_protocol_error(client: Client, server: FakeConsole) -> None:
    server._answer = lambda *_: _html()  # type: ignore[assignment,method-assign]
    with pytest.raises(hyperflock.ProtocolError):
        client.studies()


def _html() -> object:
    from fakes.answers import Answer

    return Answer(200, b"<html>")


def test_loop_cancels_what_timed_out() -> None:
    import asyncio

    ended = threading.Event()

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with pytest.raises(hyperflock.WaitTimeoutError):
        _loop.run(long(), 0.05)
    assert ended.wait(LIMIT_S)


def test_a_name_of_several_studies_is_refused_with_their_ids(client: Client) -> None:
    ids = [client.grid(objective, SPACE, name="same").id for _ in range(3)]
    with pytest.raises(hyperflock.HyperflockError) as caught:
        client.study("same")
    assert caught.value.code == "ambiguous_study"
    assert caught.value.message.endswith(f"its id: {ids[2]}, {ids[1]}, {ids[0]}")


def test_a_name_of_digits_is_found_where_no_study_has_that_id(client: Client) -> None:
    first = client.grid(objective, SPACE, name="2026")
    named = client.grid(objective, SPACE, name="1")
    colon = client.grid(objective, SPACE, name="name:x")
    assert client.study("2026").id == first.id
    assert client.study("1").id == first.id  # an id goes before a name
    assert client.study("name:1").id == named.id
    assert client.study("name:x").id == client.study("name:name:x").id == colon.id
    for missing in ("77", 77, "name:77"):
        with pytest.raises(hyperflock.NotFoundError):
            client.study(missing)
    with pytest.raises(hyperflock.NotFoundError):
        client.study(2026)  # a number is an id
