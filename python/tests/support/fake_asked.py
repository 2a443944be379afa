"""Simulates an ask-and-tell study of the fake console: the server's part, and devices that compute
it.

    with Devices(console, objective, count=3): ...     # threads that lease, call and send results

It follows the rules R42 to R51 of the written protocol, but leases do not expire. Every method
takes the console's lock. The threads of devices wait on `changed`.
"""

from __future__ import annotations

import json
import math
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

import optuna
from hyperflock._model import grid as _grid
from hyperflock._transport import messages as _protocol
from hyperflock._transport.messages import (
    DeviceArgs,
    Failure,
    FinishedArgs,
    FinishedCall,
    OwnerCall,
    OwnerCallItem,
    OwnerReply,
    PointsCall,
    PruneCall,
    ResumedCall,
    StartedCall,
    StepArgs,
    SuggestArgs,
    SuggestCall,
)
from msgspec import UNSET
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from patience import LIMIT_S

NOW = 1_763_683_200_000
DEVICE = {"device": "d_1", "class": "phone", "engine": "chromium 142", "backend": "cpu"}


class CallRefused(Exception):
    """The owner refused a call."""


class StudyGone(Exception):
    """The study was cancelled while a device computed."""


@dataclass
class AskedTrial:
    """One trial in the state that the server keeps."""

    number: int
    attempt: int = 0
    state: str = "waiting"
    suggested: list[tuple[str, str, str]] = field(default_factory=list)
    points: list[tuple[int, float]] = field(default_factory=list)
    told: int = 0
    row: dict[str, Any] = field(default_factory=dict)
    attrs: str | None = None


