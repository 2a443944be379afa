"""The properties of a study that need no request, shared by `Study` and `AsyncStudy`.

They read the last known row. Any thread may use this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from hyperflock._base.text import clean
from hyperflock._model.results import TrialError
from hyperflock._reports import html as _html
from hyperflock._reports.best import best_text
from hyperflock._reports.held import held_text
from hyperflock._reports.stopped import stopped_by
from hyperflock._transport.messages import Direction, StudyRow, WebhookRow


def detached_text(study: int | str, *, shows: bool = False) -> str:
    """Return a text that says how a study, given by its id or name, can be watched again.

    With ``shows`` the text names a call for a notebook, otherwise a command.
    """
    again = f"client.study({study}).display()" if shows else f"hyperflock watch {study}"
    return f"detached: study {study} goes on at the server; watch it again by: {again}"


class StudyView(ABC):
    """The properties of a study from its last known row."""

    @property
    @abstractmethod
    def row(self) -> StudyRow:
        """The study's last known row: counts of trials by state, attempts, space, times."""

    def __repr__(self) -> str:
        kind, counts = type(self).__name__, f"{self.done} of {self.row.goal}"
        return f"<{kind} {self.id} '{self.name}' {self.row.state}, {counts}>"

    def _repr_html_(self) -> str:
        """Return the study as HTML for a notebook."""
        return _html.study(self.row)

    def __len__(self) -> int:
        """Return the number of a grid's points, or how many trials an ask-and-tell study should
        have.
        """
        return self.row.goal

    @property
    def id(self) -> int:
        """The study's number at the server."""
        return self.row.study

    @property
    def name(self) -> str:
        """The study's name."""
        return clean(self.row.name)

    @property
    def owner(self) -> str:
        """The researcher who submitted the study."""
        return clean(self.row.owner)

    @property
    def direction(self) -> Direction:
        """``minimize`` or ``maximize``."""
        return self.row.direction

    @property
    def seed(self) -> int:
        """The study's seed, from which `trial_seed` computes the seed of a trial."""
        return self.row.seed

    @property
    def runtime(self) -> str:
        """The runtime of the study's trials, such as ``chainer-7.8.1``."""
        return clean(self.row.runtime_name)

    @property
    def priority(self) -> int:
        """The study's priority among those of its owner; the highest gets devices first."""
        return self.row.rank

    @property
    def code_version(self) -> int:
        """The newest version of its code, from 1; `retry_failed` makes a new one."""
        return self.row.code_count

    @property
    def done(self) -> int:
        """How many trials have finished."""
        return self.row.done

    @property
    def stopped_by(self) -> TrialError | None:
        """The failure for which the study has paused itself; None if it has not.

        A study pauses itself when ``max_failures`` of its trials have failed alike and none has
        succeeded. `resume` starts trials again.
        """
        return stopped_by(self.row)

    @property
    def held(self) -> str:
        """Why an administrator lets nothing of the study run, as text; empty if none does.

        The administrator may have frozen the project, barred the code or the data, or has to
        approve the study first. Trials start again by themselves when this is over.
        """
        return held_text(self.row)

    @property
    def webhook(self) -> WebhookRow | None:
        """The study's webhook: its host, its events, and what became of the last event (``last``).
        None if it has none; `notify` sets it.
        """
        return self.row.webhook if isinstance(self.row.webhook, WebhookRow) else None

    @property
    def best_text(self) -> str:
        """The best value so far as text, or the number of best trials; ``-`` if there is none."""
        return best_text(self.row)
