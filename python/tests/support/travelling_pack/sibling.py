"""A sibling module."""

ONE = 1
