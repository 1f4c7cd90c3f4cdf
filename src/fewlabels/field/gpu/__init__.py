"""The gpu engine: all of G on a graphics card."""

from fewlabels.field.gpu.field import GpuField, free_memory

__all__ = ["GpuField", "free_memory"]
