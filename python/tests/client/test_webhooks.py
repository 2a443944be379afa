"""Tests webhooks of the real server with a receiver on this machine.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import hyperflock
import pytest
from hyperflock import Client, HyperflockError, Study
from hyperflock._cli import command as _cli
from hyperflock._client.webhooks import webhook_of
from hyperflock._reports.export import study_dict
from hyperflock._transport.messages import DeliveryRow, Failure
from objectives import objective
from patience import LIMIT_S, until
from real_server import Server

ALLOW = ("--webhook-allow", "127.0.0.0/8", "localhost", "--no-devices-ms", "300")
ERROR = Failure("user_error", "objective_raised", "KeyError: 'rate'", "")


class Receiver:
    """A web server that stores what is posted to it. It answers with ``status``."""

    def __init__(self) -> None:
        self.posts: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        self.wait: threading.Event | None = None
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.wait is not None:
                    receiver.wait.wait(LIMIT_S)
                receiver.posts.append((dict(self.headers), body))
                self.send_response(receiver.status)
                self.send_header("Location", f"{receiver.url}/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook?token=s3cret"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        if self.wait is not None:
            self.wait.set()
        self._server.shutdown()
        self._thread.join(LIMIT_S)
        self._server.server_close()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.posts]

    def of(self, study: Study) -> list[str]:
        """Return the events of a study in the order in which they came."""
        return [one["event"] for one in self.events() if one["study"]["study"] == study.id]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(scope="module")
def flock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(
        tmp_path_factory.mktemp("server"), *ALLOW, "--console-url", "https://flock.example/"
    ).start()
    yield server
    server.stop()


@pytest.fixture
def client(flock: Server) -> Iterator[Client]:
    with flock.client() as made:
        yield made


def newest(study: Study) -> DeliveryRow | None:
    """Return the newest event of a study, which the study's row shows; None without an event."""
    hook = study.refresh().webhook
    last = hook.last if hook else None
    return last if isinstance(last, DeliveryRow) else None


def delivered(study: Study) -> None:
    def is_delivered() -> bool:
        last = newest(study)
        return last is not None and last.state == "delivered"

    until("the delivery", is_delivered)


def attempts(study: Study) -> int:
    """Return the stored number of times that the newest event of a study was sent."""
    last = newest(study)
    return last.attempts if last is not None else 0


@pytest.mark.server
def test_the_end_of_a_study_is_posted_with_its_best_trial(
    flock: Server, client: Client, receiver: Receiver
) -> None:
    study = client.grid(objective, {"x": [3.0]}, name="ends", webhook=receiver.url)
    assert study.webhook is not None
    assert (study.webhook.host, bool(study.webhook.last)) == (f"127.0.0.1:{receiver.port}", False)
    with flock.device() as device:
        device.result(device.ready(), outcome="complete", values=[0.25])
        until("the event", lambda: receiver.posts)
    headers, body = receiver.posts[0]
    event = hyperflock.verify_webhook(
        body, headers["Hyperflock-Signature"], client.webhook_secret()
    )
    assert (event["event"], headers["Hyperflock-Event"]) == ("finished", "finished")
    assert event["delivery"] == headers["Hyperflock-Delivery"]
    assert event["page"] == f"https://flock.example/research#/studies/{study.id}"
    told = event["study"]
    assert (told["study"], told["name"], told["state"]) == (study.id, "ends", "finished")
    assert (told["complete"], told["total"]) == (1, 1)
    assert told["best"] == {"trial": 0, "value": 0.25, "params": {"x": 3.0}}
    delivered(study)
    assert "s3cret" not in json.dumps(study_dict(study.row))


