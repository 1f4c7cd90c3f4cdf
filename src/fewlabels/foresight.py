"""What an answer would change, worked out before it is given."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from fewlabels.field import Field


@dataclass(frozen=True)
class Outcome:
    """What the learner would say of all nodes if one of them turned out to be of a class."""

    label: Hashable
    chance: float  # that this is the answer
    expected_error: float  # after it
    changes: int  # how many predictions of other nodes would be different, or be there at all


class Foresight:
    """The field as it will be when this node has been answered.

    G does not depend on what the answer is, so one copy of the field serves every class; only h follows the class.
    """

    def __init__(self, field: Field, node: int) -> None:
        self.node = node
        self._field = field.copy()
        self._field.observe(node, 0)

    def after(self, label: int) -> Field:
        """The field after this answer (a class number); the next call changes it."""
        if self._field.label[self.node] != label:
            self._field.relabel(self.node, label)
        return self._field
