"""GraphLearning's acquisition functions as strategies of ours."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from fewlabels.arrays import Floats
from fewlabels.errors import SettingError, nearest
from fewlabels.field import Conditioned
from fewlabels.marginals import harmonic_marginals

ACQUISITIONS = ("unc_sampling", "var_opt", "sigma_opt", "model_change", "model_change_var_opt")
LEVEL = 1e-3  # GraphLearning's tau, where a component has no label: its level then has the variance 1 / (tau m)


class FromGraphLearning:
    """An acquisition function of GraphLearning, by its name or its class, as a strategy of ours.

    It sees our field: the covariance `C` is all of G, so nothing is cut off after some eigenvectors, and the scores `u`
    are label propagation, which is what GraphLearning's `laplace` model computes. Where no label reaches, G is that of
    GraphLearning's tau = 0.001. So it also starts with no label, with one class, and on a graph in pieces. Other
    arguments of the acquisition function, such as `gamma2`, are passed on.
    """

    def __init__(self, acquisition: str | type, **arguments: Any) -> None:
        self.acquisition = named(acquisition) if isinstance(acquisition, str) else acquisition
        if not callable(getattr(self.acquisition, "compute", None)):
            raise SettingError(
                f"{acquisition!r} has no compute(u, candidate_ind): give an acquisition function's class."
            )
        self.arguments = arguments

    def cost(self, field: Conditioned) -> Floats:
        u = len(field.unlabelled)
        if not u:
            return np.zeros(0)
        arguments = dict(self.arguments)
        if "C" in inspect.signature(self.acquisition).parameters:
            arguments.setdefault("C", covariance(field))
        value = self.acquisition(**arguments).compute(harmonic_marginals(field), np.arange(u))  # higher is better
        return -np.asarray(value, dtype=float)


def named(name: str) -> Any:
    """The acquisition function's class, from the installed GraphLearning."""
    if name not in ACQUISITIONS:
        raise SettingError(
            f"GraphLearning has no acquisition function {name!r} known here: choose one of "
            f"{', '.join(ACQUISITIONS)}.{nearest(name, ACQUISITIONS)}"
        )
    try:
        from graphlearning import active_learning
    except ImportError as error:
        raise SettingError(f"graphlearning:{name} needs GraphLearning ({error}): pip install graphlearning.") from None
    return getattr(active_learning, name)


def covariance(field: Conditioned) -> Floats:
    """(u, u) G; in a component of m nodes without a label, its finite part plus 1 / (tau m) for the unknown level."""
    G, island = field.G, field.island
    if (island < 0).all():
        return G
    for component in np.unique(island[island >= 0]):
        members = np.flatnonzero(island == component)
        G[np.ix_(members, members)] += 1 / (LEVEL * len(members))
    return G
