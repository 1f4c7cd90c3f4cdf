"""Marginals: the chance of each class at each unlabelled node, and the class label propagation predicts there."""

from __future__ import annotations

import numpy as np

from fewlabels.field import Field
from fewlabels.kernels import reference
from fewlabels.kernels.reference import Floats, Ints

TIE = 1e-9  # values this close are equal but for rounding


def two_step_marginals(field: Field) -> Floats:
    """(u, C) TSA marginals: sigmoid(2 h_k / G_kk), normalised (Jun & Nowak 2016, decision value f_k)."""
    return reference.two_step_marginals(field.h, field.doubt)


def harmonic_marginals(field: Field) -> Floats:
    """(u, C) ZLG marginals: (h_k + 1) / 2, normalised over the classes (Zhu, Lafferty & Ghahramani 2003)."""
    return reference.harmonic_marginals(field.h)


def propagated(h: Floats) -> Ints:
    """(u,) class with the largest h; on a tie the class listed first."""
    return np.argmax(h >= h.max(axis=1, keepdims=True, initial=-np.inf) - TIE, axis=1)
