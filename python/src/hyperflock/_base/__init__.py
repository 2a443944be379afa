"""Errors and their codes, the package's version, and cleaning of text from other people."""
