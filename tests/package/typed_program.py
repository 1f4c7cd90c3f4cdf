"""A user's program, for the type checker: what fewlabels promises has a type, and the type is the one people expect.

`mypy --strict typed_program.py` where fewlabels is installed (`make check-package`); a name that lost its type fails.
"""

from collections.abc import Hashable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import fewlabels as fl


class Yours:
    """A strategy is anything with a cost."""

    def cost(self, field: Any) -> NDArray[np.float64]:
        return np.zeros(len(field.unlabelled))


def program() -> None:
    graph = fl.Graph.from_edges([0, 1, 2], [1, 2, 3])
    assert_type(graph, fl.Graph)
    assert_type(fl.Graph([[0, 1], [1, 0]]), fl.Graph)
    assert_type(fl.Graph.from_features(np.eye(3), n_neighbors=1), fl.Graph)
    assert_type(graph.n_nodes, int)
    assert_type(graph.degrees(), NDArray[np.float64])
    assert_type(graph.components(), NDArray[np.int64])

    learner = fl.ActiveLearner(
        graph, classes=["cat", "dog"], strategy="tsa", beta="auto", engine="auto", random_state=0
    )
    assert_type(learner, fl.ActiveLearner)
    learner.teach([0, 3], ["cat", "dog"])
    assert_type(learner.query(1), list[Any])  # nodes are numbers, or the graph's own names
    assert_type(learner.costs(), NDArray[np.float64])
    assert_type(learner.gains(), NDArray[np.float64])
    assert_type(learner.predict(), NDArray[Any])  # labels are what the classes are
    assert_type(learner.predict_proba(), NDArray[np.float64])
    assert_type(learner.expected_error(), float)
    assert_type(learner.labelled, dict[Hashable, Hashable])
    assert_type(learner.unreached, list[Hashable])
    learner.skip(learner.query())
    learner.forget(3)
    learner.add_class("owl")
    learner.save("answers.jsonl")
    assert_type(fl.ActiveLearner.load("answers.jsonl", graph), fl.ActiveLearner)

    assert_type(fl.__version__, str)
    names = list(fl.STRATEGIES)
    assert_type(names, list[str])

    fl.ActiveLearner(graph, ["cat", "dog"], strategy=3)  # type: ignore[arg-type]  # a wrong argument is seen
    fl.Grpah  # type: ignore[attr-defined]  # and a wrong name  # noqa: B018

    fl.ActiveLearner(graph, ["cat", "dog"], strategy=Yours())
