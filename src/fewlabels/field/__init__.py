"""The field: what the labels so far say about every other node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from fewlabels.arrays import Flags, Floats, Ints
from fewlabels.errors import SettingError, nearest
from fewlabels.field.costs import Costs, Screening
from fewlabels.machine import memory
from fewlabels.machine.progress import say

if TYPE_CHECKING:
    from scipy import sparse

    from fewlabels.field.known import Centring, LabelTerms
    from fewlabels.field.opinion import Opinion
    from fewlabels.field.precision import Precision
    from fewlabels.graph import Graph

__all__ = ["ENGINES", "Costs", "Engine", "Field", "Screening", "choose_engine", "make_field"]

ENGINES = ("auto", "dense", "gpu", "sparse")
DENSE_UP_TO = 15_000  # nodes: beyond it scoring every pair takes longer than people like to wait
ROOM = 0.8  # share of the free memory that a dense G may take
SPARSE_DEGREE = 0.01  # share of all pairs that are edges: a denser graph gains nothing from sparse solvers


class Field(Protocol):
    """(G, h) given the labels so far, over the unlabelled nodes; only the verbs below change it."""

    n_nodes: int
    n_classes: int
    beta: float
    smoothness: float
    overlap: float  # to what power the links are weighed by the neighbours that their ends share
    precision: Precision  # Q
    centring: Centring | None  # how predictions are set about the shares of the classes; None: as h is
    opinion: Opinion | None  # what a model thinks of every node, where there is one
    component: Ints  # (n,) number of each node's connected component
    label: Ints  # (n,) class number of every node, -1 where not known
    attached: Floats  # (n, C) weight of each node's unsure answers, by the class they name
    skipped: Flags  # (n,) nodes that no question will be about: their costs need not be exact

    @property
    def weights(self) -> sparse.csr_array:
        """(n, n) whose Laplacian is Q, the matrix of the field: beta W where it is not smooth."""

    @property
    def unlabelled(self) -> Ints:
        """(u,) node numbers, in the order of every array below."""

    @property
    def h(self) -> Floats:
        """(u, C) label propagation, one one-vs-rest column per class; 0 where no label reaches.

        In [-1, 1], which a smooth field leaves a little.
        """

    @property
    def island(self) -> Ints:
        """(u,) -1 where a label reaches the node, else the number of its component."""

    @property
    def variance(self) -> Floats:
        """(u,) G_kk, infinite where no label reaches."""

    @property
    def G(self) -> Floats:
        """(u, u) Green's function inv(Q_uu); in a component without a label its finite part, the pseudo-inverse.

        The sparse engine refuses to form it: `columns` works on every engine.
        """

    def columns(self, nodes: Ints, rough: bool = False) -> Floats:
        """(u, m) the columns of G that belong to these unlabelled nodes; `rough`: good enough to score questions."""

    def sums(self) -> Floats:
        """(u,) the sums of the rows of G, where a label reaches the node."""

    def two_step_costs(self) -> Costs:
        """R+q of every question q by TSA marginals: the expected error once it is answered."""

    def harmonic_costs(self) -> Costs:
        """R+q by ZLG marginals."""

    def vopt_costs(self, rough: bool = False) -> Costs:
        """The variance left after each question, tr G'; rough: estimates will do, where they are cheaper."""

    def sopt_costs(self) -> Costs:
        """The variance left in the sum of labels after each question, 1'G'1."""

    def observe(self, node: int, label: int) -> None:
        """This node (a number) is of this class (a number)."""

    def observe_all(self, labels: dict[int, int]) -> None:
        """{node: class}: the same for many, in whichever way is quickest."""

    def forget(self, node: int) -> None:
        """The label of this node is taken back."""

    def forget_all(self, nodes: list[int]) -> None:
        """The labels of these nodes are taken back."""

    def relabel(self, node: int, label: int) -> None:
        """This labelled node is of another class: G stays, h follows."""

    def attach(self, node: int, weights: Floats) -> None:
        """Set the weights (C,) of the unsure answers to this node, by the class they name; it stays unlabelled.

        At a node with a sure label they count for nothing until that label is forgotten.
        """

    def attach_all(self, weights: dict[int, Floats]) -> None:
        """{node: (C,) weights}: the same for many."""

    def skip(self, nodes: int | Ints, skipped: bool = True) -> None:
        """No question will be about this node, or these; with `skipped` False there may be one again."""

    def reach(self, nodes: Ints, rough: bool = False) -> Floats:
        """(m, u) how much a label at each of these labelled nodes counts at each unlabelled one: -Q_mu G; `rough`: to
        1e-4 may do.
        """

    def precision_of(self, nodes: Ints, sample: Ints) -> LabelTerms | None:
        """Of these labelled nodes, to less than a percent, where that takes no solve; there are no unsure answers."""

    def add_class(self) -> None:
        """One more class, which no answer has named yet."""

    def begin_again(self, n_classes: int) -> None:
        """No answer counts any more, and there are so many classes; a `refresh` must follow before anything else."""

    def one_by_one(self, count: int) -> bool:
        """Whether this many answers are taken in one after another, rather than by a `refresh`."""

    def refresh(self) -> None:
        """Work out everything afresh from the graph and the labels."""

    def can_copy(self) -> bool:
        """Whether there is memory for a copy, and to work on it."""

    def copy(self) -> Field:
        """An independent field in the same state."""


