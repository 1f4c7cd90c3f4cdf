"""The graph: symmetric non-negative weights between nodes, from matrices, edges, points, files and other packages."""

from fewlabels.graph.graph import Graph

__all__ = ["Graph"]
