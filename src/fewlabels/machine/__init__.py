"""The machine: how much memory is left, and a line while something takes long."""
