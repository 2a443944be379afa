"""Runs one trial on this machine: in this process, in a child process or in a browser."""
