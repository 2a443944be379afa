"""The command ``hyperflock``; its entry point is `main`."""

from hyperflock._cli.command import main

__all__ = ["main"]
