"""fewlabels: which node of a graph to label next, so that a handful of answers labels the whole graph."""

from importlib import import_module
from typing import TYPE_CHECKING

from fewlabels.errors import FewlabelsError

if TYPE_CHECKING:
    from fewlabels.adapters.sklearn import HarmonicClassifier
    from fewlabels.graph import Graph
    from fewlabels.items.embedding import embed
    from fewlabels.learner import ActiveLearner
    from fewlabels.strategies import STRATEGIES
else:  # loaded when first named: SciPy takes a third of a second, and a word completed in the shell needs none of it
    _HOME = {
        "ActiveLearner": "fewlabels.learner",
        "Graph": "fewlabels.graph",
        "HarmonicClassifier": "fewlabels.adapters.sklearn",
        "STRATEGIES": "fewlabels.strategies",
        "embed": "fewlabels.items.embedding",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_HOME[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"

__all__ = ["STRATEGIES", "ActiveLearner", "FewlabelsError", "Graph", "HarmonicClassifier", "__version__", "embed"]
