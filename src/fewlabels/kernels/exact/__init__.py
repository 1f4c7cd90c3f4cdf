"""Exact inference on graphs of small treewidth: the order of elimination, the junction tree, and its fast twin."""
