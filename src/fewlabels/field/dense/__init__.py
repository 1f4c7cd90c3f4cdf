"""The dense engine: all of G in one array of this machine."""

from fewlabels.field.dense.field import DenseField

__all__ = ["DenseField"]
