"""ActiveLearner: which node to ask next, and what the answers so far say about the others."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import Flags, Floats, is_whole
from fewlabels.errors import LabelError, QueryError, SettingError
from fewlabels.field import Costs, Engine, Field, Screening, make_field
from fewlabels.graph import Graph
from fewlabels.learner import answers, choosing, journal
from fewlabels.learner.answers import Answer, Answers, NumberedAnswer
from fewlabels.learner.checks import EARLY, EVERY, FIRST, Check, NextQuestion, audited, draw, is_due
from fewlabels.learner.estimate import CONFIDENCE, TARGET, Audit, ErrorEstimate, can_stop, estimate, require_share
from fewlabels.learner.hindsight import Hindsight
from fewlabels.learner.outcomes import Foresight, Outcome
from fewlabels.learner.report import PREFIX, Report
from fewlabels.learner.settings import (
    as_array,
    checked_classes,
    described,
    resolve_beta,
    resolve_centring,
    resolve_smoothness,
    seed_of,
)
from fewlabels.learner.suspects import Suspect, chances, contradicted
from fewlabels.learner.verdict import Verdict, verdict
from fewlabels.marginals import largest, predicted
from fewlabels.risk import uncentred_risk, zero_one_risk
from fewlabels.strategies import Strategy, make_strategy
from fewlabels.strategies.first_questions import finding_classes
from fewlabels.strategies.tsa import TSA

if TYPE_CHECKING:
    import pandas as pd

TRUSTED = 0.7  # how much of the expected error is the model's own; the rest is what it got wrong of the answers


class ActiveLearner:
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
    0.1

    A node is its number, or its name where the graph has names. The same seed and the same history give the same
    question, however often `query` is called. One set-up serves many learners: pass a field without labels, made by
    `fewlabels.field.make_field`, as the engine of each. An engine may also be a `fewlabels.field.cluster.Cluster`.

    smoothness is that of the field: 0 is the paper's, more lets few labels reach further; "auto" takes it from the
    graph, and beta from both. centred predicts by what differs from node to node rather than by which classes were
    asked about most ("auto": yes); `prior`, {class: share}, tells the shares of the classes where they are known.
    `smoothness=0, centred=False, beta=1` is the paper; `describe` says what was taken, and why.
    """

    def __init__(
        self,
        graph: Graph,
        classes: Iterable[Hashable],
        strategy: str | Strategy = "tsa",
        beta: float | str = "auto",
        engine: str | Engine | Field = "auto",
        random_state: int | np.random.Generator | None = 0,
        *,
        smoothness: float | str = "auto",
        centred: bool | str = "auto",
        prior: Mapping[Hashable, float] | None = None,
    ) -> None:
        self.graph = graph
        self._classes = checked_classes(classes)
        self._strategy = make_strategy(strategy)
        self._seed = seed_of(random_state)
        self._smoothness = resolve_smoothness(graph, smoothness, engine)
        centring = resolve_centring(centred, prior, self._classes)
        number = resolve_beta(graph, beta, self._smoothness.value)
        self._settings: journal.Record = {
            "n_nodes": graph.n_nodes,
            "classes": list(self._classes),
            "strategy": strategy if isinstance(strategy, str) else None,
            "beta": beta if isinstance(beta, str) else number,
            "engine": engine if isinstance(engine, str) else "auto",
            "seed": self._seed,
            "smoothness": smoothness if self._smoothness.again else self._smoothness.value,
            "centred": centred,
            "prior": None if centring is None or centring.shares is None else centring.shares.tolist(),
        }
        self._field = make_field(graph, len(self._classes), number, engine, self._smoothness.value)
        self._field.centring = centring
        self._hindsight = Hindsight(self._field)
        self._error: float | None = None  # expected in this state, once asked for
        self._answers = Answers()
        self._skipped: set[int] = set()
        self._drawn: dict[int, None] = {}  # the checks, in the order drawn
        self._audited: tuple[Audit, dict[int, tuple[int, int]]] | None = None  # in this state, once asked for
        self._events: list[journal.Record] = []
        self._costs: Costs | None = None  # (n,) the strategy's in this state, once asked for
        self._two_step: Floats | None = None  # (n,) R+q in this state, once asked for
        self._foresight = Foresight(self._field, self._strategy)
        self.last_question: Screening | None = None  # how it was chosen, where not every node was scored in full

    @property
    def classes(self) -> list[Hashable]:
        """The classes, in the order of the columns of `predict_proba`."""
        return list(self._classes)

    @property
    def labelled(self) -> dict[Hashable, Hashable]:
        """{node: label} of the sure answers so far, in the order they were given."""
        return {self.graph.names[node]: self._classes[label] for node, label in self._answers.sure.items()}

    @property
    def answers(self) -> list[Answer]:
        """Every answer so far, sure or not, in the order they were given."""
        return [Answer(*self._named(each)) for each in self._answers.given]

    @property
    def skipped(self) -> list[Hashable]:
        """The nodes that are not asked about."""
        return [self.graph.names[node] for node in sorted(self._skipped)]

    @property
    def unreached(self) -> list[Hashable]:
        """The nodes in components without a label: all classes are equally likely there, `predict` gives the first."""
        return [self.graph.names[node] for node in np.sort(self._field.unlabelled[self._field.island >= 0])]

    def teach(self, node: Any, label: Any, confidence: Any = 1.0) -> None:
        """Take in an answer, or a list of nodes and a list of their labels; all of them or, if one is refused, none.

        confidence is the chance that the answer is right, one for all or one each. At 1 it is the node's label. Below 1
        it is tied to the node by an edge: the graph may contradict it, and several answers to one node add up.
        """
        given = answers.read(self.graph, self._classes, self._field.precision.strength, node, label, confidence)
        new = self._answers.new_answers(given, self.graph.names, self._classes)
        sure = {each.node: each.label for each in new if each.sure}
        unsure = {each.node for each in new if not each.sure}
        if unsure:
            answers.require_span(new, self._field.beta * self.graph.weights.max())
        prepared = self._foresight.prepared.get(next(iter(sure.items()))) if len(new) == len(sure) == 1 else None
        after = [*self._answers.given, *new]
        self._field.attach_all(answers.weights_by_class(after, unsure, len(self._classes)))
        self._field.observe_all(sure)
        for each in new:
            self._answers.add(each)
            self._skipped.discard(each.node)
            how_sure = {} if each.sure else {"confidence": each.confidence}
            self._record("teach", node=each.node, label=self._classes[each.label], **how_sure)
        if new:
            self._costs = prepared

    def forget(self, node: Any) -> None:
        """Take back all answers to this node, or its skip; or those of a list of nodes, all of them or none."""
        nodes = list(dict.fromkeys(answers.positions(self.graph, node)))
        for k in nodes:
            if self._askable(k):
                raise LabelError(
                    f"node {self.graph.names[k]!r} has neither an answer nor a skip to forget: {len(self._answers)} "
                    "other nodes have answers, learner.answers lists them."
                )
        nothing = answers.weights_by_class([], self._answers.unsure(nodes), len(self._classes))
        self._field.attach_all(nothing)
        self._field.forget_all([k for k in nodes if k in self._answers.sure])
        self._skipped -= {k for k in nodes if k not in self._answers}
        self._answers.drop(nodes)
        for k in nodes:
            self._record("forget", node=k)

    def skip(self, node: Hashable) -> None:
        """Do not ask about this node again. It still counts in the expected error, and can be taught."""
        k = self.graph.position(node)
        if k in self._answers:
            label = f"labelled {self.labelled[node]!r}" if k in self._answers.sure else "answered"
            raise LabelError(f"node {node!r} is {label}: there is no question to skip.")
        if k not in self._skipped:
            self._skipped.add(k)
            self._record("skip", node=k)

    def add_class(self, label: Hashable) -> None:
        """Add one more class that a node may turn out to be."""
        self._classes = checked_classes([*self._classes, label])
        self._field.add_class()
        self._record("add_class", label=self._classes[-1])

    @overload
    def query(self, *, without: Iterable[Hashable] = ()) -> Any: ...

    @overload
    def query(self, k: int, *, without: Iterable[Hashable] = ()) -> list[Any]: ...

    def query(self, k: int | None = None, *, without: Iterable[Hashable] = ()) -> Any:
        """The node to ask next, or a list of k different ones; none in `without`, which others may be answering.

        The k are chosen one after another, each as if those before had been answered with their most probable class.
        """
        wanted = 1 if k is None else k
        if not is_whole(wanted) or wanted < 1:
            raise QueryError(f"query({k!r}): ask for a whole number of nodes, at least 1.")
        others = [node for node in {self.graph.position(node) for node in without} if self._askable(node)]
        left = self.graph.n_nodes - len(self._answers) - len(self._skipped) - len(others)
        choosing.require_left(wanted, left, len(self._answers), len(self._skipped), len(others))
        rng = self._rng(len(self._events))

        def choose(costs: Costs) -> int:
            costs.values[others] = np.nan
            node = choosing.pick(costs.values, rng)
            self.last_question = self._told(costs.screening, node, float(costs.values[node]))
            return node

        now = self._costs_now()
        first = Costs(now.values.copy(), now.screening)
        chosen = choosing.in_turn(self._strategy, self._field, wanted, choose, first)
        names = [self.graph.names[node] for node in chosen]
        return names[0] if k is None else names

    def costs(self) -> Floats:
        """(n,) the strategy's cost of every node, the lowest is asked; NaN where answered or skipped."""
        return self._costs_now().values.copy()

    def gains(self) -> Floats:
        """(n,) drop in the expected error, by TSA marginals, that asking each node promises; NaN as in `costs`.

        It may be negative: an answer can reveal that others are less certain than they seemed.
        """
        risk = uncentred_risk(self._field)
        if type(self._strategy) is TSA and not finding_classes(self._field):  # a subclass may have costs of its own
            return risk - self._costs_now().values
        if self._two_step is None:
            self._two_step = choosing.at_nodes(self._field, self._field.two_step_costs().values)
        return risk - self._two_step

    def outcomes(self, node: Hashable) -> list[Outcome]:
        """What each possible answer to this node would change. Needs room for a second field."""
        k = self.graph.position(node)
        if k in self._answers.sure:
            raise LabelError(
                f"node {node!r} is labelled {self._classes[self._answers.sure[k]]!r}: its answer is known."
            )
        return self._foresight.outcomes(k, self._classes, self._answers.given, self.expected_error())

    def prepare(self, node: Hashable, label: Any) -> None:
        """Work out now what to ask once this answer is taught, so that `query` is ready at once.

        Needs room for a second field. Anything else that is taught or done drops what was prepared.
        """
        k, c = self.graph.position(node), answers.class_number(self._classes, label)
        if k not in self._answers.sure:
            self._foresight.prepare(k, c)

    @property
    def ready(self) -> bool:
        """Whether the costs of this state are known, so that `query` answers at once."""
        return self._costs is not None

    @property
    def can_look_further(self) -> bool:
        """Whether there is room for the second field that `outcomes` and `prepare` need."""
        return self._field.can_copy()

    def upcoming(self, node: Hashable) -> dict[Hashable, Any]:
        """{label: the node to ask next if that is the answer to this node}, for the answers that were prepared."""
        k = self.graph.position(node)
        return {
            self._classes[c]: self.graph.names[choosing.pick(costs.values, self._rng(len(self._events) + 1))]
            for (asked, c), costs in self._foresight.prepared.items()
            if asked == k and not np.isnan(costs.values).all()
        }

    def predict(self) -> NDArray[Any]:
        """(n,) classes: a labelled node's own, elsewhere that of label propagation, centred where the learner is; at a
        node with unsure answers the most probable. On a tie the class listed first.
        """
        number = np.zeros(self.graph.n_nodes, dtype=np.int64)
        number[self._field.unlabelled] = predicted(self._field)
        if unsure := self._answers.with_unsure:
            number[unsure] = largest(self.predict_proba()[unsure])
        number[list(self._answers.sure)] = list(self._answers.sure.values())
        return as_array(self._classes)[number]

    def predict_proba(self) -> Floats:
        """(n, C) chance of each class at each node, by TSA marginals; certain where labelled.

        At a node with unsure answers, what the others say of it together with the odds that these are right.
        """
        p = np.zeros((self.graph.n_nodes, len(self._classes)))
        p[self._field.unlabelled] = chances(self._field, self._answers.given)
        p[list(self._answers.sure), list(self._answers.sure.values())] = 1
        return p

    def doubtful(self, k: int | None = None) -> list[Suspect]:
        """The answers that the graph contradicts, at most k, those with the least chance first: ask about them again.

        Each is judged by what all other answers say of its node; one that no other answer reaches is not judged.
        """
        if k is not None and (not is_whole(k) or k < 0):
            raise QueryError(f"doubtful({k!r}): ask for a whole number of answers, at least 0.")
        found = contradicted(self._field, self._answers.given, self.graph.components())
        return [Suspect(*self._named(each), self._classes[instead], chance) for each, instead, chance in found[:k]]

    def expected_error(self) -> float:
        """The share of nodes expected to be predicted wrongly: the zero-one risk of the chances, R.

        Where the learner is centred, R is set beside the share of the answers so far that the others would have
        predicted wrongly: R alone is too sure of itself, the answers are harder than most nodes (docs/maths.md,
        "Few labels"). Before every class has been heard it says little.
        """
        if self._error is None:
            risk = zero_one_risk(self.predict_proba(), self.graph.n_nodes)
            self._error = risk
            wrong = None if self._field.centring is None else self._hindsight.wrong(self._answers.given)
            if wrong is not None:
                left = len(self._field.unlabelled) / self.graph.n_nodes
                self._error = TRUSTED * risk + (1 - TRUSTED) * wrong * left
        return self._error

    def check(self, k: int = 1, *, without: Iterable[Hashable] = ()) -> list[Any]:
        """k nodes drawn at random, not by cost: teach their answers like any other, and they measure the error.

        A check stays one until it is answered or skipped, so those not answered yet come first; ask about them without
        showing a prediction. None is in `without`, which others may be answering.
        """
        if not is_whole(k) or k < 1:
            raise QueryError(f"check({k!r}): ask for a whole number of nodes, at least 1.")
        others = {self.graph.position(node) for node in without}
        waiting = [node for node in self._drawn if self._askable(node) and node not in others][:k]
        if len(waiting) < k:
            left = self._left(others.union(self._drawn))
            found = len(waiting) + int(left.sum())
            choosing.require_left(k, found, len(self._answers), len(self._skipped), len(others), "check")
            waiting += self._mark(draw(left, k - len(waiting), self._rng(len(self._events))))
        return [self.graph.names[node] for node in waiting]

    def add_checks(self, nodes: Iterable[Hashable]) -> None:
        """Remember these nodes, which were drawn at random elsewhere and have no answer yet, as checks."""
        found = [self.graph.position(node) for node in nodes]
        for k in found:
            if k in self._answers and k not in self._drawn:
                raise LabelError(
                    f"node {self.graph.names[k]!r} has an answer already: a check is drawn first and answered then."
                )
        self._mark([k for k in dict.fromkeys(found) if k not in self._drawn])

    @property
    def checks(self) -> list[Check]:
        """The checks in the order drawn, each with its answer and what all other answers predict in its place."""
        names, judged = self.graph.names, self._judge()[1]
        found = {k: (self._classes[said], self._classes[other]) for k, (said, other) in judged.items()}
        return [Check(names[k], *found.get(k, (None, None)), k in self._skipped) for k in self._drawn]

    def is_check(self, node: Hashable) -> bool:
        """Whether this node was drawn as a check."""
        return self.graph.position(node) in self._drawn

    @property
    def audit(self) -> Audit:
        """What the checks say, in numbers: all that `error`, `can_stop` and `verdict` depend on."""
        return self._judge()[0]

    def error(self, confidence: float = CONFIDENCE) -> ErrorEstimate:
        """The share of all nodes that are predicted wrongly, measured by the checks (docs/honest.md).

        Each check is judged by what all other answers predict for it now. Without checks the interval is as wide as it
        can be, and the value is the share of the answers that the others predict wrongly.
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
        return verdict(self.audit, target, confidence, self._settled)

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
            return NextQuestion(self.check(without=others)[0], True)
        return NextQuestion(self.query(without=others), False)

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
        answered = list(dict.fromkeys(each.node for each in self._answers.given))
        if not every or len(answered) < FIRST:
            return False
        others = [k for k in map(self.graph.position, without) if self._askable(k)]
        asked = [*answered, *sorted(others, key=lambda k: k in self._drawn)]  # a check others answer is the last of all
        return is_due(self.audit, target, confidence, asked, self._drawn, self._settled, every)

    @property
    def unheard(self) -> list[Hashable]:
        """The classes that no answer has named."""
        named = {each.label for each in self._answers.given}
        return [name for c, name in enumerate(self._classes) if c not in named]

    def describe(self) -> str:
        """One line: the field that was taken, and why."""
        return described(self._smoothness, self._field.beta, self._field.centring)

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
        """Write settings and every answer, skip and forget as JSON lines; an earlier save in that file is extended."""
        journal.write(path, {"graph": self.graph.fingerprint(), **self._settings}, self._events)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        graph: Graph,
        strategy: Strategy | None = None,
        engine: str | Engine | Field | None = None,
    ) -> ActiveLearner:
        """Replay a saved learner on its graph: the same state and the same next question.

        A strategy or an engine of your own is not in the file: pass it again. One passed here counts for this session
        only.
        """
        learner: ActiveLearner
        learner, settings, events = journal.replayed(cls, path, graph, strategy, engine)
        learner._settings, learner._events = settings, events
        return learner

    def __repr__(self) -> str:
        field = f"smoothness {self._smoothness.value:g}{', centred' if self._field.centring is not None else ''}"
        return f"ActiveLearner({self.graph}, {len(self._classes)} classes, {len(self._answers)} labelled, {field})"

    def _report(self) -> Report:
        return Report(
            self.graph, self.classes, self.labelled, self.predict(), self.predict_proba(), self.unreached, self.skipped,
            [self.graph.names[node] for node in self._drawn],
        )  # fmt: skip

    def _rng(self, n_events: int) -> np.random.Generator:
        """Draws the question that follows this many events."""
        return np.random.default_rng([self._seed, n_events])

    def _named(self, answer: NumberedAnswer) -> tuple[Hashable, Hashable, float]:
        return self.graph.names[answer.node], self._classes[answer.label], answer.confidence

    def _askable(self, k: int) -> bool:
        return k not in self._answers and k not in self._skipped

    def _left(self, without: Iterable[int]) -> Flags:
        """(n,) the nodes that may be asked about, but for these."""
        left = np.ones(self.graph.n_nodes, dtype=bool)
        left[[*self._answers.nodes, *self._skipped, *without]] = False
        return left

    def _mark(self, nodes: list[int]) -> list[int]:
        """These are checks from now on. What is known of any node stays as it is."""
        for k in nodes:
            self._drawn[k] = None
            self._events.append({"do": "check", "node": k})
        self._audited = None
        return nodes

    def _judge(self) -> tuple[Audit, dict[int, tuple[int, int]]]:
        if self._audited is None:
            self._audited = audited(
                self._field, self._hindsight, self._answers, self._skipped, self._drawn, self.expected_error()
            )
        return self._audited

    @property
    def _settled(self) -> bool:
        """Whether the model's own numbers mean anything: not before the classes were heard."""
        return not self.unheard or len(self._answers) >= EARLY * len(self._classes)

    def _costs_now(self) -> Costs:
        if self._costs is None:
            self._costs = choosing.node_costs(self._strategy, self._field)
        return self._costs

    def _told(self, screening: Screening | None, node: int, cost: float) -> Screening | None:
        """The screening as it is for this node, which need not be the one of the lowest cost."""
        if screening is None:
            return None
        gain = screening.gain + screening.cost - cost
        return replace(screening, node=self.graph.names[node], cost=cost, gain=gain)

    def _record(self, do: str, **what: Any) -> None:
        """Record an event: the field hears whether its node may still be asked, and what was prepared is dropped."""
        self._events.append({"do": do, **what})
        if "node" in what:
            self._field.skip(what["node"], not self._askable(what["node"]))
        self._costs = self._two_step = self._error = self._audited = None
        self._foresight = Foresight(self._field, self._strategy)
