"""The dense engine: all of G in one array on this machine."""

from fewlabels.field.dense.field import DenseField

__all__ = ["DenseField"]
