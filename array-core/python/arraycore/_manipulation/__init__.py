"""Functions that create, transpose, join, split and index arrays."""