class AskedStudy:
    """The server's side of one ask-and-tell study."""

    def __init__(
        self,
        study: int,
        spec: _protocol.StudySpec,
        lock: threading.RLock,
        notify: Callable[[], None],
    ) -> None:
        self.study = study
        self.spec = spec
        self.changed = threading.Condition(lock)
        self._notify = notify
        self.trials: dict[int, AskedTrial] = {}
        self.queue: list[int] = []
        self.state = "running"
        self.generation = 0
        self.owner: object | None = None
        self.label = ""
        self.standing_by: list[object] = []
        self.idle = 0
        self.room = 0
        self.target = 0
        self.finishing = False
        # The numbers of the trials that the owner asked for, in order, and the most trials that ran
        # or waited at once.
        self.asked: list[int] = []
        self.most_running = 0
        self.most_waiting = 0
        # The number of batches that the owner acknowledged before it answered any of their calls.
        self.taken_early = 0
        self._seq = 0
        self._call_id = 0
        self._calls: list[OwnerCallItem] = []
        self._answers: dict[int, Any] = {}
        self._open_calls: dict[int, OwnerCallItem] = {}
        self._batch = 0
        self._outstanding = False
        self._demand_told = -1
        self.points_in_pages = True
        # The number of trials for which the quota has room. None: any number.
        self.quota: int | None = None
        # If this is true, devices stop waiting for answers.
        self.closing = False

    # ---- The owner's side. The console's session calls it and holds the lock.

    def claim(self, owner: object) -> None:
        """Give the study a new owner, who gets the calls that the earlier one did not answer."""
        self.generation += 1
        self.owner = owner
        self.state, self.finishing = "running", False
        self.room = 0
        for trial in self.trials.values():
            trial.told = 0
        # Only the open calls are sent again. The new owner reads everything else over HTTP.
        self._calls = [self._renewed(call) for call in self._open_calls.values()]
        self._batch, self._outstanding, self._demand_told = 0, False, -1

    def _renewed(self, call: OwnerCallItem) -> OwnerCallItem:
        if isinstance(call, PruneCall):
            trial = self.trials[call.trial]
            call.points, trial.told = list(trial.points), len(trial.points)
        return call

    def first_batch(self) -> OwnerCall:
        """Return the empty batch of calls that answers an owner's claim."""
        return OwnerCall(self.study, self.generation, 0, 0, [])

    def next_batch(self) -> OwnerCall | None:
        """Return the next batch for the owner, or None if nothing may be sent now."""
        if self._outstanding or not self.generation:
            return None
        demand = self.demand()
        if not self._calls and demand == self._demand_told:
            return None
        calls, self._calls = self._calls[:1000], self._calls[1000:]
        self._batch += 1
        self._outstanding = True
        self._demand_told = demand
        return OwnerCall(self.study, self.generation, self._batch, demand, calls)

    def demand(self) -> int:
        """Return how many more trials the idle devices need, at most as many as the owner has room
        for.
        """
        return max(0, min(self.idle - len(self.queue), self.room))

    def reply(self, reply: OwnerReply) -> list[_protocol.ErrorMessage]:
        """Handle an owner's reply. Return the errors to send back."""
        errors = []
        self.room = reply.room
        if reply.target is not UNSET:
            self.target = reply.target
        for answer in reply.replies:
            call = self._open_calls.pop(answer.id, None)
            if call is None:
                continue
            if answer.code is not UNSET:
                self._answers[answer.id] = CallRefused(f"{answer.code}: {answer.message}")
                continue
            assert isinstance(answer.value, str)
            if isinstance(call, SuggestCall):
                log = (call.args.name, call.args.distribution, answer.value)
                self.trials[call.trial].suggested.append(log)
            self._answers[answer.id] = json.loads(answer.value)
        for item in reply.asked:
            if item.trial in self.trials:
                errors.append(
                    _protocol.ErrorMessage(
                        "trial_exists", "it is there", study=self.study, trial=item.trial
                    )
                )
                continue
            if self.quota is not None and len(self.trials) >= self.quota:
                errors.append(
                    _protocol.ErrorMessage(
                        "quota_exceeded", "no room", study=self.study, trial=item.trial
                    )
                )
                continue
            attrs = item.attrs if isinstance(item.attrs, str) else None
            self.trials[item.trial] = AskedTrial(item.trial, attrs=attrs)
            self.queue.append(item.trial)
            self.asked.append(item.trial)
        self.most_waiting = max(self.most_waiting, len(self.queue))
        if self._outstanding and reply.taken >= self._batch:
            self._outstanding = False
            self.taken_early += bool(self._open_calls) and not reply.replies
        self.finishing = reply.finish
        self._finish_if_done()
        self.changed.notify_all()
        return errors

    def left(self, owner: object) -> None:
        """Handle the end of a connection."""
        if owner in self.standing_by:
            self.standing_by.remove(owner)
        if self.owner is owner:
            self.owner = None

    def _finish_if_done(self) -> None:
        open_trials = [t for t in self.trials.values() if not t.row]
        if self.finishing and not open_trials and not self.room and self.state == "running":
            self.state = "finished"

    def cancel(self) -> None:
        """Cancel the study at once."""
        self.state = "cancelled"
        self.changed.notify_all()

    # ---- The device's side. Any thread may call it.

    def lease(self, device: str, leaving: Callable[[], bool] = lambda: False) -> AskedTrial | None:
        """Wait for a trial. Return None if none comes in time or the device leaves."""
        with self.changed:
            self.idle += 1
            self._notify()
            try:
                ready = self.changed.wait_for(
                    lambda: leaving() or (self.owner is not None and self.queue), LIMIT_S
                )
                if not ready or leaving():
                    return None
                trial = self.trials[self.queue.pop(0)]
            finally:
                self.idle -= 1
            trial.state = "running"
            trial.attempt += 1
            running = sum(t.state == "running" for t in self.trials.values())
            self.most_running = max(self.most_running, running)
            attempt = 100 * (trial.number + 1) + trial.attempt
            self._calls.append(StartedCall(trial.number, attempt, DeviceArgs(device)))
            self._notify()
            return trial

    def give_back(self, trial: AskedTrial, step: int | None) -> None:
        """Release a trial.

        The next attempt continues after ``step``, or starts anew if it is None.
        """
        with self.changed:
            trial.state = "waiting"
            kept = [p for p in trial.points if step is not None and p[0] <= step]
            trial.points, trial.told = kept, len(kept)
            self.queue.insert(0, trial.number)
            args = StepArgs() if step is None else StepArgs(step)
            self._calls.append(ResumedCall(trial.number, 100 * (trial.number + 1), args))
            self._notify()
            self.changed.notify_all()

    def suggest(self, trial: AskedTrial, name: str, distribution: str) -> Any:
        """Ask the owner for the value of a parameter, unless the trial has one."""
        with self.changed:
            for known, kind, value in trial.suggested:
                if known == name:
                    if kind != distribution:
                        raise CallRefused("suggest_mismatch")
                    return json.loads(value)
            return self._call(
                lambda i: SuggestCall(i, trial.number, 1, SuggestArgs(name, distribution))
            )

    def should_prune(self, trial: AskedTrial, step: int | None = None) -> bool:
        """Send the new points to the owner and ask whether to end the trial at this step."""
        args = StepArgs() if step is None else StepArgs(step)
        with self.changed:
            fresh, trial.told = trial.points[trial.told :], len(trial.points)
            answer = self._call(lambda i: PruneCall(i, trial.number, 1, args, fresh))
            assert isinstance(answer, bool)
            return answer

    def _call(self, make: Callable[[int], OwnerCallItem]) -> Any:
        self._call_id += 1
        number = self._call_id
        call = make(number)
        self._open_calls[number] = call
        self._calls.append(call)
        self._notify()
        self.changed.wait_for(
            lambda: number in self._answers or self.state == "cancelled" or self.closing, LIMIT_S
        )
        if self.state == "cancelled" or (number not in self._answers and self.closing):
            raise StudyGone
        assert number in self._answers, "nobody answered a call"
        answer = self._answers.pop(number)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def report(self, trial: AskedTrial, step: int, value: float) -> None:
        """Add a point. It goes to the owner with the trial's next call or result."""
        with self.changed:
            trial.points.append((step, value))

    def tell_points(self, trial: AskedTrial) -> None:
        """Send the owner the points that no call has carried yet."""
        with self.changed:
            fresh, trial.told = trial.points[trial.told :], len(trial.points)
            self._calls.append(PointsCall(trial.number, 1, fresh))
            self._notify()

    def result(
        self,
        trial: AskedTrial,
        state: str,
        values: list[float] | None = None,
        attrs: dict[str, Any] | None = None,
        error: Failure | None = None,
    ) -> None:
        """Store the outcome of a trial, and send it to the owner."""
        with self.changed:
            self._seq += 1
            text = json.dumps(attrs) if attrs else UNSET
            params = json.dumps({name: json.loads(value) for name, _, value in trial.suggested})
            trial.state = state
            trial.row = {
                **self._row(trial),
                "state": state,
                "values": values or [],
                "finished_at": NOW + 1000,
                "seq": self._seq,
                **({"attrs": text} if attrs else {}),
                **({"error": _plain(error)} if error else {}),
            }
            fresh = trial.points[trial.told :]
            args = FinishedArgs(
                state=state,  # type: ignore[arg-type]
                values=values or [],
                params=params,
                attrs=text,
                error=error or UNSET,
                seq=self._seq,
            )
            self._calls.append(FinishedCall(trial=trial.number, args=args, points=fresh))
            self._finish_if_done()
            self._notify()
            self.changed.notify_all()

    # ---- Rows of the HTTP pages

    def _row(self, trial: AskedTrial) -> dict[str, Any]:
        params = {name: json.loads(value) for name, _, value in trial.suggested}
        return {
            "study": self.study,
            "trial": trial.number,
            "state": "running",
            "params": json.dumps(params),
            "seed": _grid.trial_seed(self.spec.seed, trial.number),
            "values": [],
            "attempts": trial.attempt,
            "started_at": NOW,
            "finished_at": 0,
            "run_ms": 0,
            "load_ms": 0,
            "seq": 0,
            **({"device": DEVICE, "code_version": 1} if trial.attempt else {}),
        } | ({"suggested": [list(i) for i in trial.suggested]} if trial.suggested else {})

    def unfinished(self, *, with_points: bool = False) -> list[dict[str, Any]]:
        """Return the rows of the trials that have no outcome."""
        found = sorted(self.trials.values(), key=lambda t: t.number)
        rows = [self._row(trial) for trial in found if not trial.row]
        return self._with_points(rows) if with_points else rows

    def finished(self, *, with_points: bool = False) -> list[dict[str, Any]]:
        """Return the rows of finished trials, in the order in which they finished."""
        rows = sorted((t.row for t in self.trials.values() if t.row), key=lambda r: r["seq"])
        return self._with_points(rows) if with_points else rows

    def _with_points(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if not self.points_in_pages:
            return rows
        return [{**row, "points": self.trials[row["trial"]].points} for row in rows]

    def study_fields(self) -> dict[str, Any]:
        """Return the fields of an ask-and-tell study's row that a grid's row does not have."""
        assert isinstance(self.spec.directions, list)
        return {
            "kind": "asked",
            "directions": list(self.spec.directions),
            "state": self.state,
            "total": len(self.trials),
            "running": len(self.unfinished()) if self.state == "running" else 0,
            "wanted": self.target,
            **(
                {
                    "sampler": {
                        "generation": self.generation,
                        "attached": self.owner is not None,
                        "label": self.label,
                        "since": NOW,
                    }
                }
                if self.generation
                else {}
            ),
        }


def _plain(error: Failure) -> dict[str, str]:
    return {
        "cause": error.cause,
        "code": error.code,
        "message": error.message,
        "traceback": error.traceback,
    }


class DeviceStudy:
    """The part of the study's interface that an objective can use on a device."""

    def __init__(self) -> None:
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True


class DeviceTrial:
    """The trial that a fake device passes to an objective.

    Its methods send calls, like those of the trial on a real device.
    """

    def __init__(self, asked: AskedStudy, trial: AskedTrial) -> None:
        self._asked, self._trial = asked, trial
        self.number = trial.number
        given = json.loads(trial.attrs or "{}")
        self.user_attrs: dict[str, Any] = given.get("user", {})
        self.system_attrs: dict[str, Any] = given.get("system", {})
        self.params: dict[str, Any] = {}
        self.study = DeviceStudy()
        self._step: int | None = None

    def _suggest(self, name: str, kind: BaseDistribution) -> Any:
        value = self._asked.suggest(self._trial, name, distribution_to_json(kind))
        self.params[name] = value
        return value

    def suggest_float(self, name: str, low: float, high: float, **options: Any) -> float:
        return float(self._suggest(name, FloatDistribution(low, high, **options)))

    def suggest_int(self, name: str, low: int, high: int, **options: Any) -> int:
        return int(self._suggest(name, IntDistribution(low, high, **options)))

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        return self._suggest(name, CategoricalDistribution(choices))

    def report(self, value: float, step: int) -> None:
        self._step = step
        if not math.isnan(value):
            self._asked.report(self._trial, step, float(value))

    def should_prune(self) -> bool:
        return self._asked.should_prune(self._trial, self._step)

    def set_user_attr(self, key: str, value: Any) -> None:
        self.user_attrs[key] = value

    def set_constraint(self, key: str, value: float) -> None:
        self.system_attrs[f"constraints:{key}"] = float(value)

    def attrs(self) -> dict[str, Any]:
        told: dict[str, Any] = {}
        if self.user_attrs:
            told["user"] = self.user_attrs
        if self.system_attrs:
            told["system"] = self.system_attrs
        if self.study.stopped:
            told["stop"] = True
        return told


def run_trial(asked: AskedStudy, trial: AskedTrial, objective: Callable[[Any], Any]) -> None:
    """Run an objective as a device does, and send its outcome."""
    seen = DeviceTrial(asked, trial)
    try:
        returned = objective(seen)
    except StudyGone:
        return
    except optuna.TrialPruned:
        asked.result(trial, "pruned", attrs=seen.attrs())
        return
    except Exception as error:
        raised = [f"{c.__module__}.{c.__qualname__}" for c in type(error).__mro__[:-1]]
        code = "owner_error" if isinstance(error, CallRefused) else "objective_raised"
        message = traceback.format_exception_only(error)[-1].strip()[:1000]
        failure = Failure("user_error", code, message, traceback.format_exc())
        asked.result(trial, "failed", attrs={**seen.attrs(), "raised": raised}, error=failure)
        return
    values = [float(v) for v in returned] if isinstance(returned, tuple) else [float(returned)]
    attrs = seen.attrs()
    if any(map(math.isnan, values)):
        failure = Failure("invalid", "metric_not_finite", "The value nan is not acceptable.")
        asked.result(trial, "failed", attrs=attrs, error=failure)
        return
    if any(map(math.isinf, values)):
        attrs["values"] = [str(v) if math.isinf(v) else v for v in values]
        values = [math.copysign(1.7976931348623157e308, v) if math.isinf(v) else v for v in values]
    asked.result(trial, "complete", values, attrs)


class Console(Protocol):
    """The attributes of a console that `Devices` uses."""

    asked: dict[int, AskedStudy]
    asked_more: threading.Condition


class Devices:
    """Threads that wait for an ask-and-tell study of a console, and compute its trials."""

    def __init__(
        self, console: Console, objective: Callable[[Any], Any], count: int = 1, study: int = 1
    ) -> None:
        self._console = console
        self._objective = objective
        self._study = study
        self._leaving = False
        self._threads = [
            threading.Thread(target=self._run, args=(f"d_{n}",), daemon=True) for n in range(count)
        ]

    def __enter__(self) -> Devices:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leaving = True
        with self._console.asked_more:
            self._console.asked_more.notify_all()
        for asked in self._console.asked.values():
            with asked.changed:
                asked.closing = True
                asked.changed.notify_all()
        for thread in self._threads:
            thread.join(LIMIT_S)
            assert not thread.is_alive()
        for asked in self._console.asked.values():
            asked.closing = False

    def _run(self, name: str) -> None:
        with self._console.asked_more:
            self._console.asked_more.wait_for(
                lambda: self._leaving or self._study in self._console.asked, LIMIT_S
            )
        while not self._leaving:
            asked = self._console.asked[self._study]
            trial = asked.lease(name, lambda: self._leaving)
            if trial is not None:
                self._compute(asked, trial)

    def _compute(self, asked: AskedStudy, trial: AskedTrial) -> None:
        run_trial(asked, trial, self._objective)
