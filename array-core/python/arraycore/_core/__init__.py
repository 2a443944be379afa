"""Defines the array class, its ufuncs, operators, keys and kernels."""
