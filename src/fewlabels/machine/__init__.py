"""The machine: how much memory is left, and progress lines for slow steps."""