@pytest.mark.server
def test_the_address_is_kept_from_everybody_who_reads_the_study(
    flock: Server, client: Client, receiver: Receiver
) -> None:
    study = client.grid(objective, {"x": [1, 2]}, name="secret", webhook=receiver.url)
    study.cancel()
    until("the event", lambda: receiver.of(study) == ["cancelled"])
    study.notify(receiver.url)
    with Client(flock.console, flock.credentials["admin_token"]) as admin:
        seen = admin.study(study.id)
        assert seen.webhook is not None
        assert "s3cret" not in repr(seen.row)
    log = (flock.folder / "server.log").read_text()
    assert "webhook_attempt" in log
    assert "s3cret" not in log


@pytest.mark.server
def test_a_study_that_pauses_itself_is_posted_with_the_reason(
    flock: Server, client: Client, receiver: Receiver
) -> None:
    study = client.grid(
        objective,
        {"x": [*range(9)]},
        name="wrong",
        webhook=receiver.url,
        webhook_events=["stopped"],
    )
    with flock.device() as device:
        for _ in range(3):
            device.result(device.ready(), more=False, outcome="failed", error=ERROR)
        until("the event", lambda: receiver.of(study) == ["stopped"])
    (event,) = (one for one in receiver.events() if one["study"]["study"] == study.id)
    assert event["study"]["stopped_by"]["error"]["message"] == "KeyError: 'rate'"
    delivered(study)
    before = newest(study)
    assert before is not None
    # The change and its event are stored in one commit. So after cancel() returns, an event of the
    # cancellation would already be in the study's row.
    study.cancel()
    assert newest(study) == before, "only the wanted event comes"
    assert receiver.of(study) == ["stopped"]


@pytest.mark.server
def test_devices_that_leave_and_come_back_are_posted_once_for_each_absence(
    flock: Server, client: Client, receiver: Receiver
) -> None:
    # This study had a device before. So its time without devices begins when it gets a webhook, and
    # its event comes after the events of all studies whose devices left earlier.
    control = client.grid(objective, {"x": [1, 2]})
    with flock.device() as device:
        device.result(device.ready(), more=False, outcome="complete", values=(1.0,))
        until("the result", lambda: control.refresh().row.complete == 1)

    def wait_longer() -> None:
        before = len(receiver.of(control))
        control.notify(receiver.url, events=["no_devices"])
        until("the control's event", lambda: len(receiver.of(control)) > before)
        control.notify(None)

    study = client.grid(
        objective, {"x": [1, 2]}, webhook=receiver.url, webhook_events=["no_devices"]
    )
    wait_longer()
    assert newest(study) is None, "no device has come yet"
    assert receiver.of(study) == []
    expected: list[str] = []
    for _ in range(2):
        with flock.device():
            until("the device", lambda: study.placement().devices == 1)
        expected.append("no_devices")
        until("the event", lambda: receiver.of(study) == expected)
        delivered(study)
        last = newest(study)
        wait_longer()
        assert newest(study) == last
        assert receiver.of(study) == expected
    study.cancel()
    control.cancel()


@pytest.mark.server
def test_notify_sets_changes_and_removes_the_webhook(client: Client, receiver: Receiver) -> None:
    study = client.grid(objective, {"x": [1, 2]}, name="later")
    assert not study.webhook
    study.notify("https://hooks.example.org/a", events=["finished"])
    assert study.webhook is not None
    assert (study.webhook.host, study.webhook.events) == ("hooks.example.org", ["finished"])
    study.notify(receiver.url)
    study.notify(None)
    assert not study.webhook
    study.notify(None)
    study.cancel()
    # The study's row shows events only while the study has a webhook.
    study.notify(receiver.url)
    assert study.webhook
    assert newest(study) is None, "nothing was stored to be sent"
    assert receiver.of(study) == []


@pytest.mark.server
def test_a_study_that_is_found_again_keeps_its_webhook(client: Client) -> None:
    first, again = (
        client.grid(objective, {"x": [1, 2]}, name="once", once=True, webhook=f"https://{host}/")
        for host in ("a.example", "b.example")
    )
    first.notify(None)
    assert again.id == first.id
    assert again.webhook is not None
    assert again.webhook.host == "a.example"
    first.cancel()


