"""Marginals: the chance of each class at each unlabelled node, and the most probable class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import TIE, Flags, Floats, Ints
from fewlabels.centring import Centre, centred_h
from fewlabels.kernels import reference
from fewlabels.kernels.reference import answer

if TYPE_CHECKING:
    from fewlabels.field import Conditioned
    from fewlabels.kernels.exact.elimination import Tree


def two_step_marginals(field: Conditioned) -> Floats:
    """(u, C) TSA marginals: sigmoid(2 h_k / G_kk), normalised (Jun & Nowak 2016, decision value f_k); with the centred
    h where the field is centred, and with the pull of a model's opinion where there is one. Where no label reaches, the
    known shares of the classes, or equal ones.
    """
    h, variance = centred_h(field), field.variance
    if field.opinion is None:
        p, lost = reference.two_step_marginals(h, variance), np.isinf(variance)
        p[lost] = reference.harmonic_marginals(h[lost])
        return p
    half = h / variance[:, None] + field.opinion.pull(field)[field.unlabelled] / 2  # f / 2
    return reference.two_step_marginals(half, np.ones(len(h)))


def harmonic_marginals(field: Conditioned) -> Floats:
    """(u, C) ZLG marginals: (h_k + 1) / 2, normalised over the classes (Zhu, Lafferty & Ghahramani 2003)."""
    return reference.harmonic_marginals(field.h)


def exact_marginals(field: Conditioned) -> Floats:
    """(u, C) marginals of the binary Markov random field, one-vs-rest, normalised; for graphs of small treewidth."""
    from fewlabels.kernels.exact import junction_tree  # loads SciPy

    return junction_tree.exact_marginals(*markov_field(field))


def markov_field(field: Conditioned) -> tuple[Tree, Floats]:
    """The binary Markov random field over the unlabelled nodes: their junction tree, and (u, C) the labels' pull.

    A label turns each of its edges into log odds of 2 beta w at the other end, towards +1 in the column of its class
    and towards -1 in the others; an unsure answer of weight w is such an edge at its own node.
    """
    from fewlabels.kernels.exact.elimination import junction_tree as tree_of  # loads SciPy

    rows = field.weights[field.unlabelled]
    known = np.flatnonzero(field.label >= 0)
    signs = np.array([answer(c, field.n_classes) for c in range(field.n_classes)])  # (C, C)
    pull = 2 * (rows[:, known] @ signs[field.label[known]])  # (u, C)
    nodes, weights = field.answers.in_doubt
    pull[np.searchsorted(field.unlabelled, nodes)] += 2 * (2 * weights - weights.sum(axis=1, keepdims=True))
    return tree_of(rows[:, field.unlabelled]), pull


def predicted(field: Conditioned) -> Ints:
    """(u,) class number: that of the largest h, on a tie the class listed first.

    Where the field is centred: of the largest centred h among the classes that some answer in the component has named,
    on a tie that of the larger h itself. A model's opinion moves h by as much as its pull moves the log odds 2 h / G.
    """
    if field.centring is None and field.opinion is None:
        return largest(field.h)
    h, heard = field.h, np.ones_like(field.h, dtype=bool)
    if field.centring is not None:
        centre = Centre(field)
        h, heard = centre.h, centre.heard
    if field.opinion is not None:
        h = moved_by(field.opinion.pull(field)[field.unlabelled], h, field.variance)
    return largest_centred(field.h, h, heard)


def moved_by(pull: Floats, h: Floats, variance: Floats) -> Floats:
    """(u, C) h such that 2 h / G has this pull in it; the pull alone where no label reaches."""
    reached = np.isfinite(variance)
    return np.where(reached[:, None], h + pull * np.where(reached, variance, 0.0)[:, None] / 2, pull)


def largest_centred(h: Floats, centred: Floats, heard: Flags) -> Ints:
    """(u,) class with the largest centred h among those heard; on a tie that of the larger h itself."""
    values = np.where(heard, centred, -np.inf)
    near = values >= values.max(axis=1, keepdims=True, initial=-np.inf) - TIE
    return largest(np.where(near, h, -np.inf))


def largest(values: Floats) -> Ints:
    """(u,) class with the largest value in each row, h or chance; on a tie the class listed first."""
    return np.argmax(values >= values.max(axis=1, keepdims=True, initial=-np.inf) - TIE, axis=1)
