"""ActiveLearner: which node to ask next, what the answers so far say about the others, and how wrong that is."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fewlabels.arrays import is_whole
from fewlabels.errors import LabelError, QueryError, SettingError
from fewlabels.field.covariance import Covariance
from fewlabels.graph import Graph
from fewlabels.graph.given import graph_of
from fewlabels.learner import choosing, journal
from fewlabels.learner.asking import Asking
from fewlabels.learner.checks import EARLY, EVERY, FIRST, Check, NextQuestion, audited, draw, is_due
from fewlabels.learner.estimate import CONFIDENCE, TARGET, Audit, ErrorEstimate, can_stop, estimate, require_share
from fewlabels.learner.report import PREFIX, Report
from fewlabels.learner.verdict import Verdict, verdict
from fewlabels.strategies import Strategy

if TYPE_CHECKING:
    import pandas as pd


class ActiveLearner(Asking):
    """Ask, teach, predict.

    >>> path = Graph.from_edges(range(6), range(1, 7))
    >>> learner = ActiveLearner(path, classes=["cat", "dog"])
    >>> learner.teach([0, 6], ["cat", "dog"])
    >>> learner.query()
    3
    >>> learner.teach(3, "cat")
    >>> learner.predict().tolist()
    ['cat', 'cat', 'cat', 'cat', 'cat', 'dog', 'dog']
    >>> round(learner.expected_error(), 2)
    0.08

    graph is a `Graph`; one of networkx, igraph or PyTorch Geometric, a frame with columns source and target, or a
    symmetric matrix of weights is made into one. A node is its number, or its name where the graph has names. The same
    seed and the same history give the same question, however often `query` is called. One set-up serves many learners:
    pass `learner.covariance` of one as the engine of the others.

    smoothness is that of the field: 0 is the paper's, more lets few labels reach further; "auto" takes it from the
    graph, and beta from both. overlap is how much a link counts by the neighbours that its ends share: 0 takes the
    weights as they are, 2 multiplies them by the square of that overlap; "auto" takes it from the graph, too. centred
    predicts by what differs from node to node rather than by which classes were asked about most ("auto": yes);
    `prior`, {class: share}, tells the shares of the classes where they are known; or `prior`, (n, C) or a frame, the
    chances that a model gives to the classes: they count as far as answers bear them out, and answers overrule them.
    `field="paper"` takes all four as Jun & Nowak 2016 have them (smoothness 0, overlap 0, not centred, beta 1);
    `describe` says what was taken, and why.
    """

    def _begin(self) -> None:
        super()._begin()
        self._drawn: dict[int, None] = {}  # the checks, in the order drawn
        self._aside: set[int] = set()  # nodes that count as skipped, and are not
        self._audited: tuple[Audit, dict[int, tuple[int, int]]] | None = None  # in this state, once asked for

    def next(
        self,
        target: float = TARGET,
        confidence: float = CONFIDENCE,
        *,
        every: int = EVERY,
        without: Iterable[Hashable] = (),
    ) -> NextQuestion:
        """What to ask now so as to reach the target and to know it: a question, or a check.

        The first 20 answers are to questions. Then one in `every` is a check (0: none), and all are as soon as the
        target seems reached, until `can_stop` or until errors are found.
        """
        others = list(without)
        if self.wants_check(target, confidence, every=every, without=others):
            with suppress(QueryError):  # nothing is left to draw
                return NextQuestion(self.check(without=others)[0], True)
        node = self.query(without=others)
        return NextQuestion(node, self.is_check(node))  # one that waits for its answer may be the best question, too

    def wants_check(
        self,
        target: float = TARGET,
        confidence: float = CONFIDENCE,
        *,
        every: int = EVERY,
        without: Iterable[Hashable] = (),
    ) -> bool:
        """Whether `next` is a check."""
        require_share("target", target, 0.0, TARGET)
        require_share("confidence", confidence, 0.5, CONFIDENCE)
        if not is_whole(every) or every < 0:
            raise SettingError(f"every is {every!r}: one question in so many is a check, such as {EVERY}; 0 for none.")
        if not every or len(self._answers) < FIRST:
            return False
        others = [k for k in map(self.graph.position, without) if self._askable(k)]
        # a check others answer is the last of all
        asked = [*self._answers.latest(every), *sorted(others, key=lambda k: k in self._drawn)]
        return is_due(self.audit, target, confidence, asked, self._drawn, self.settled, every)

    def check(self, k: int = 1, *, without: Iterable[Hashable] = ()) -> list[Any]:
        """k nodes drawn at random, not by cost: teach their answers like any other, and they measure the error.

        A check stays one until it is answered or skipped, so those not answered yet come first; ask about them without
        showing a prediction. None is in `without`, which others may be answering.
        """
        if not is_whole(k) or k < 1:
            raise QueryError(f"check({k!r}): ask for a whole number of nodes, at least 1.")
        found = self._proposed(k, without)
        self._mark([node for node in found if node not in self._drawn])
        return [self.graph.names[node] for node in found]

    def next_check(self, without: Iterable[Hashable] = ()) -> Any:
        """The node that `check` would give, without drawing it."""
        return self.graph.names[self._proposed(1, without)[0]]

    def _proposed(self, k: int, without: Iterable[Hashable]) -> list[int]:
        """k checks: those that wait for an answer, then new ones."""
        others = {node for node in map(self.graph.position, without) if self._askable(node)} | self._aside
        found = [node for node in self._drawn if self._askable(node) and node not in others][:k]
        if len(found) < k:
            left = np.ones(self.graph.n_nodes, dtype=bool)
            left[[*self._answers.nodes, *self._skipped, *others, *self._drawn]] = False
            there = len(found) + int(left.sum())
            choosing.require_left(k, there, len(self._answers), len(self._skipped), len(others), "check")
            found += draw(left, k - len(found), self._rng(len(self._events)))
        return found

    def add_checks(self, nodes: Iterable[Hashable]) -> None:
        """Remember these nodes, which were drawn at random elsewhere and have no answer yet, as checks."""
        found = [self.graph.position(node) for node in nodes]
        for k in found:
            if k in self._answers and k not in self._drawn:
                raise LabelError(
                    f"node {self.graph.names[k]!r} has an answer already: a check is drawn first and answered then."
                )
        self._mark([k for k in dict.fromkeys(found) if k not in self._drawn])

    def set_aside(self, nodes: Iterable[Hashable]) -> None:
        """Count these nodes as skipped in every estimate, though they may still be asked: someone could not tell what
        they are. They are not drawn as checks. The next call replaces them; they are not saved.
        """
        self._aside = {self.graph.position(node) for node in nodes}
        self._audited = None

    @property
    def checks(self) -> list[Check]:
        """The checks in the order drawn, each with its answer and what all other answers predict in its place."""
        names, judged = self.graph.names, self._judge()[1]
        found = {k: (self._classes[said], self._classes[other]) for k, (said, other) in judged.items()}
        return [Check(names[k], *found.get(k, (None, None)), k in self._skipped) for k in self._drawn]

    @property
    def drawn(self) -> list[Any]:
        """The nodes drawn as checks, in that order."""
        return [self.graph.names[node] for node in self._drawn]

    @property
    def closed(self) -> dict[int, int]:
        """{number of a node with an answer or a skip: how many checks had been drawn before it had one}."""
        return journal.closed(self._events)

    def is_check(self, node: Hashable) -> bool:
        """Whether this node was drawn as a check."""
        return self.graph.position(node) in self._drawn

    @property
    def audit(self) -> Audit:
        """What the checks say, in numbers: all that `error`, `can_stop` and `verdict` depend on."""
        return self._judge()[0]

    def error(self, confidence: float = CONFIDENCE) -> ErrorEstimate:
        """The share of all nodes that are predicted wrongly, measured by the checks (docs/honest.md).

        Each check is judged by what all other answers predict for it now, and counts against the nodes it was drawn
        from, whatever was answered since. One that waits counts as wrong in `high` once a later one has an answer.
        Without checks the interval is as wide as it can be, and the value is `expected_error`.
        """
        require_share("confidence", confidence, 0.5, CONFIDENCE)
        return estimate(self.audit, confidence)

    def can_stop(self, target: float = TARGET, confidence: float = CONFIDENCE) -> bool:
        """Whether the checks show that at most this share of the nodes is wrong. It may be asked after every answer."""
        require_share("target", target, 0.0, TARGET)
        require_share("confidence", confidence, 0.5, CONFIDENCE)
        return can_stop(self.audit, target, confidence)

    def verdict(self, target: float = TARGET, confidence: float = CONFIDENCE) -> Verdict:
        """Where the labelling stands, as a state and a sentence: still learning, probably below the target, checked, or
        above it.
        """
        require_share("target", target, 0.0, TARGET)
        require_share("confidence", confidence, 0.5, CONFIDENCE)
        return verdict(self.audit, target, confidence, self.settled)

    def to_frame(self) -> pd.DataFrame:
        """What is known of every node, one row each, indexed by node.

        Columns: label (as taught, else None), prediction, its chance, reached (whether any label reaches it), skipped,
        check (its number among the checks), and p_<class> for each class.
        """
        return self._report().frame()

    def to_networkx(self, g: Any, prefix: str = PREFIX) -> None:
        """Store what is known of its nodes on your own networkx graph, as node attributes."""
        self._report().onto_networkx(g, prefix)

    def to_igraph(self, g: Any, prefix: str = PREFIX, name: str = "name") -> None:
        """Store what is known of its vertices on your own igraph graph, as vertex attributes."""
        self._report().onto_igraph(g, prefix, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write settings and every answer, skip, forget and check as JSON lines; an earlier save there is extended."""
        journal.write(path, {"graph": self.graph.fingerprint(), **self._settings}, self._events)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        graph: Graph | Any,
        strategy: Strategy | None = None,
        engine: str | Covariance | None = None,
    ) -> ActiveLearner:
        """Replay a saved learner on its graph: the same state and the same next question.

        A strategy or an engine of your own is not in the file: pass it again. One passed here counts for this session
        only.
        """
        learner: ActiveLearner
        learner, settings, events = journal.replayed(cls, path, graph_of(graph), strategy, engine)
        learner._settings, learner._events = settings, events
        return learner

    @property
    def covariance(self) -> Covariance:
        """What the field is before any answer: give it to another learner of the same graph as its engine."""
        return self._field.covariance

    def __repr__(self) -> str:
        recipe = self._field.covariance.recipe
        field = f"smoothness {recipe.smoothness.value:g}"
        field += f", overlap {recipe.overlap.value:g}" if recipe.overlap.value else ""
        field += ", centred" if self._field.centring is not None else ""
        return f"ActiveLearner({self.graph}, {len(self._classes)} classes, {len(self._answers)} labelled, {field})"

    def _report(self) -> Report:
        return Report(
            self.graph, self.classes, self.labelled, self.predict(), self.predict_proba(), self.unreached, self.skipped,
            self.drawn,
        )  # fmt: skip

    def _mark(self, nodes: list[int]) -> None:
        """These are checks from now on. What is known of any node stays as it is."""
        for k in nodes:
            self._drawn[k] = None
            self._events.append({"do": "check", "node": k})
        self._audited = None

    def _judge(self) -> tuple[Audit, dict[int, tuple[int, int]]]:
        if self._audited is None:
            nobody = self._skipped | {k for k in self._aside if self._askable(k)}
            self._audited = audited(
                self._field, self._hindsight, self._answers, nobody, self._drawn, self.closed, self.expected_error()
            )
        return self._audited

    @property
    def settled(self) -> bool:
        """Whether the model's own numbers mean anything: not before every class was heard, or five answers a class."""
        return not self.unheard or len(self._answers) >= EARLY * len(self._classes)

    def _changed(self) -> None:
        super()._changed()
        self._audited = None
