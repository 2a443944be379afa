"""The library's state, its calls, dtypes, errors and devices."""
