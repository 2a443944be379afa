"""Finds what an objective uses and a device would not have."""
