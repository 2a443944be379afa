"""Contains parts of the fake servers of the tests."""
