"""NumPy's and CuPy's names, what they have beyond arraycore's, and files."""
