"""The sparse engine: a million nodes, without G."""

from fewlabels.field.sparse.field import SparseField

__all__ = ["SparseField"]
