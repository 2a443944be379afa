"""Lays scrapes of a running server on a line of time, and asks Prometheus' own evaluator which
alerts they fire.

    line = Timeline(server.console, token, step_s=60)
    line.rests("HyperflockDiskFull")          # one scrape, and this alert must not fire then
    disk.fill()
    line.fires("HyperflockDiskFull")          # as many scrapes as its rule needs
    line.check(folder)                        # promtool test rules

The scrapes are taken one after the other, and promtool takes them as ``step_s`` apart. So nothing
waits for the `for` of a rule.
"""

from __future__ import annotations

import http.client
import re
import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROMTOOL = ROOT / "build/cache/debian/promtool"
RULES = ROOT / "deploy/monitoring/alerts.yml"
#: What Prometheus adds to each series.
_TARGET = {"job": "hyperflock", "instance": "127.0.0.1:8790"}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


def rules() -> dict[str, dict[str, Any]]:
    """Return the alert rules by their names."""
    loaded = yaml.safe_load(RULES.read_text())
    return {rule["alert"]: rule for group in loaded["groups"] for rule in group["rules"]}


def _seconds(text: str) -> int:
    return int(text[:-1]) * _SECONDS[text[-1]]


def _needed_s(rule: dict[str, Any]) -> int:
    """Return how long a condition must last until the rule's alert fires."""
    over = r"(?:rate|avg_over_time|predict_linear)\([^\[]*\[(\w+)\]"
    ranges = [_seconds(found) for found in re.findall(over, rule["expr"])]
    return max(ranges, default=0) + _seconds(rule.get("for", "0s"))


class Connection:
    """A connection that is kept, as Prometheus keeps one. It is opened again when the server has
    ended it.
    """

    def __init__(self, console: str) -> None:
        place = urlsplit(console)
        assert place.hostname is not None
        self._kept = http.client.HTTPConnection(place.hostname, place.port)
        if place.scheme == "https":
            # The certificates of tests are signed by nobody.
            tls = ssl._create_unverified_context()
            self._kept = http.client.HTTPSConnection(place.hostname, place.port, context=tls)

    def get(self, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
        """Return the status and the body of an answer."""
        try:
            return self._once(path, headers or {})
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self._kept.close()
            return self._once(path, headers or {})
        except ConnectionRefusedError:
            self._kept.close()  # otherwise it takes no further request
            raise

    def close(self) -> None:
        """Close the connection. The next request opens it again."""
        self._kept.close()

    def _once(self, path: str, headers: dict[str, str]) -> tuple[int, str]:
        self._kept.request("GET", path, headers=headers)
        answer = self._kept.getresponse()
        return answer.status, answer.read().decode()


class Timeline:
    """Scrapes of one server, ``step_s`` apart, and what the rules must say about them.

    ``token`` is an administrator's, which Prometheus sends too (deploy/monitoring/README.md); none
    for a spare. ``path`` is where the metrics are.
    """

    def __init__(self, console: str, token: str, step_s: int = 60, path: str = "/metrics") -> None:
        self.step_s = step_s
        self._path = path
        self.connection = Connection(console)
        # As from another machine: such a scrape waits in no queue of guests.
        self._head = {"Authorization": f"Bearer {token}", "Host": "hyperflock.example"}
        if not token:  # a spare, which knows none
            self._head = {}
        self._rules = rules()
        self._metrics = set(re.findall(r"\w+", " ".join(r["expr"] for r in self._rules.values())))
        self._scrapes: list[dict[str, float]] = []
        self._moments: dict[str, tuple[float, float]] = {}
        self._expected: list[dict[str, Any]] = []

    def scrape(self) -> dict[str, float]:
        """Scrape the server once. Return what it said, by series."""
        found: dict[str, float] = {}
        try:
            status, text = self.connection.get(self._path, self._head)
            assert status == 200, text
            for name, labels, value in _SAMPLE.findall(text):
                if name in self._metrics:
                    found[f"{name}{{{labels}}}"] = float(value)
            found["up{}"] = 1.0
        except ConnectionRefusedError:
            self.connection.close()
            found["up{}"] = 0.0
        self._scrapes.append({series: self._laid(series, v) for series, v in found.items()})
        return found

    def rests(self, *alerts: str) -> None:
        """Scrape once. These alerts must not fire then."""
        self.scrape()
        self._expected += [self._row(alert, []) for alert in alerts]

    def fires(self, alert: str, disturb: Callable[[], None] = lambda: None, **labels: str) -> None:
        """Scrape as long as the rule needs, each time after ``disturb``. The alert must fire then,
        and not before the time in its `for`. ``labels`` are those that its rule does not name.
        """
        self._fires(alert, disturb, self.scrape, labels)

    def fires_if_it_stays(self, alert: str) -> None:
        """As fires(), but with the last scrape as often as the rule needs. It is for what a server
        cannot be kept in.
        """
        self._fires(alert, lambda: None, lambda: self._scrapes.append(self._scrapes[-1]), {})

    def _fires(
        self,
        alert: str,
        disturb: Callable[[], None],
        scrape: Callable[[], object],
        more: dict[str, str],
    ) -> None:
        rule = self._rules[alert]
        patience = _seconds(rule.get("for", "0s"))
        for passed in range(0, _needed_s(rule) + 2 * self.step_s, self.step_s):
            disturb()
            scrape()
            if passed == 0 and patience > 0:
                self._expected.append(self._row(alert, []))
        named = dict(re.findall(r'(\w+)="([^"]*)"', rule["expr"]))
        labels = {**_TARGET, **named, **more, **rule["labels"]}
        self._expected.append(self._row(alert, [(labels, rule["annotations"])]))

    def check(self, folder: Path) -> None:
        """Let promtool evaluate the rules over the scrapes."""
        names = sorted({series for scrape in self._scrapes for series in scrape})
        series = [
            {
                "series": self._named(name),
                "values": " ".join(
                    f"{scrape[name]:f}" if name in scrape else "_" for scrape in self._scrapes
                ),
            }
            for name in names
        ]
        test = {"interval": f"{self.step_s}s", "input_series": series}
        whole = {
            "rule_files": [str(RULES)],
            "evaluation_interval": f"{self.step_s}s",
            "tests": [{**test, "alert_rule_test": self._expected}],
        }
        file = folder / "rules_test.yml"
        file.write_text(yaml.safe_dump(whole, width=1 << 20))
        command = [PROMTOOL, "test", "rules", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def _row(self, alert: str, series: list[tuple[Any, Any]]) -> dict[str, Any]:
        expected = [{"exp_labels": labels, "exp_annotations": said} for labels, said in series]
        at = (len(self._scrapes) - 1) * self.step_s
        return {"eval_time": f"{at}s", "alertname": alert, "exp_alerts": expected}

    def _laid(self, series: str, value: float) -> float:
        """Return the value on the line of time, which begins at 0. A moment stands as far before
        or after the scrape that first shows it as it did when the scrape was taken.
        """
        if "_timestamp_seconds{" not in series or value == 0:
            return value
        known = self._moments.get(series)
        if known is None or known[0] != value:
            known = (value, value - time.time() + len(self._scrapes) * self.step_s)
            self._moments[series] = known
        return known[1]

    @staticmethod
    def _named(series: str) -> str:
        name, labels = series[:-1].split("{", 1)
        target = ",".join(f'{key}="{value}"' for key, value in _TARGET.items())
        return f"{name}{{{target}{',' if labels else ''}{labels}}}"
