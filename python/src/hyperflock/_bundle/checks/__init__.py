"""Checks that a device has everything that an objective uses."""
