"""The kernels on a graphics card: `launch` has the names of `reference`, `triton` is what it launches."""
