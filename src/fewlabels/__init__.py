"""fewlabels: which node of a graph to label next, so that a handful of answers labels the whole graph."""

from fewlabels.errors import FewlabelsError
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.strategies import STRATEGIES

__version__ = "0.1.0"

__all__ = ["STRATEGIES", "ActiveLearner", "FewlabelsError", "Graph", "__version__"]