class Engine(Protocol):
    """Anything that makes the field of a graph without labels, such as a cluster."""

    def __call__(self, graph: Graph, n_classes: int, beta: float, smoothness: float) -> Field: ...


def make_field(
    graph: Graph, n_classes: int, beta: float, engine: str | Engine | Field = "auto", smoothness: float = 0.0
) -> Field:
    """The field of a graph without labels, held by the named engine; an existing field is copied, which is quick.

    With overlap, the graph is what `fewlabels.field.overlap.overlapped` makes of it.
    """
    refuse_no_engine(engine)
    if callable(engine):
        return engine(graph, n_classes, beta, smoothness)
    if not isinstance(engine, str):
        made_with = engine.n_nodes, engine.n_classes, engine.beta, engine.smoothness
        same = made_with == (graph.n_nodes, n_classes, beta, smoothness)
        if not same or (engine.precision.links != beta * graph.weights).nnz or _has_answers(engine):
            raise SettingError(
                "engine is a field of another graph, classes, beta, smoothness or overlap, or has labels: make a new "
                "one."
            )
        return engine.copy()
    if engine not in ENGINES:
        raise SettingError(
            f"there is no engine {engine!r}: choose one of {', '.join(ENGINES)}.{nearest(engine, ENGINES)}"
        )
    if engine == "auto":
        engine, why = choose_engine(graph)
        if engine == "sparse":
            say(f"engine 'sparse' for {graph.n_nodes:,} nodes: {why}")
    if engine == "gpu":
        try:
            from fewlabels.field.gpu import GpuField  # loads torch and Triton
        except ImportError as error:
            raise SettingError(
                f"engine 'gpu' needs torch with CUDA, and {error.name} is not installed: pip install 'fewlabels[gpu]'."
            ) from None
        return GpuField(graph, n_classes, beta, smoothness=smoothness)
    if engine == "sparse":
        from fewlabels.field.sparse import SparseField  # loads Numba and pyamg

        return SparseField(graph, n_classes, beta, smoothness=smoothness)
    from fewlabels.field.dense import DenseField  # loads Numba

    return DenseField(graph, n_classes, beta, smoothness=smoothness)


def refuse_no_engine(engine: object) -> None:
    """Refuse what is neither the name of an engine, nor a field, nor anything that makes one."""
    if not (isinstance(engine, str) or callable(engine) or hasattr(engine, "precision")):
        raise SettingError(f"engine is {engine!r}: choose one of {', '.join(ENGINES)}, or give a field.")


def choose_engine(graph: Graph, free: int | None = None) -> tuple[str, str]:
    """The engine "auto" takes for this graph with `free` bytes of memory (default: what is free now), and why."""
    free = memory.available() if free is None else free
    n = graph.n_nodes
    need = 8 * n * n
    if need > ROOM * free:
        return "sparse", f"a dense G needs {memory.size(need)} and {memory.size(free)} are free"
    if n > DENSE_UP_TO and graph.weights.nnz <= SPARSE_DEGREE * n * n:
        return "sparse", f"beyond {DENSE_UP_TO:,} nodes the dense engine is slow"
    return "dense", f"all of G takes {memory.size(need)} and {memory.size(free)} are free"


def _has_answers(field: Field) -> bool:
    return len(field.unlabelled) < field.n_nodes or bool(field.attached.any())
