"""fewlabels: which node of a graph to label next, so that a handful of answers labels the whole graph."""

from typing import TYPE_CHECKING, Any

from fewlabels.errors import FewlabelsError
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.strategies import STRATEGIES

if TYPE_CHECKING:
    from fewlabels.adapters.sklearn import HarmonicClassifier

__version__ = "0.1.0"

__all__ = ["STRATEGIES", "ActiveLearner", "FewlabelsError", "Graph", "HarmonicClassifier", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "HarmonicClassifier":
        from fewlabels.adapters.sklearn import HarmonicClassifier  # loads scikit-learn

        return HarmonicClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
