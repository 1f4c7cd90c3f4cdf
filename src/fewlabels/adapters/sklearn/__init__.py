"""scikit-learn: label propagation on a graph as a classifier."""

from fewlabels.adapters.sklearn.classifier import HarmonicClassifier

__all__ = ["HarmonicClassifier"]
