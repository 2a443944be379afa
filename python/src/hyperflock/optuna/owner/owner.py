"""The Optuna side of an ask-and-tell study. It creates trials with `ask`, answers calls of devices,
and stores outcomes as Optuna's `Study.tell` does.

    owner = Owner(study, row, catch=(ValueError,), callbacks=[print])
    number = owner.ask()
    answer = owner.answer(call)            # an OwnerAnswer, or None if the call needs none

It does not use the network. One thread calls all methods, because storages, samplers and users'
callbacks expect one thread.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import optuna
from msgspec import UNSET
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    json_to_distribution,
)
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from hyperflock._base.errors import HyperflockError, ObjectiveError
from hyperflock._base.text import clean
from hyperflock._transport.messages import (
    MAX_CONSTRAINTS,
    AskedTrial,
    Failure,
    FinishedCall,
    OwnerAnswer,
    OwnerCallItem,
    PointsCall,
    PruneCall,
    ResumedCall,
    StartedCall,
    StudyRow,
    SuggestCall,
    TrialConstraints,
)
from hyperflock._trial.attributes import plain
from hyperflock._trial.metrics import finite
from hyperflock.optuna import internals
from hyperflock.optuna.internals import memory_of, storage_of, study_id_of, trial_id_of
from hyperflock.optuna.owner.attributes import attributes_text
from hyperflock.optuna.owner.outcomes import is_caught, set_attributes, tell
from hyperflock.optuna.owner.pruning import Percentiles
from hyperflock.optuna.owner.rejections import fail_rejected
from hyperflock.optuna.rejection import Note, note_of, rejection_in
from hyperflock.optuna.study_import import TAG, Outcome, artifacts_of, rejected_outcome, tag

Callback = Callable[[optuna.Study, FrozenTrial], None]

# An outcome waits at most this many seconds for its artifacts.
LATE_S = 120.0
# The most numbers of trials in one line of the log.
_SHOWN = 10

_logger = optuna.logging.get_logger("optuna.hyperflock")


@dataclass
class Live:
    """A trial that has no outcome yet."""

    trial: optuna.Trial
    started: bool = False
    # The time at which a device started the trial, in seconds of the monotonic clock. None if no
    # device has started it, or if an earlier owner got the message.
    since: float | None = None
    # The exception of the sampler or pruner, which the device does not get.
    raised: Exception | None = None


class Owner:
    """The Optuna side of one ask-and-tell study.

    Attributes
    ----------
    live : dict of int to Live
        The trials that have no stored outcome, by number.
    finished : int
        How many trials of this call have a stored outcome.
    unheard : int
        How many of the finished trials were never announced to the server.
    failure : BaseException or None
        The error that the call raises once no trial is live.
    bring : callable or None
        Starts to copy artifacts by their ids, so that callbacks find them. The outcome of a trial
        with artifacts is stored after the copy, at the latest after `LATE_S` seconds.
    heard : callable or None
        Called with each trial when its outcome has been stored.
    late : bool
        Whether an outcome was stored before its artifacts had been copied.
    run_s : float or None
        The mean duration of the last trials on devices; None if none has ended yet.
    judged : list of TrialConstraints
        The constraints that the sampler has computed and that the server has not been sent.
    rejected : set of int
        The numbers of trials at the server whose results were rejected.
    replaced : int
        How many of them this call replaces: it asks for another trial in the place of each.
    untold : set of int
        The storage's ids of running trials that have not been sent to the server yet.
    """

    def __init__(
        self,
        study: optuna.Study,
        row: StudyRow,
        *,
        catch: tuple[type[Exception], ...] = (),
        callbacks: Iterable[Callback] = (),
    ) -> None:
        self.study = study
        self.row = row
        self.live: dict[int, Live] = {}
        self.finished = 0
        self.unheard = 0
        self.rejected: set[int] = set()
        self.replaced = 0
        self.run_s: float | None = None
        self.failure: BaseException | None = None
        self.bring: Callable[[Collection[str], int], Future[None]] | None = None
        self.heard: Callable[[FrozenTrial], None] | None = None
        self.untold: set[int] = set()
        self.judged: list[TrialConstraints] = []
        self._catch = catch
        self._callbacks = list(callbacks)
        self._percentiles = Percentiles(study)
        # The rejections that `take_back` has not handled yet, by the numbers of the trials.
        self._rejections: dict[int, tuple[Failure, Note]] = {}
        self._ending: dict[int, tuple[Future[None], Outcome, float]] = {}
        self.late = False

    @property
    def ending(self) -> int:
        """How many trials have ended and wait until their artifacts are copied."""
        return len(self._ending)

    @property
    def computing(self) -> int:
        """How many trials run on devices."""
        return len(self.live) - self.waiting - self.ending

    @property
    def waiting(self) -> int:
        """How many live trials no device has started."""
        return sum(not live.started for live in self.live.values())

    def planned(self, n_trials: int | None) -> int | None:
        """Return how many trials the call finishes so that ``n_trials`` of them count. Trials whose
        results were rejected do not count.
        """
        return None if n_trials is None else n_trials + self.replaced

    # ---- new trials

    def ask(self) -> int:
        """Create a running trial, or start an enqueued one, and return its number.

        The trial has the system attribute `TAG`, which names the server's study.
        """
        internals.forget_trials(self.study)
        while True:
            trial_id = self._enqueued()
            # A new owner may have ended the trial at the same moment.
            with suppress(UpdateFinishedTrialError):
                return self.take(self._made() if trial_id is None else trial_id)

    def asked(self, number: int) -> AskedTrial | None:
        """Return the message that announces a live trial to the server. For an enqueued trial it
        contains the attributes.

        None means that the attributes cannot be sent (``attribute_not_json``,
        ``attributes_too_large``). In this case the trial has failed, and the study continues.
        """
        trial = memory_of(self.live[number].trial)
        system = {key: value for key, value in trial.system_attrs.items() if key != TAG}
        try:
            text = attributes_text(number, trial.user_attrs, system)
        except HyperflockError as error:
            self.unheard += 1
            failure = Failure("invalid", error.code, str(error))
            self.finish(number, Outcome(TrialState.FAIL, error=failure))
            return None
        constrained = internals.has_constraints_func(self.study.sampler) or UNSET
        return AskedTrial(number, attrs=text or UNSET, constrained=constrained)

    def _made(self) -> int:
        storage, study = storage_of(self.study), self.row.study
        if isinstance(storage, InMemoryStorage):  # no other process sees it
            trial_id = storage.create_new_trial(study_id_of(self.study))
            self.untold.add(trial_id)
            number = storage.get_trial_number_from_id(trial_id)
            storage.set_trial_system_attr(trial_id, TAG, tag(study, number))
            return trial_id
        # The trial is created together with the system attribute, so that no other process ever
        # sees a running trial without the attribute.
        template = optuna.trial.create_trial(
            state=TrialState.RUNNING, system_attrs={TAG: {"study": study}}
        )
        trial_id = storage.create_new_trial(study_id_of(self.study), template_trial=template)
        self.untold.add(trial_id)
        number = storage.get_trial_number_from_id(trial_id)
        storage.set_trial_system_attr(trial_id, TAG, tag(study, number))
        return trial_id

    def take(self, trial_id: int, *, started: bool = False) -> int:
        """Continue a running trial of the storage and return its number."""
        trial = optuna.Trial(self.study, trial_id)
        self.live[trial.number] = Live(trial, started)
        return trial.number

    def _enqueued(self) -> int | None:
        study, storage = self.study, storage_of(self.study)
        waiting = storage.get_all_trials(
            study_id_of(study), deepcopy=False, states=(TrialState.WAITING,)
        )
        for trial in waiting:
            try:
                mark = tag(self.row.study, trial.number)
                storage.set_trial_system_attr(trial_id_of(trial), TAG, mark)
                if storage.set_trial_state_values(trial_id_of(trial), state=TrialState.RUNNING):
                    self.untold.add(trial_id_of(trial))
                    return trial_id_of(trial)
                storage.set_trial_system_attr(trial_id_of(trial), TAG, None)
            except UpdateFinishedTrialError:
                continue  # another process was faster
        return None

    # ---- calls of devices

    def begin_batch(self) -> None:
        """Prepare for a batch of calls. The pruner's sorted values are read again, because this
        process may have stored outcomes itself since the last batch.
        """
        self._percentiles.is_fresh = False

    def answer(self, call: OwnerCallItem) -> OwnerAnswer | None:
        """Handle a call and return the answer; None if the call needs none."""
        match call:
            case SuggestCall():
                return self._answered(call, self._suggest)
            case PruneCall():
                return self._answered(call, self._should_prune)
            case PointsCall():
                self.report(call.trial, call.points)
            case ResumedCall(args=args):
                self._forget_points(call.trial, -1 if args.step is UNSET else args.step)
            case StartedCall():
                if (live := self.live.get(call.trial)) is not None:
                    live.started, live.since = True, time.monotonic()
            case FinishedCall() if (error := rejection_in(call)) is not None:
                self.reject(call.trial, error, round(time.time() * 1000))
            case FinishedCall(args=args):
                self.report(call.trial, call.points)
                outcome = Outcome.of(args.state, args.values, args.attrs, args.error)
                self.finish(call.trial, outcome)
        return None

    def settle(self) -> bool:
        """Store the outcome of one trial whose artifacts have been copied or are late. Return
        whether there was such a trial.
        """
        now = time.monotonic()
        for number, (brought, outcome, since) in list(self._ending.items()):
            if brought.done() or now - since > LATE_S:
                self.late = self.late or not brought.done()
                del self._ending[number]
                self._tell(number, outcome)
                return True
        return False

    def settle_all(self) -> None:
        """Store all outcomes without waiting for artifacts, because the call ends with an error.

        The callbacks do not run.
        """
        for number in list(self._ending):
            _, outcome, _ = self._ending.pop(number)
            with suppress(Exception):  # what was raised first is the reason
                self._record(number, outcome)

    def step_back(self) -> None:
        """Forget running trials, because another owner continues with them."""
        self.live.clear()
        self._ending.clear()

    def _answered(
        self, call: SuggestCall | PruneCall, work: Callable[[Any, optuna.Trial], Any]
    ) -> OwnerAnswer:
        live = self.live.get(call.trial)
        if live is None:
            message = f"the sampler has no running trial {call.trial}"
            return OwnerAnswer(call.id, code="unknown_trial", message=message)
        try:
            return OwnerAnswer(call.id, value=json.dumps(work(call, live.trial), default=plain))
        except Exception as error:
            live.raised = error
            message = clean(f"{type(error).__name__}: {error}", limit=1000)
            return OwnerAnswer(call.id, code="sampler_raised", message=message)

    def _suggest(self, call: SuggestCall, trial: optuna.Trial) -> Any:
        name, kind = call.args.name, _distribution(call.args.distribution)
        match kind:
            case FloatDistribution():
                return trial.suggest_float(name, kind.low, kind.high, step=kind.step, log=kind.log)
            case IntDistribution():
                return trial.suggest_int(name, kind.low, kind.high, step=kind.step, log=kind.log)
            case CategoricalDistribution():
                return trial.suggest_categorical(name, kind.choices)
        raise TypeError(f"'{name}' asks for a {type(kind).__name__}, which no trial can suggest")

    def _should_prune(self, call: PruneCall, trial: optuna.Trial) -> bool:
        self.report(call.trial, call.points)
        step = call.args.step
        if step is not UNSET and step not in memory_of(trial).intermediate_values:
            # The value of this step was NaN, which no message can contain. Optuna stores NaN.
            self.report(call.trial, [(step, math.nan)])
        return self._percentiles.should_prune(trial)

    def report(self, number: int, points: Sequence[tuple[int, float]]) -> None:
        """Set a running trial's intermediate values; earlier values of a step are overwritten."""
        live = self.live.get(number)
        if live is None:
            return
        storage, trial_id = storage_of(self.study), trial_id_of(live.trial)
        for step, value in points:
            with suppress(
                UpdateFinishedTrialError
            ):  # somebody else told the trial, for example a callback
                storage.set_trial_intermediate_value(trial_id, step, value)
            memory_of(live.trial).intermediate_values[step] = value

    def _forget_points(self, number: int, step: int) -> None:
        """Remove values above a step, because another attempt continues the trial there.

        The pruner no longer sees these values. A study in memory removes them from its storage too.
        Most other storages of Optuna can only overwrite values, and they are overwritten when the
        trial reports these steps again.
        """
        live = self.live.get(number)
        if live is None:
            return
        cached = memory_of(live.trial)
        kept = {s: v for s, v in cached.intermediate_values.items() if s <= step}
        cached.intermediate_values = dict(kept)
        storage = storage_of(self.study)
        if isinstance(storage, InMemoryStorage):

            def dropped(stored: FrozenTrial) -> FrozenTrial:
                stored.intermediate_values = kept
                return stored

            internals.change_stored(storage, trial_id_of(live.trial), dropped)

    # ---- outcomes

    def finish(self, number: int, outcome: Outcome) -> None:
        """Store a trial's outcome and run the callbacks. A trial that is not live is ignored.

        If the trial uploaded artifacts and there are stores, `settle` stores the outcome after the
        copy.
        """
        if number not in self.live or number in self._ending:
            return
        if outcome.stop:
            self.study.stop()
        self._learn_run(self.live[number])
        self._note_failure(number, outcome, self.live[number].raised)
        uploaded = artifacts_of(outcome.system_attrs)
        if uploaded and self.bring is not None:
            self._ending[number] = (self.bring(uploaded, number), outcome, time.monotonic())
        else:
            self._tell(number, outcome)

    def reject(self, number: int, error: Failure, at_ms: int) -> None:
        """Note that a trial's result was rejected. `take_back` fails it.

        ``error`` and ``at_ms`` are those of `note_of`.
        """
        self.rejected.add(number)
        self._rejections[number] = (error, note_of(error, at_ms))

    def take_back(self) -> None:
        """Fail the trials whose results were rejected. Another one is asked in the place of each.

        The callbacks do not run for a trial for which they have run before.
        """
        rejections, self._rejections = self._rejections, {}
        if not rejections:
            return
        for number in sorted(self.live.keys() & rejections.keys()):
            error, note = rejections.pop(number)
            self._ending.pop(number, None)
            self.replaced += 1
            self._tell(number, rejected_outcome(error, note))
        changed = fail_rejected(self.study, {n: note for n, (_, note) in rejections.items()})
        if not changed:
            return
        self.replaced += len(changed)
        self._percentiles = Percentiles(self.study)
        by_message: dict[str, list[int]] = {}
        for trial in changed:
            by_message.setdefault(rejections[trial.number][0].message, []).append(trial.number)
            if self.heard is not None:
                self.heard(trial)
        for message, numbers in by_message.items():
            shown = ", ".join(map(str, numbers[:_SHOWN]))
            more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
            _logger.warning(f"Trials that have failed now: {shown}{more}. {clean(message)}")

    def _learn_run(self, live: Live) -> None:
        if live.since is not None:
            ran_s = time.monotonic() - live.since
            self.run_s = ran_s if self.run_s is None else 0.8 * self.run_s + 0.2 * ran_s

    def _tell(self, number: int, outcome: Outcome) -> None:
        frozen = self._record(number, outcome)
        if frozen is not None:
            for callback in self._callbacks:
                callback(self.study, copy.deepcopy(frozen))
        self._percentiles.is_fresh = False

    def _record(self, number: int, outcome: Outcome) -> FrozenTrial | None:
        live = self.live.pop(number, None)
        if live is None:
            return None
        self.finished += 1
        self.untold.discard(trial_id_of(live.trial))
        set_attributes(self.study, trial_id_of(live.trial), outcome)
        tell(self.study, number, outcome)
        frozen = storage_of(self.study).get_trial(trial_id_of(live.trial))
        self._judge(frozen, outcome)
        self._log(frozen, outcome)
        if self.heard is not None:
            self.heard(frozen)
        return frozen

    def _judge(self, trial: FrozenTrial, outcome: Outcome) -> None:
        """Keep the sampler's constraints of a trial to send them to the server, which uses them to
        find the best trial.
        """
        found = internals.computed_constraints(trial.system_attrs)
        if trial.state is not TrialState.COMPLETE:
            return
        is_own = found is not None and internals.CONSTRAINTS not in outcome.system_attrs
        if is_own or internals.has_constraints_func(self.study.sampler):
            sent = [finite(value) for value in (found or ())[:MAX_CONSTRAINTS]]
            # If there are too many constraints, only the first ones are sent, and the last of these
            # gets the largest value of all. So this value shows whether all constraints are met.
            if found is not None and len(found) > MAX_CONSTRAINTS:
                sent[-1] = finite(max(found))
            self.judged.append(TrialConstraints(trial.number, sent))

    def judge_again(self) -> None:
        """Keep the constraints of all trials to send them again: messages of an earlier connection
        may be lost.
        """
        if not internals.has_constraints_func(self.study.sampler):
            return
        complete = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        here = self.row.study
        self.judged = []
        for trial in complete:
            mark = trial.system_attrs.get(TAG)
            if isinstance(mark, dict) and mark.get("study") == here:
                self._judge(trial, Outcome(trial.state))

    def told(self, asked: Iterable[AskedTrial]) -> None:
        """Record that these trials are announced to the server by the next reply."""
        self.untold.difference_update(trial_id_of(self.live[one.trial].trial) for one in asked)

    def fail_untold(self, error: BaseException) -> None:
        """Fail the trials that have not been sent to the server, because the call ends with this
        error.

        The callbacks do not run, because the error came from one of them, the sampler or Ctrl-C.
        """
        failure = Failure("user_error", "sampler_raised", repr(error))
        outcome = Outcome(TrialState.FAIL, error=failure)
        for trial_id in sorted(self.untold):
            with suppress(Exception):  # what was raised first is the reason
                trial = storage_of(self.study).get_trial(trial_id)
                self.live.pop(trial.number, None)
                if not trial.state.is_finished():
                    tell(self.study, trial.number, outcome)
                    self._log(storage_of(self.study).get_trial(trial_id), outcome)
        self.untold.clear()

    def _note_failure(self, number: int, outcome: Outcome, raised: Exception | None) -> None:
        error = outcome.error
        if error is None or error.cause != "user_error" or self.failure is not None:
            return
        if raised is not None and error.code == "owner_error":
            # The sampler or pruner raised this error, and `Study.optimize` would raise it too.
            self.failure = None if isinstance(raised, self._catch) else raised
        elif not is_caught(outcome.raised, self._catch):
            self.failure = ObjectiveError(
                f"trial {number} failed: {clean(error.message)}",
                traceback=clean(error.traceback, keep_lines=True),
                raised=outcome.raised,
                trial=number,
            )

    def _log(self, trial: FrozenTrial, outcome: Outcome) -> None:
        if trial.state is TrialState.COMPLETE:
            internals.log_completed(self.study, trial)
        elif trial.state is TrialState.PRUNED:
            _logger.info(f"Trial {trial.number} pruned.")
        elif outcome.error is not None:
            shown = clean(outcome.error.traceback, keep_lines=True)
            _logger.warning(
                f"Trial {trial.number} failed with parameters: {trial.params} "
                f"because of the following error: {clean(outcome.error.message)}\n{shown}".rstrip()
            )


@lru_cache(1024)
def _distribution(text: str) -> BaseDistribution:
    """Parse a distribution. The result is cached, because trials use the same ones many times."""
    return json_to_distribution(text)
