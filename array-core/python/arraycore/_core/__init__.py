"""The array, its ufuncs, operators, keys and kernels."""
