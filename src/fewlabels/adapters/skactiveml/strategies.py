"""scikit-activeml's strategies, which see points, as strategies of ours."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewlabels.arrays import TIE, Floats
from fewlabels.errors import SettingError
from fewlabels.field import Conditioned

MODELS = ("clf", "estimator", "discriminator", "ensemble")  # what `query` may need, and is given by default
TREES = 20  # of the default ensemble
BINARY = ("EpistemicUncertaintySampling",)  # for two classes only


class FromSkactiveml:
    """A pool query strategy of scikit-activeml, or any object with its `query`, as a strategy of ours.

    >>> from skactiveml.pool import UncertaintySampling
    >>> from fewlabels import ActiveLearner, Graph
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> learner = ActiveLearner(Graph.from_features(X, 1), ["a", "b"], FromSkactiveml(UncertaintySampling(), X))
    >>> learner.teach([0, 3], ["a", "b"])
    >>> learner.query() in (1, 2)
    True

    X (n, d) has a row for every node, and is all that the strategy sees besides the labels, which come as class
    numbers and NaN. What else `query` needs is given by keyword, or else by default: `clf` and `estimator` are a
    ParzenWindowClassifier, `ensemble` is 20 random trees. The question is the one that the strategy names; nodes it
    gives no finite utility share the highest cost. A strategy without a random_state gets 0, so that the same history
    gives the same question.
    """

    def __init__(self, query_strategy: Any, X: ArrayLike, **query_arguments: Any) -> None:
        if isinstance(query_strategy, type) or not callable(getattr(query_strategy, "query", None)):
            raise SettingError(f"{query_strategy!r} has no query(X, y, ...): give a pool query strategy instance.")
        missing = getattr(query_strategy, "missing_label", np.nan)
        if missing == missing:
            raise SettingError(f"the strategy's missing_label is {missing!r}: make it with NaN, its default.")
        self.query_strategy = deepcopy(query_strategy)
        if getattr(self.query_strategy, "random_state", 0) is None:
            self.query_strategy.random_state = 0
        self.X = np.asarray(X, dtype=float)
        self.query_arguments = query_arguments
        takes = inspect.signature(query_strategy.query).parameters
        self._models = [name for name in MODELS if name in takes and name not in query_arguments]

    def cost(self, field: Conditioned) -> Floats:
        if len(self.X) != field.n_nodes:
            raise SettingError(
                f"X has {len(self.X)} rows and the graph {field.n_nodes} nodes: give one for every node."
            )
        from threadpoolctl import threadpool_limits

        u = field.unlabelled
        open_ = u[field.askable]
        if not len(open_):
            return np.zeros(len(u))
        y = np.where(field.label >= 0, field.label, np.nan)
        models = {name: default_model(name, self.query_strategy, self.X, field.n_classes) for name in self._models}
        with threadpool_limits(1):  # so that no digit depends on how many threads there are
            chosen, utilities = self.query_strategy.query(
                X=self.X,
                y=y,
                candidates=None if len(open_) == len(u) else open_,
                batch_size=1,
                return_utilities=True,
                **models,
                **self.query_arguments,
            )
        return named_first(-np.asarray(utilities, dtype=float)[0, u], int(np.flatnonzero(u == chosen[0])[0]))


def named_first(cost: Floats, place: int) -> Floats:
    """(u,) the costs made finite, the one at this place lowest by more than a tie."""
    finite = np.isfinite(cost)
    cost = np.where(finite, cost, cost[finite].max(initial=0) + 1)
    others = np.delete(cost, place)
    if len(others):
        cost[place] = min(cost[place], others.min() - 2 * TIE * max(1, abs(others.min())))
    return cost


def default_model(argument: str, query_strategy: Any, X: Floats, n_classes: int) -> Any:
    """The model for this argument of `query` if the user gives none.

    The Parzen window's gamma is 1 / (d var X), scikit-learn's "scale", so that the units of X do not matter.
    """
    from skactiveml.classifier import MixtureModelClassifier, ParzenWindowClassifier, SklearnClassifier
    from skactiveml.pool import FourDs

    classes = list(range(n_classes))
    if argument == "ensemble":
        from sklearn.ensemble import RandomForestClassifier

        return SklearnClassifier(RandomForestClassifier(TREES, random_state=0), classes=classes, random_state=0)
    if isinstance(query_strategy, FourDs):  # works with a mixture of Gaussians only
        return MixtureModelClassifier(classes=classes, random_state=0)
    gamma = 1 / (X.shape[1] * (X.var() or 1))
    return ParzenWindowClassifier(classes=classes, metric_dict={"gamma": gamma}, random_state=0)


def offered() -> dict[str, Any]:
    """{name: class} of scikit-activeml's pool strategies that ask for labels and need no other strategy."""
    from skactiveml import pool

    return {name: getattr(pool, name) for name in sorted(pool.__all__) if _is_offered(getattr(pool, name))}


def _is_offered(thing: Any) -> bool:
    query: Any = getattr(thing, "query", None)
    return (
        inspect.isclass(thing)
        and query is not None
        and _needed(thing) <= {"classes"}
        and _needed(query) <= {"X", "y", *MODELS}
        and "query_strategy" not in inspect.signature(thing).parameters
    )


def made(strategy: Any, n_classes: int, seed: int) -> Any:
    """A strategy of scikit-activeml with its default settings and this seed."""
    classes = {"classes": list(range(n_classes))} if "classes" in _needed(strategy) else {}
    return strategy(random_state=seed, **classes)


def _needed(call: Any) -> set[str]:
    """The arguments without a default."""
    parameters = inspect.signature(call).parameters.values()
    return {p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD} - {"self"}
