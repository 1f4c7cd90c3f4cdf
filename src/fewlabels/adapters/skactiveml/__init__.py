"""scikit-activeml, both ways: our strategies in its loops (`query`), its strategies in ours (`strategies`)."""

from fewlabels.adapters.skactiveml.query import GraphQuery
from fewlabels.adapters.skactiveml.strategies import FromSkactiveml

__all__ = ["FromSkactiveml", "GraphQuery"]
