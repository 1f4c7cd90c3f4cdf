"""Answers in, predictions out: the part of a learner that asks nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewlabels.arrays import Floats, Ints, is_whole
from fewlabels.errors import LabelError, QueryError, SettingError
from fewlabels.field import Answers as FieldAnswers
from fewlabels.field import Conditioned, FieldSpec
from fewlabels.field.covariance import Covariance
from fewlabels.field.opinion import Opinion
from fewlabels.graph import Graph
from fewlabels.graph.given import graph_of
from fewlabels.learner import answers, journal
from fewlabels.learner.answers import Answer, Answers, NumberedAnswer
from fewlabels.learner.hindsight import Hindsight
from fewlabels.learner.prior import checked_chances, packed, split_prior
from fewlabels.learner.settings import (
    PAPER,
    as_array,
    checked_classes,
    described,
    of_field,
    resolve_centring,
    seed_of,
    warn_if_it_cannot_be_saved,
)
from fewlabels.learner.suspects import Suspect, chances, contradicted
from fewlabels.marginals import largest, predicted
from fewlabels.risk import zero_one_risk
from fewlabels.strategies import Strategy, make_strategy

if TYPE_CHECKING:
    import pandas as pd


class Taught:
    """What was answered, and what follows from it for every node."""

    def __init__(
        self,
        graph: Graph | Any,
        classes: Iterable[Hashable],
        strategy: str | Strategy = "tsa",
        beta: float | str = "auto",
        engine: str | Covariance = "auto",
        random_state: int | np.random.Generator | None = 0,
        *,
        smoothness: float | str = "auto",
        overlap: float | str = "auto",
        centred: bool | str = "auto",
        field: str = "auto",
        prior: Mapping[Hashable, float] | ArrayLike | pd.DataFrame | None = None,
    ) -> None:
        graph = self.graph = graph_of(graph)
        warn_if_it_cannot_be_saved(graph)
        self._classes = checked_classes(classes)
        self._strategy = make_strategy(strategy)
        self._seed = seed_of(random_state)
        taken = of_field(field, beta=beta, smoothness=smoothness, overlap=overlap, centred=centred)
        beta, smoothness, overlap, centred = (taken[name] for name in PAPER)
        shares, chances = split_prior(prior, graph, self._classes)
        centring = resolve_centring(centred, shares, self._classes)
        recipe = FieldSpec(beta, smoothness, overlap, engine).resolved(graph)
        self._settings: journal.Record = {
            "n_nodes": graph.n_nodes,
            "classes": list(self._classes),
            "strategy": strategy if isinstance(strategy, str) else None,
            "beta": beta if isinstance(beta, str) else recipe.beta,
            "engine": engine if isinstance(engine, str) else "auto",
            "seed": self._seed,
            "lone": False,  # nodes without an edge count in no mean and no size
            "smoothness": smoothness if recipe.smoothness.again else recipe.smoothness.value,
            "overlap": overlap if recipe.overlap.again else recipe.overlap.value,
            "centred": centred,
            "prior": packed(chances) if centring is None or centring.shares is None else centring.shares.tolist(),
        }
        covariance = recipe.build() if isinstance(engine, str) else engine
        opinion = None if chances is None else Opinion(covariance.precision.links, chances)
        self._field = Conditioned(covariance, FieldAnswers(len(self._classes)), centring, opinion)
        self._begin()

    def _begin(self) -> None:
        """The state before the first answer."""
        self._chances: Floats | None = None  # (n, C) in this state, once asked for
        self._error: float | None = None  # expected in this state, once asked for
        self._looked_back: Hindsight | None = None  # in this state, once asked for
        self._answers = Answers()
        self._skipped: set[int] = set()
        self._events: list[journal.Record] = []

    @property
    def _hindsight(self) -> Hindsight:
        if self._looked_back is None:
            self._looked_back = Hindsight(self._field)
        return self._looked_back

    @property
    def classes(self) -> list[Hashable]:
        """The classes, in the order of the columns of `predict_proba`."""
        return list(self._classes)

    @property
    def n_classes(self) -> int:
        return len(self._classes)

    @property
    def n_labelled(self) -> int:
        """How many nodes have a sure label."""
        return len(self._answers.sure)

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
    def label_numbers(self) -> Ints:
        """(n,) the number of each node's sure label among the classes, -1 where it has none."""
        return self._field.label.copy()

    @property
    def unreached(self) -> list[Hashable]:
        """The nodes in components without a label: all classes are equally likely there, and `predict` gives the first;
        or they are as likely as the shares given as prior, or as the model given as prior thinks."""
        return [self.graph.names[node] for node in np.sort(self._field.unlabelled[self._field.island >= 0])]

    @property
    def unheard(self) -> list[Hashable]:
        """The classes that no answer has named."""
        named = self._answers.named
        return [name for c, name in enumerate(self._classes) if c not in named]

    def describe(self) -> str:
        """One line: the field that was taken, and why; and how far a model that was given as prior is trusted."""
        opinion = self._field.opinion
        trust = None if opinion is None else opinion.trust(self._field)
        return described(self._field.covariance.recipe, self._field.centring, trust)

    def teach(self, node: Any, label: Any, confidence: Any = 1.0) -> None:
        """Take in an answer, or a list of nodes and a list of their labels; all of them or, if one is refused, none.

        confidence is the chance that the answer is right, one for all or one each. At 1 it is the node's label. Below 1
        it is tied to the node by an edge: the graph may contradict it, and several answers to one node add up.
        """
        given = answers.read(self.graph, self._classes, self._field.precision.strength, node, label, confidence)
        self._take_in(self._answers.new_answers(given, self.graph.names, self._classes))

    def _take_in(self, new: list[NumberedAnswer]) -> None:
        sure = {each.node: each.label for each in new if each.sure}
        unsure = {each.node for each in new if not each.sure}
        if unsure:
            answers.require_span(new, self._field.precision.links.max())
            after = [*self._answers.given, *new]
            self._field = self._field.with_unsure(answers.weights_by_class(after, unsure, len(self._classes)))
        if sure:
            self._field = self._field.with_answers(sure)
        for each in new:
            self._answers.add(each)
            self._skipped.discard(each.node)
            how_sure = {} if each.sure else {"confidence": each.confidence}
            self._events.append({"do": "teach", "node": each.node, "label": self._classes[each.label], **how_sure})
        if new:
            self._changed()

    def forget(self, node: Any) -> None:
        """Take back all answers to this node, or its skip; or those of a list of nodes, all of them or none."""
        nodes = list(dict.fromkeys(answers.positions(self.graph, node)))
        for k in nodes:
            if self._askable(k):
                raise LabelError(
                    f"node {self.graph.names[k]!r} has neither an answer nor a skip to forget: {len(self._answers)} "
                    "other nodes have answers, learner.answers lists them."
                )
        if unsure := self._answers.unsure(nodes):
            self._field = self._field.with_unsure(answers.weights_by_class([], unsure, len(self._classes)))
        if sure := [k for k in nodes if k in self._answers.sure]:
            self._field = self._field.without(sure)
        self._skipped -= {k for k in nodes if k not in self._answers}
        self._answers.drop(nodes)
        if nodes:
            self._events += [{"do": "forget", "node": k} for k in nodes]
            self._changed()

    def skip(self, node: Any) -> None:
        """Do not ask about this node again, or about those of a list. It still counts in the expected error, and can be
        taught.
        """
        nodes = dict.fromkeys(answers.positions(self.graph, node))
        for k in nodes:
            if k in self._answers:
                name = self.graph.names[k]
                label = f"labelled {self.labelled[name]!r}" if k in self._answers.sure else "answered"
                raise LabelError(f"node {name!r} is {label}: there is no question to skip.")
        new = [k for k in nodes if k not in self._skipped]
        if new:
            self._skipped.update(new)
            self._events += [{"do": "skip", "node": k} for k in new]
            self._changed()

    def add_class(self, label: Hashable) -> None:
        """Add one more class that a node may turn out to be."""
        self._classes = checked_classes([*self._classes, label])
        self._field = self._field.with_class()
        self._events.append({"do": "add_class", "label": self._classes[-1]})
        self._changed()

    def begin_again(self, classes: Iterable[Hashable]) -> None:
        """Forget everything ever taught, and any prior; from now on these are the classes. The graph's set-up stays."""
        self._classes = checked_classes(classes)
        self._settings |= {"classes": list(self._classes), "prior": None}
        self._field = self._field.without_answers(len(self._classes))
        self._begin()

    def set_prior(self, prior: ArrayLike | pd.DataFrame | None) -> None:
        """Take another model's chances, (n, C) or a frame, in the place of those before; None: no model's."""
        if isinstance(prior, Mapping):
            raise SettingError("set_prior takes the chances of a model: give shares of the classes to a new learner.")
        chances = None if prior is None else checked_chances(prior, self.graph.names, self._classes)
        opinion = None if chances is None else Opinion(self._field.precision.links, chances)
        self._field = self._field.with_model(self._field.centring, opinion)
        self._events.append({"do": "prior", "prior": packed(chances)})
        self._changed()

    def predict(self) -> NDArray[Any]:
        """(n,) classes: a labelled node's own, elsewhere that of label propagation, centred where the learner is; at a
        node with unsure answers the most probable. On a tie the class listed first.
        """
        number = np.zeros(self.graph.n_nodes, dtype=np.int64)
        number[self._field.unlabelled] = predicted(self._field)
        if unsure := self._answers.with_unsure:
            number[unsure] = largest(self.predict_proba()[unsure])
        known = self._field.label >= 0
        number[known] = self._field.label[known]
        return as_array(self._classes)[number]

    def predict_proba(self) -> Floats:
        """(n, C) chance of each class at each node, by TSA marginals; certain where labelled.

        At a node with unsure answers, what the others say of it together with the odds that these are right.
        """
        if self._chances is None:
            field, p = self._field, np.zeros((self.graph.n_nodes, len(self._classes)))
            p[field.unlabelled] = chances(field, self._answers.unsure_given)
            known = np.flatnonzero(field.label >= 0)
            p[known, field.label[known]] = 1
            self._chances = p
        return self._chances.copy()

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

        Where the learner is centred, R is corrected by how much the answers so far surprised it (docs/maths.md, "How
        wrong"). Before every class has been heard it says little.
        """
        if self._error is None:
            risk = zero_one_risk(self.predict_proba(), self.graph.n_nodes)
            left = len(self._field.unlabelled) / self.graph.n_nodes
            if self._field.centring is not None and left:
                risk = left * self._hindsight.surprise(self._answers.given).expected_error(risk / left)
            self._error = risk
        return self._error

    def _named(self, answer: NumberedAnswer) -> tuple[Hashable, Hashable, float]:
        return self.graph.names[answer.node], self._classes[answer.label], answer.confidence

    def _askable(self, k: int) -> bool:
        return k not in self._answers and k not in self._skipped

    def _changed(self) -> None:
        """There was an event: what was known of the last state is dropped."""
        closed = frozenset(self._skipped | self._answers.nodes)  # one with unsure answers is not asked about, either
        if closed != self._field.closed:
            self._field = self._field.without_questions(closed)
        self._chances = self._error = self._looked_back = None
