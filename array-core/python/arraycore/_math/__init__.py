"""Functions of single elements, of neighbouring elements, and along an axis."""
