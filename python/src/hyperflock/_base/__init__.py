"""Contains errors and their codes, the package's version, and functions that clean text from other
people.
"""
