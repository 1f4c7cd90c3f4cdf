"""A dense G too large for one machine, held in blocks of rows by the workers of a Dask cluster.

`dask scheduler` on one machine and `dask worker` on each make a cluster (docs/howto/cluster.md); fewlabels must be
installed on all of them (`pip install 'fewlabels[cluster]'`).
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from fewlabels.graph import Graph

if TYPE_CHECKING:
    from fewlabels.field.cluster.field import ClusterField

__all__ = ["Cluster"]


class Cluster:
    """The engine of a learner: `ActiveLearner(graph, classes, engine=Cluster("tls://scheduler:8786"))`.

    It asks the same questions as the dense engine. One cluster serves several learners; `close`, or leaving a `with`
    block, releases the workers and what they hold. Messages go through the scheduler, or with `direct` straight to the
    workers, which is quicker where this machine can reach them.
    """

    def __init__(self, address: str, *, direct: bool = False, timeout: float = 5.0) -> None:
        from fewlabels.field.cluster.crew import Crew  # loads Dask

        self._crew = Crew(address, timeout, direct)

    @property
    def workers(self) -> list[str]:
        """Their addresses, in the order of the rows they hold."""
        return list(self._crew.workers)

    @property
    def moved(self) -> int:
        """Bytes that questions and answers have moved between here and the workers so far."""
        return self._crew.moved

    def __call__(self, graph: Graph, n_classes: int, beta: float, smoothness: float = 0.0) -> ClusterField:
        """The field of a graph without labels."""
        from fewlabels.field.cluster.field import ClusterField  # loads Numba

        return ClusterField(self._crew, graph, n_classes, beta, smoothness=smoothness)

    def close(self) -> None:
        self._crew.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Cluster({self._crew.address!r}, {len(self._crew.workers)} workers)"
