"""A neighbour."""

ONE = 1
