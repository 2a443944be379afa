"""Products of vectors, matrices and tensors; inverses and determinants by elimination."""