@pytest.mark.server
def test_an_event_outlives_a_killed_server_and_a_receiver_that_fails(
    tmp_path: Path, receiver: Receiver
) -> None:
    server = Server(tmp_path, *ALLOW).start()
    receiver.status = 503
    try:
        with server.client() as client:
            study = client.grid(objective, {"x": [1, 2]}, webhook=receiver.url)
            study.cancel()
            until("the first attempt", lambda: receiver.posts)
            until("its outcome", lambda: attempts(study) == 1)
            assert study.webhook is not None
            last = study.webhook.last
            assert isinstance(last, DeliveryRow)
            assert (last.state, last.status, last.code) == ("waiting", 503, "webhook_status")
            server.kill()
            receiver.status = 200
            server.start()
            until("the second attempt", lambda: len(receiver.posts) > 1)
            delivered(study)
            first, second = receiver.posts[:2]
            assert first[1] == second[1]
            assert first[0]["Hyperflock-Delivery"] == second[0]["Hyperflock-Delivery"]
    finally:
        server.stop()


@pytest.mark.server
def test_a_slow_receiver_holds_up_no_request(client: Client, receiver: Receiver) -> None:
    receiver.wait = threading.Event()
    study = client.grid(objective, {"x": [1, 2]}, webhook=receiver.url)
    study.cancel()
    began = time.monotonic()
    for _ in range(20):
        client.studies()
    assert time.monotonic() - began < LIMIT_S
    assert attempts(study) == 0
    receiver.wait.set()
    delivered(study)


@pytest.mark.server
@pytest.mark.parametrize(
    ("url", "code", "field"),
    [
        ("https://127.0.0.1/", "webhook_refused", "webhook.url"),
        ("https://[::ffff:127.0.0.1]/", "webhook_refused", "webhook.url"),
        ("https://localhost/", "webhook_refused", "webhook.url"),
        ("https://10.0.0.1/", "webhook_refused", "webhook.url"),
        ("https://169.254.169.254/latest", "webhook_refused", "webhook.url"),
        ("http://hooks.example.org/", "webhook_refused", "webhook.url"),
        ("https://0x7f000001/", "bad_webhook", "webhook.url"),
        ("https://me@hooks.example.org/", "bad_webhook", "webhook.url"),
        ("ftp://hooks.example.org/", "bad_field", "url"),
        ("https://hooks.example.org/" + "x" * 2048, "too_long", "url"),
    ],
)
def test_an_address_that_is_not_allowed_is_refused(
    url: str, code: str, field: str, real: Server
) -> None:
    with real.client() as client:
        with pytest.raises(HyperflockError) as caught:
            client.grid(objective, {"x": [1]}, webhook=url)
        assert (caught.value.code, caught.value.field) == (code, field)
        assert client.studies() == []


@pytest.mark.server
def test_a_name_that_leads_inside_is_refused_when_it_is_sent(real: Server) -> None:
    # The name of this machine has a private address or no address.
    with real.client() as client:
        study = client.grid(objective, {"x": [1]}, webhook=f"https://{socket.gethostname()}/")
        study.cancel()
        until("the attempt", lambda: attempts(study) > 0)
        hook = study.refresh().webhook
        assert hook is not None
        assert isinstance(hook.last, DeliveryRow)
        assert hook.last.code in ("webhook_refused", "webhook_unresolved")


@pytest.mark.server
def test_an_operator_may_switch_webhooks_off(tmp_path: Path) -> None:
    server = Server(tmp_path, "--no-webhooks").start()
    try:
        with server.client() as client, pytest.raises(HyperflockError) as caught:
            client.grid(objective, {"x": [1]}, webhook="https://hooks.example.org/")
        assert caught.value.code == "webhooks_off"
    finally:
        server.stop()


