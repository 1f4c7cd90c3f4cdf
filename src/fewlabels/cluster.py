"""`Cluster`, the engine that spreads a dense G over the workers of a Dask cluster; it lives in `field.cluster`."""

from fewlabels.field.cluster import Cluster

__all__ = ["Cluster"]
