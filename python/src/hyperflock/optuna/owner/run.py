"""Runs an owner: claims the study, reconciles, then asks and answers until the plan is fulfilled.

    with OwnerLink(http, study=3, label="notebook") as link:
        Run(owner, link, http, Plan(n_trials=100)).until_done()

It runs in the calling thread; the link's socket has its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec import UNSET
from optuna.trial import TrialState

from hyperflock._base.errors import HyperflockError, OwnerError, ServerError, server_error
from hyperflock._base.text import clean
from hyperflock._client.idle_notice import Waiting
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import (
    AskedTrial,
    ErrorMessage,
    OwnerAnswer,
    OwnerCall,
    OwnerReply,
    StudyRow,
    TrialConstraints,
)
from hyperflock._transport.owner_link import OwnerLink
from hyperflock._transport.validation import convert
from hyperflock.optuna.internals import is_stopped, trial_id_of
from hyperflock.optuna.owner.ask_ahead import ParallelTpe, ahead, is_used_up
from hyperflock.optuna.owner.outcomes import tell
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.owner.reconcile import leave, reconcile, sweep
from hyperflock.optuna.study_import import Outcome

MAX_ROOM = 1000
MAX_ITEMS = 1000
MAX_REPLY_BYTES = 256 << 10
# Answers may wait this many seconds, so that several are sent together.
HOLD_S = 0.05
_SLICE_S = 0.5
# The seconds between two checks for copied artifacts. The link sends no message about them.
_ENDING_SLICE_S = 0.02
_LOOK_S = 10.0
# The seconds from a claim to a search for trials of the earlier owner, which may have started some
# at the moment of the claim.
_SWEEP_S = 5.0
_ENDED = frozenset({"study_cancelled", "study_stopped"})
# The code of the error if the study had ended and was deleted.
_GONE = "unknown_study"
# The server has this many seconds to confirm that the study has ended; a busy server needs long.
_FINISH_S = 30.0


@dataclass
class Plan:
    """The limits of a call.

    Attributes
    ----------
    n_trials : int or None
        How many trials the call finishes, in whatever state; None means no limit.
    timeout_s : float or None
        No trial is started after this many seconds.
    n_jobs : int or None
        How many trials may run at the same time; None means as many as devices request.
    to_target : bool
        Whether ``n_trials`` is the rest of an earlier owner's number of trials.
    """

    n_trials: int | None = None
    timeout_s: float | None = None
    n_jobs: int | None = None
    to_target: bool = False


@dataclass
class _Outgoing:
    """The answers for the next reply."""

    replies: list[OwnerAnswer] = field(default_factory=list)
    size: int = 0
    since: float = 0.0

    def add(self, answer: OwnerAnswer) -> None:
        if not self.replies:
            self.since = time.monotonic()
        self.replies.append(answer)
        self.size += 200 + sum(len(t) * 4 for t in (answer.value, answer.message) if t)

    @property
    def is_due(self) -> bool:
        return bool(self.replies) and (
            len(self.replies) >= MAX_ITEMS
            or self.size >= MAX_REPLY_BYTES
            or time.monotonic() - self.since > HOLD_S
        )

    def take(self) -> list[OwnerAnswer]:
        taken, self.replies, self.size = self.replies, [], 0
        return taken


class Run:
    """A loop that runs an owner over its link.

    Parameters
    ----------
    owner, link, http
        The Optuna side, the link and the connection.
    plan
        The limits of this call.
    tpe
        The switch of TPE's option for parallel trials.
    moved
        Called when trials have started or finished, for a progress bar.
    notice
        Called with the owner's state, ``standing by`` or ``sampling``, when that state begins.
    """

    def __init__(
        self,
        owner: Owner,
        link: OwnerLink,
        http: Http,
        plan: Plan,
        tpe: ParallelTpe | None = None,
        moved: Callable[[], None] = lambda: None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._owner = owner
        self._link = link
        self._http = http
        self._plan = plan
        self._tpe = tpe
        self._moved = moved
        self._notice = notice
        self._begun = time.monotonic()
        self._generation = 0
        self._taken = 0
        self._told_room = -1
        self._held = 0
        self._finished_before = 0
        self._is_over = False
        self._again: set[int] = set()
        self._look_at = self._sweep_at = math.inf
        self._waiting = Waiting(http, owner.row.study)

    def until_done(self) -> None:
        """Run until the plan is fulfilled; raise the error that the call has to raise.

        Raises
        ------
        ObjectiveError
            An objective raised an exception that is not in ``catch``.
        OwnerError
            ``owner_replaced``, ``study_differs``.
        ServerError
            ``study_cancelled``, ``unknown_study`` (it was deleted), ``quota_exceeded``, ...
        """
        try:
            while not (self._is_over or (self._generation and self._is_done())):
                self._step()
            if self._generation:
                sweep(self._owner, self._http)
        except BaseException as error:
            # Trials that have ended and trials that the server does not know must not stay running
            # in the storage after an error of a sampler or callback, or after Ctrl-C.
            self._owner.settle_all()
            self._owner.fail_untold(error)
            if isinstance(error, ServerError) and error.code == _GONE:
                self._fail_live()
            elif isinstance(error, OwnerError | ServerError):
                with suppress(HyperflockError):  # the first error is the reason
                    leave(self._owner, self._http)
            raise
        finally:
            self._waiting.close()
        if self._generation:
            self._finish()
        if self._owner.failure is not None:
            raise self._owner.failure

    def _finish(self) -> None:
        """End the study at the server and wait for its confirmation.

        If the connection breaks, the next one claims the study again, and the end is sent again.
        """
        self._reply(finish=True)
        deadline = time.monotonic() + _FINISH_S
        while (left_s := deadline - time.monotonic()) > 0:
            item = self._link.next(min(left_s, _SLICE_S))
            if isinstance(item, ErrorMessage) and item.code in _ENDED:
                return
            if isinstance(item, OwnerCall) and item.generation != self._generation:
                if item.generation == 0:  # another process owns the study
                    return
                self._generation, self._taken = item.generation, item.batch
                self._reply(finish=True)
            elif isinstance(item, OwnerCall):  # results may be rejected at the last moment
                for call in item.calls:
                    self._owner.answer(call)
                self._owner.take_back()

    def _step(self) -> None:
        item = self._link.next(_ENDING_SLICE_S if self._owner.ending else _SLICE_S)
        if self._owner.settle() and self._generation:
            held, self._held = self._held, 0
            self._reply(asked=self._ask(held) if held else ())
            self._moved()
        if isinstance(item, ErrorMessage):
            self._refused(item)
        elif item is not None:
            self._take(item)
        elif self._generation and self._room() != self._told_room:  # the time limit is over
            self._reply()
        now = time.monotonic()
        if self._generation and now >= self._sweep_at:
            self._sweep_at = math.inf
            sweep(self._owner, self._http)
        if self._generation and now >= self._look_at:
            self._look_at = now + _LOOK_S
            self._look()
        if self._generation:
            self._waiting.look(_loop.start, idle=not self._owner.computing)

    # ---- one batch

    def _take(self, batch: OwnerCall) -> None:
        if batch.generation == 0:  # another process owns the study
            self._stand_by()
            return
        if batch.generation != self._generation:
            self._attach(batch)
            return
        if not batch.demand:
            # This early reply lets the server send the next batch while this one is answered. If
            # the batch asks for new trials, there is no early reply, because the server would ask
            # for the same trials again.
            self._taken = batch.batch
            if batch.calls:
                self._reply()
        out = _Outgoing()
        self._owner.begin_batch()
        for call in batch.calls:
            answer = self._owner.answer(call)
            if answer is not None:
                out.add(answer)
            if out.is_due:
                self._send(replies=out.take())
        self._owner.take_back()
        self._reply(out.take(), self._ask(batch.demand), taken=batch.batch)
        self._moved()

    def _attach(self, batch: OwnerCall) -> None:
        self._generation, self._taken, self._held = batch.generation, batch.batch, 0
        now = time.monotonic()
        self._look_at, self._sweep_at = now + _LOOK_S, now + _SWEEP_S
        again, ended = reconcile(self._owner, self._http)
        self._owner.judge_again()
        self._owner.untold.update(trial_id_of(self._owner.live[n].trial) for n in again)
        self._again.update(again)
        # The count in the study's row cannot be used: it may include trials that ended after
        # `reconcile`, and this owner will count these itself.
        owner = self._owner
        self._finished_before = ended - (owner.finished + owner.ending - owner.unheard)
        row = self._look()
        if self._plan.to_target:
            # `wanted` is the number of trials that count, and `planned` adds the replaced ones.
            wanted = row.wanted if isinstance(row.wanted, int) else 0
            left = wanted + len(owner.rejected) - owner.replaced - self._finished_before
            self._plan.n_trials = left if wanted else None
        self._notice("sampling")
        told = map(self._owner.asked, again)
        self._reply(asked=[one for one in told if one is not None])
        self._moved()

    def _stand_by(self) -> None:
        self._generation = 0
        self._owner.step_back()
        self._notice("standing by")

    def _ask(self, demand: int) -> list[AskedTrial]:
        """Ask the sampler for the trials that devices wait for, and for more trials in advance if
        this changes no result.

        If the only live trial waits for its artifacts, the sampler is asked after that trial's
        outcome is stored. So one device and a seed give the same trials as plain Optuna.
        """
        owner = self._owner
        if owner.ending == len(owner.live) == 1:
            self._held = demand
            return []
        wanted = demand
        if self._plan.n_jobs != 1:
            computing = owner.computing + demand
            wanted += max(0, ahead(owner.study, computing, owner.run_s) - owner.waiting)
        asked: list[AskedTrial] = []
        while len(asked) < min(wanted, MAX_ITEMS) and self._room():
            if owner.live and is_used_up(owner.study):
                break
            if self._tpe is not None:
                self._tpe.tell(len(owner.live) - owner.ending + 1)
            one = owner.asked(owner.ask())
            if one is not None:
                asked.append(one)
        return asked

    # ---- replies to the server

    def _reply(
        self,
        replies: Sequence[OwnerAnswer] = (),
        asked: Sequence[AskedTrial] = (),
        *,
        taken: int | None = None,
        finish: bool = False,
    ) -> None:
        """Send the answers and the new trials. The last message confirms the batch ``taken``."""
        self._told_room = self._room()
        asked = list(asked)
        while (first := _fitting(asked)) < len(asked):
            self._send(asked=asked[:first])
            del asked[:first]
        if taken is not None:
            self._taken = taken
        while len(self._owner.judged) > MAX_ITEMS:
            self._send()
        self._send(replies, asked, finish=finish)

    def _send(
        self,
        replies: Sequence[OwnerAnswer] = (),
        asked: Sequence[AskedTrial] = (),
        *,
        finish: bool = False,
    ) -> None:
        reply = OwnerReply(
            study=self._owner.row.study,
            taken=self._taken,
            room=self._room(),
            target=self._target(),
            replies=list(replies),
            asked=list(asked),
            finish=finish,
            constraints=self._judged() or UNSET,
        )
        self._owner.told(asked)
        self._link.send(reply, self._generation)

    def _judged(self) -> list[TrialConstraints]:
        """Return the constraints for the next message."""
        judged, count, size = self._owner.judged, 0, 0
        for one in judged[:MAX_ITEMS]:
            size += 40 + 24 * len(one.values)
            if size > MAX_REPLY_BYTES:
                break
            count += 1
        self._owner.judged = judged[count:]
        return judged[:count]

    def _room(self) -> int:
        """Return how many more trials may be asked now."""
        if self._is_stopped():
            return 0
        plan, live = self._plan, len(self._owner.live)
        planned = self._owner.planned(plan.n_trials)
        limits = [math.inf if planned is None else planned - self._owner.finished - live]
        limits += [math.inf if plan.n_jobs is None else plan.n_jobs - live, MAX_ROOM]
        return max(0, int(min(limits)))

    def _target(self) -> int:
        """Return how many trials the study will have in the end without those whose results were
        rejected; 0 if it is not known.
        """
        owner = self._owner
        planned = owner.planned(self._plan.n_trials)
        if planned is None:
            return 0
        here = max(planned, owner.finished + len(owner.live))
        return self._finished_before + here - owner.unheard - len(owner.rejected)

    # ---- when it ends

    def _is_stopped(self) -> bool:
        if self._owner.failure is not None or is_stopped(self._owner.study):
            return True
        limit_s = self._plan.timeout_s
        return limit_s is not None and time.monotonic() - self._begun >= limit_s

    def _is_done(self) -> bool:
        if self._owner.live:
            return False
        limit = self._owner.planned(self._plan.n_trials)
        return self._is_stopped() or (limit is not None and self._owner.finished >= limit)

    def _look(self) -> StudyRow:
        """Fetch the study's state, because the server does not tell an owner of a cancellation."""
        study = self._owner.row.study
        row = convert(_loop.run(self._http.get(f"/api/studies/{study}")), StudyRow)
        if row.state == "cancelled":
            self._fail_live()
            raise server_error(
                "study_cancelled", f"study {study} was cancelled; another name begins a new one"
            )
        return row

    def _refused(self, error: ErrorMessage) -> None:
        if error.code == "trial_exists":
            if error.trial in self._again:
                return  # the server had received the trials before the connection broke
            raise OwnerError(
                f"trial {error.trial} is at the server already, of another Optuna study; take "
                f"client.study({self._owner.row.study}).to_optuna(), or a study of another name",
                code="study_differs",
            )
        if error.code in _ENDED:
            self._look()
        if self._generation == 0 and error.code != _GONE:
            # While this owner stands by, the server sends an error only if another owner has ended
            # the study, or as the answer to an old reply.
            self._is_over = error.code in _ENDED
            return
        field = error.field if error.field is not UNSET else None
        raise server_error(error.code, clean(error.message), field)

    def _fail_live(self) -> None:
        """Fail the live trials, because the study has ended and no device computes them."""
        owner = self._owner
        owner.settle_all()
        for number in list(owner.live):
            del owner.live[number]
            tell(owner.study, number, Outcome(TrialState.FAIL))


def _fitting(asked: Sequence[AskedTrial]) -> int:
    """Return how many of these trials, from the first one on, fit into one reply."""
    size = 0
    for count, one in enumerate(asked):
        size += 100 + (2 * len(one.attrs) if isinstance(one.attrs, str) else 0)
        if size > MAX_REPLY_BYTES and count:
            return count
    return len(asked)
