"""NumPy's and CuPy's names, calls of NumPy for functions without a kernel, and files."""
