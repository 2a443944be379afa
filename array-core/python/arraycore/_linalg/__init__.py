"""Products of vectors, matrices and tensors, and elimination."""
