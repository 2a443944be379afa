"""Functions that make, turn, join, cut and index arrays."""
