"""inv(A) applied to columns: sparse Cholesky or conjugate gradients, whichever fits the graph; and its diagonal."""
