"""Functions of elements, of neighbours and along an axis."""
