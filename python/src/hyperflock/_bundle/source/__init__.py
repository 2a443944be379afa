"""Reads Python sources: an objective's files, its definitions, and what the browsers' runtime
has.
"""
