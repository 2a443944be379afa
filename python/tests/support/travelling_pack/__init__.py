"""A package of the researcher's own, with relative imports."""
