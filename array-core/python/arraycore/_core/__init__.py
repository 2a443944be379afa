"""Defines the array class, its ufuncs, operators and indexing, and kernels that users write."""
