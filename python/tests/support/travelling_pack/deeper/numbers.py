"""Numbers, and a relative import from the parent package."""

from ..sibling import ONE

FIVE = 4 + ONE
