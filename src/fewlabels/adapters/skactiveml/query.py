"""Our strategies as pool query strategies of scikit-activeml."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.errors import GraphError, SettingError
from fewlabels.field import Answers, Conditioned, Costs, FieldSpec
from fewlabels.field.covariance import Covariance
from fewlabels.field.opinion import Opinion
from fewlabels.graph import Graph
from fewlabels.learner.choosing import in_turn
from fewlabels.learner.prior import checked_chances
from fewlabels.learner.settings import resolve_centring
from fewlabels.strategies import Strategy, lowest, make_strategy

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy
    from skactiveml.exceptions import MappingError
    from skactiveml.utils import MISSING_LABEL, ExtLabelEncoder
except ImportError as error:
    raise ImportError(
        f"fewlabels.adapters.skactiveml needs scikit-activeml ({error}): pip install scikit-activeml."
    ) from None

__all__ = ["GraphQuery"]

FEWEST_CLASSES = 2  # a learner knows of at least two, so two are assumed until y shows them


class GraphQuery(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]
    """Any strategy of the menu as a pool query strategy of scikit-activeml.

    >>> path = Graph.from_edges(range(6), range(1, 7))
    >>> ids = np.arange(7).reshape(-1, 1)
    >>> y = ["cat", "", "", "", "", "", "dog"]
    >>> GraphQuery(path, "tsa", missing_label="", random_state=0).query(ids, y)
    array([3])

    The graph is the one given, or else the `n_neighbors` nearest neighbours of X. With a given graph, X is one column
    of node numbers, of all nodes or of some, or anything with one row for every node. `strategy` is a name on the menu
    or an object with `cost(field)`. Without `classes`, those in y are all there are. `beta`, `engine`, `smoothness`,
    `overlap` and `centred` are those of `ActiveLearner`, as is `prior`, (n, C) a model's chances, which needs
    `classes`.

    The graph's set-up is kept: as long as X and the parameters stay the same, a query only takes in what is new in y.
    A copy or a pickle starts without it.
    """

    _made: tuple[Any, Graph] | None = None  # what the graph of X was made from, and the graph
    _held: tuple[Any, Conditioned] | None = None  # what the field was made from, and the field as of the last query

    def __init__(
        self,
        graph: Graph | None = None,
        strategy: str | Strategy = "tsa",
        n_neighbors: int = 10,
        beta: float | str = "auto",
        engine: str | Covariance = "auto",
        classes: Iterable[Hashable] | None = None,
        missing_label: Any = MISSING_LABEL,
        random_state: int | np.random.RandomState | None = None,
        smoothness: float | str = "auto",
        overlap: float | str = "auto",
        centred: bool | str = "auto",
        prior: Any = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.graph = graph
        self.strategy = strategy
        self.n_neighbors = n_neighbors
        self.beta = beta
        self.engine = engine
        self.classes = classes
        self.smoothness = smoothness
        self.overlap = overlap
        self.centred = centred
        self.prior = prior

    def query(
        self,
        X: ArrayLike,
        y: ArrayLike,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """Which samples to label next; with `return_utilities`, also how useful each of them would be.

        Candidates are all unlabelled samples, or rows of X by index or as points; a point that is not a row of X
        is not a node of the graph, and raises a MappingError. The samples of a batch are chosen one after another,
        each as if those before had been answered with their most probable class.

        Utilities, of shape (batch_size, n_samples) or, for candidates given as points, (batch_size, n_candidates), are
        the negative costs of the strategy: higher is better. They are NaN where a sample is labelled, not a candidate,
        or chosen before in the batch. A labelled sample among the candidates, as in a pool with several annotators,
        has -inf: it is chosen when nothing else is left.
        """
        points, y, among, batch_size, _ = self._validate_data(X, y, candidates, batch_size, return_utilities)
        encoder = ExtLabelEncoder(self.classes, self.missing_label_)
        label: Ints = encoder.fit_transform(y)  # (rows,) class numbers, -1 where unlabelled
        rows = _rows(among, points, label)
        strategy = make_strategy(self.strategy)
        rng = np.random.default_rng(self.random_state_.randint(2**31))
        graph = self._graph(points)
        node = np.arange(len(points)) if self.graph is None else _nodes(points, graph)  # (rows,)
        at_node = np.full(graph.n_nodes, -1)
        at_node[node] = label
        field = self._field(graph, at_node, max(len(encoder.classes_), FEWEST_CLASSES))

        chosen, utilities = _batch(strategy, field, node, rows, label >= 0, batch_size, rng)
        if among is not None and among.ndim > 1:  # candidates as points: indices are among them
            chosen, utilities = [rows.tolist().index(row) for row in chosen], utilities[:, rows]
        found = np.array(chosen, dtype=int)
        return (found, utilities) if return_utilities else found

    def _graph(self, points: Floats) -> Graph:
        """The graph given, or that of the points, kept until they change."""
        if self.graph is not None:
            if not isinstance(self.graph, Graph):
                raise SettingError(f"graph is a {type(self.graph).__name__}: give a fewlabels.Graph, or None.")
            return self.graph
        key = (points.shape, hashlib.blake2b(points.tobytes()).digest(), self.n_neighbors)
        if self._made is None or self._made[0] != key:
            n = len(points)
            made = Graph.from_features(points.reshape(n, -1), min(self.n_neighbors, n - 1)) if n > 1 else Graph([[0]])
            self._made = key, made
        return self._made[1]

    def _field(self, graph: Graph, label: Ints, n_classes: int) -> Conditioned:
        """The field of the graph with these labels, from that of the query before where there was one."""
        key = (graph, self.beta, self.engine, self.smoothness, self.overlap)
        if self._held is not None and self._held[0] == key:
            field = self._held[1]
        else:
            recipe = FieldSpec(self.beta, self.smoothness, self.overlap, self.engine).resolved(graph)
            covariance = recipe.build() if isinstance(self.engine, str) else self.engine
            field = Conditioned(covariance, Answers(n_classes))
        opinion = None
        if self.prior is not None:
            classes = range(n_classes) if self.classes is None else self.classes
            opinion = Opinion(field.precision.links, checked_chances(self.prior, graph.names, list(classes)))
        labels = {int(k): int(label[k]) for k in np.flatnonzero(label >= 0)}
        had = {node: labels[node] for node in field.answers.sure if node in labels}  # in the order they came
        field = field.with_all(Answers(n_classes, {**had, **labels}), resolve_centring(self.centred, None, []), opinion)
        self._held = key, field
        return field

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_made", "_held")}


def _batch(
    strategy: Strategy, field: Conditioned, node: Ints, rows: Ints, known: Flags, size: int, rng: np.random.Generator
) -> tuple[list[int], Floats]:
    """The chosen among these rows of X, and (size, len(X)) the utilities each of them was chosen by.

    node (len(X),) is the node of every row, known (len(X),) whether it is labelled.
    """
    shut, open_ = rows[known[rows]], rows[~known[rows]]
    utilities = np.full((size, len(node)), np.nan)
    chosen: list[int] = []

    def choose(costs: Costs) -> int:
        turn = utilities[len(chosen)]
        turn[shut], turn[open_] = -np.inf, -costs.values[node[open_]]
        left = open_[~np.isnan(turn[open_])]
        chosen.append(lowest(-turn[left], left, rng))
        return int(node[chosen[-1]])

    if wanted := min(size, len(open_)):
        closed = np.setdiff1d(np.arange(field.n_nodes), node[open_]).tolist()  # what is not a candidate
        field = field.without_questions(closed)
        in_turn(strategy, field, wanted, choose)
    for row in rng.permutation(shut)[: size - wanted].tolist():
        utilities[len(chosen), np.setdiff1d(shut, chosen)] = -np.inf
        chosen.append(row)
    return chosen, utilities


def _nodes(X: Floats, graph: Graph) -> Ints:
    """(rows,) the node each row of X stands for: a column of node numbers names them, else it is the row's number."""
    column = X.reshape(len(X), -1)[:, 0]
    whole = X.size == len(X) and (column == np.floor(column)).all()
    if whole and column.min() >= 0 and column.max() < graph.n_nodes and len(np.unique(column)) == len(column):
        return column.astype(np.int64)
    if len(X) != graph.n_nodes:
        raise GraphError(
            f"X has {len(X)} rows and the graph {graph.n_nodes} nodes: give a row for every node, or one column of "
            f"different node numbers from 0 to {graph.n_nodes - 1}."
        )
    return np.arange(graph.n_nodes)


def _rows(candidates: NDArray[Any] | None, X: Floats, label: Ints) -> Ints:
    """(c,) the rows of X that are candidates; points are found among the rows, unlabelled rows first."""
    if candidates is None:
        return np.flatnonzero(label < 0)
    if candidates.ndim == 1:
        return candidates.astype(np.int64)
    rows_of: dict[bytes, list[int]] = defaultdict(list)
    for row in np.lexsort((np.arange(len(X)), label >= 0)).tolist():
        rows_of[_bytes(X[row])].append(row)
    found = []
    for k, point in enumerate(candidates):
        same = rows_of[_bytes(point)]
        if not same:
            raise MappingError(
                f"candidate {k} is not a row of X, or was given before, so it has no node of its own: add it to "
                "X, and its edges to the graph, or give candidates by their indices."
            )
        found.append(same.pop(0))
    return np.array(found, dtype=np.int64)


def _bytes(point: Floats) -> bytes:
    return (np.asarray(point, dtype=float) + 0.0).tobytes()  # -0.0 and 0.0 are one number
