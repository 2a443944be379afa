"""Numbers, and a relative import upwards."""

from ..sibling import ONE

FIVE = 4 + ONE