@pytest.mark.server
def test_the_secret_stays_until_it_is_renewed(client: Client) -> None:
    first = client.webhook_secret()
    assert first.startswith("hfw_")
    assert client.webhook_secret() == first
    second = client.webhook_secret(renew=True)
    assert second != first
    assert client.webhook_secret() == second


@pytest.mark.server
def test_the_command_sets_shows_and_removes_a_webhook(
    flock: Server, client: Client, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--url", flock.console, "--token", flock.credentials["researcher_token"])

    def told(*words: str) -> str:
        assert _cli.run([*words, *where]) == 0
        return capsys.readouterr().out

    study = client.grid(objective, {"x": [1, 2]}, name="by command")
    number = str(study.id)
    assert told("webhook", number) == f"study {number} has no webhook\n"
    host = f"127.0.0.1:{receiver.port}"
    shown = told("webhook", number, receiver.url, "--event", "cancelled")
    assert shown == f"{host}: nothing to send so far\n"
    told("cancel", number)
    until("the event", lambda: receiver.of(study) == ["cancelled"])
    delivered(study)
    assert "'cancelled' of 20" in told("webhook", number)
    assert f"{host}: 'cancelled' of 20" in told("show", number)
    assert json.loads(told("webhook", number, "--json"))["last"]["state"] == "delivered"
    assert told("webhook", number, "--remove") == f"study {number} has no webhook\n"
    assert told("webhook", "--secret").strip() == client.webhook_secret()
    renewed = json.loads(told("webhook", "--secret", "--renew", "--json"))
    assert renewed == {"secret": client.webhook_secret()}
    for wrong in (
        ("webhook",),
        ("webhook", number, "--event", "finished"),
        ("webhook", number, "https://a.example", "--remove"),
        ("webhook", number, "--secret"),
        ("webhook", number, "--renew"),
    ):
        assert _cli.run([*wrong, *where]) == _cli.EXIT_USAGE, wrong


# ---- without a server


def signature(body: bytes, secret: str, at: int) -> str:
    digest = hmac.new(secret.encode(), str(at).encode() + b"." + body, "sha256").hexdigest()
    return f"t={at},v1={digest}"


@pytest.mark.parametrize(
    "change",
    [
        lambda body, sign: (body + b" ", sign),
        lambda body, sign: (body, sign[:-1] + ("0" if sign[-1] != "0" else "1")),
        lambda body, sign: (body, "t=1,v1=" + "0" * 64),
        lambda body, sign: (body, ""),
        lambda body, sign: (body, sign.replace("v1", "v2")),
        lambda body, sign: (body, signature(body, "other", int(time.time()))),
        lambda body, sign: (body, signature(body, "hfw_x", int(time.time()) - 400)),
        lambda body, sign: (body, signature(body, "hfw_x", int(time.time()) + 400)),
    ],
)
def test_a_request_that_the_server_did_not_sign_is_refused(
    change: Callable[[bytes, str], tuple[bytes, str]],
) -> None:
    body = b'{"event": "finished"}'
    signed = signature(body, "hfw_x", int(time.time()))
    assert hyperflock.verify_webhook(body, signed, "hfw_x") == {"event": "finished"}
    with pytest.raises(HyperflockError) as caught:
        hyperflock.verify_webhook(*change(body, signed), "hfw_x")
    assert caught.value.code == "bad_signature"


@pytest.mark.parametrize(
    ("url", "events", "field"),
    [
        (None, ["finished"], "webhook_events"),
        ("https://a.example/", "finished", "webhook_events"),
        ("https://a.example/", ["ended"], "events[0]"),
        ("https://a b/", None, "url"),
        (5, None, "url"),
    ],
)
def test_a_wrong_option_is_refused_here(url: Any, events: Any, field: str) -> None:
    with pytest.raises(HyperflockError) as caught:
        webhook_of(url, events)
    assert (caught.value.code, caught.value.field) == ("bad_field", field)
