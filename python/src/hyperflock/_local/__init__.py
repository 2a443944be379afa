"""A server on this machine: its files, its process, its volunteers, and ways for phones."""
