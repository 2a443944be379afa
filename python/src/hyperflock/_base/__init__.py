"""Errors, their codes, the version and safe text: what every other folder may import."""
