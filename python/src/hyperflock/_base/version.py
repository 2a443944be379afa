"""The version of this package; hatchling reads it from here."""

__version__ = "0.2.0"
