"""Answers of finite weight on the sparse engine: a larger diagonal, and one column for what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fewlabels.field.sparse import near
from fewlabels.kernels.reference import Floats

if TYPE_CHECKING:
    from fewlabels.field.sparse.field import SparseField


def attach(field: SparseField, node: int, weights: Floats) -> None:
    """From now on the unsure answers to this node weigh (C,) so much (docs/maths.md, "Answers that may be wrong")."""
    component, total = field._component[node], float(weights.sum())
    members = field._component == component
    before = float(field.attached[node].sum())
    field.attached[node] = weights
    if field.label[node] >= 0:
        tie(field, node)
    elif field._island[node] >= 0:
        if total > 0:
            if node != field._anchor[component]:
                field._move_anchor(node, members)
            field._anchor[component] = -1
            tie(field, node)
            field._h[members] = 2 * weights / total - 1
            field._island[members] = -1
            field._release(node, members.astype(float), total)
    elif field._has_no_label(members):
        tie(field, node)
        column = np.where(members, 1 / before, 0.0)  # the node's, as long as it alone held the component
        field.diagonal -= column
        field._each(lambda block: block.hold(node, column))
        field._hold(node, column)
        field.panel.drop(np.array([node]))
        field._anchor[component] = node
        field._island[members] = component
        field._h[members] = 0
    else:
        column = field._column(node)  # as it is before the diagonal knows
        tie(field, node)
        _shift(field, node, column)


def tie(field: SparseField, nodes: Any) -> None:
    """The unsure answers of these nodes have changed: their weights add to the diagonal."""
    held_by = field.degree[nodes] + field.attached[nodes].sum(axis=-1)
    field._system.diagonal[nodes] = np.where(held_by > 0, held_by, 1.0)  # nothing at all: the node is held
    field.least[nodes] = 1 / np.where(held_by > 0, held_by, 1 / np.finfo(float).tiny)


def _shift(field: SparseField, node: int, column: Floats) -> None:
    """What is said of the node has changed; column is its column of G until now."""
    pull, signed = field._attachments()
    pivot, held = column[node], float(column @ pull)  # 1 + G_qq times the change of weight
    share, h_q, change = column / pivot, column @ signed / held, pivot / held - pivot
    field._h += np.outer(share, h_q - field._h[node])
    field._h[node] = h_q
    field.diagonal += share**2 * change
    field.diagonal[node] = pivot / held
    field._each(lambda block: block.shift(node, share, 1 / held))
    near.change(*field.edges, share, change)
    if change < 0:
        field._solver.hold(field._system, node, -change * share)  # G loses as much as if such a column were held
    elif change > 0:
        field._solver.release(field._system, node, share, 1 / change)
