"""The interfaces of NumPy and CuPy, file I/O, and calls of NumPy where there is no kernel."""
