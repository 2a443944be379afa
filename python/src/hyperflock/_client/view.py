"""What a study says of itself without asking anybody: the half that `Study` and `AsyncStudy` share.

Reads the row that the server told last; any thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hyperflock._base.text import clean
from hyperflock._reports import html as _html
from hyperflock._transport.messages import Direction, StudyRow


class StudyView(ABC):
    """A study by its last row."""

    @property
    @abstractmethod
    def row(self) -> StudyRow:
        """What the server last told: counts of trials by state, attempts, space, times."""

    def __repr__(self) -> str:
        kind, counts = type(self).__name__, f"{self.done} of {self.row.goal}"
        return f"<{kind} {self.id} '{self.name}' {self.row.state}, {counts}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return _html.study(self.row)

    def __len__(self) -> int:
        """Number of points of the grid; of an asked study, how many trials it shall have."""
        return self.row.goal

    @property
    def id(self) -> int:
        """The server's number for it."""
        return self.row.study

    @property
    def name(self) -> str:
        """Its name."""
        return clean(self.row.name)

    @property
    def owner(self) -> str:
        """Who submitted it."""
        return clean(self.row.owner)

    @property
    def direction(self) -> Direction:
        """``minimize`` or ``maximize``."""
        return self.row.direction

    @property
    def seed(self) -> int:
        """The study's seed; `trial_seed` makes a trial's of it."""
        return self.row.seed

    @property
    def runtime(self) -> str:
        """What its trials run on, such as ``chainer-7.8.1``."""
        return clean(self.row.runtime_name)

    @property
    def done(self) -> int:
        """How many trials have finished, by the row."""
        return self.row.done

    @property
    def best_text(self) -> str:
        """The best value so far for people, by the row; ``-`` when there is none."""
        best: Any = self.row.best
        return f"{best.value:.6g}" if best else "-"
