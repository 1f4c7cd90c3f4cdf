"""The kernels on a graphics card: `launch` has the names of `reference`; it launches `two_step` and `triton`."""
