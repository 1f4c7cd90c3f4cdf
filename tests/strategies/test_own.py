"""A strategy of one's own needs only what the docs name, and asks the same on every engine."""

import numpy as np
import pytest
from support.fields import field_of
from support.graphs import in_pieces, random_labels

import fewlabels as fl


class FarthestFromAnyLabel:
    """README's example."""

    def cost(self, field):
        return -field.variance.clip(max=1e9)


class LeastSaid:
    """By everything that the docs name: what the two best-connected nodes say about each node, and how sure h is."""

    def cost(self, field):
        degree = np.asarray(field.weights.sum(axis=1)).ravel()[field.unlabelled]  # (u,)
        by_degree = field.unlabelled[np.lexsort((field.unlabelled, -degree))]
        said = np.abs(field.columns(by_degree[:2])).sum(axis=1)  # (u,)
        known = (field.label >= 0).sum()
        return said + field.h.max(axis=1) + known + np.where(field.island < 0, 0.0, 1.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton.runtime.interpreter")
@pytest.mark.parametrize("strategy", [FarthestFromAnyLabel(), LeastSaid()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("engine", ["sparse", "gpu"])
def test_it_asks_what_it_asks_on_the_dense_engine(engine, strategy, monkeypatch):
    if engine == "gpu":
        pytest.importorskip("support.gpus").anywhere(monkeypatch)
    rng = np.random.default_rng(3)
    graph = fl.Graph(in_pieces([14, 6, 1], rng))
    ours = fl.ActiveLearner(graph, range(3), strategy, engine=engine)
    dense = fl.ActiveLearner(graph, range(3), strategy, engine="dense")
    for node, label in random_labels(21, 12, 3, rng).items():
        np.testing.assert_allclose(ours.costs(), dense.costs(), rtol=1e-6, atol=1e-6)
        assert ours.query() == dense.query()
        for learner in (ours, dense):
            learner.teach(node, label)


def test_what_a_field_says_of_its_costs_will_do_as_a_strategy():
    class Own:
        def cost(self, field):
            return field.two_step_costs()

    graph = fl.Graph.from_edges(range(9), range(1, 10))
    ours, tsa = (fl.ActiveLearner(graph, ["a", "b"], strategy) for strategy in (Own(), "tsa"))
    for learner in (ours, tsa):
        learner.teach([0, 9], ["a", "b"])
    np.testing.assert_array_equal(ours.costs(), tsa.costs())
    field = field_of(graph, 2)
    np.testing.assert_array_equal(Own().cost(field).values, field.two_step_costs().values)
