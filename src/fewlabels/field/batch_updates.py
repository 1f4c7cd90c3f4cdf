"""Many answers at once: one after another or, where that is quicker, by working out everything afresh."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewlabels.arrays import Floats, Ints


class BatchUpdates:
    """For fields whose `refresh` works everything out from the graph and the labels."""

    n_classes: int
    label: Ints  # (n,)
    attached: Floats  # (n, C)

    def observe(self, node: int, label: int) -> None:
        raise NotImplementedError

    def forget(self, node: int) -> None:
        raise NotImplementedError

    def attach(self, node: int, weights: Floats) -> None:
        raise NotImplementedError

    def refresh(self) -> None:
        raise NotImplementedError

    def one_by_one(self, count: int) -> bool:
        """Whether this many answers are taken in one after another."""
        raise NotImplementedError

    def observe_all(self, labels: dict[int, int]) -> None:
        """Take in {node: class}."""
        if self.one_by_one(len(labels)):
            for node, label in labels.items():
                self.observe(node, label)
        else:
            self.label[list(labels)] = list(labels.values())
            self.refresh()

    def forget_all(self, nodes: list[int]) -> None:
        """Take back the labels of these nodes."""
        if self.one_by_one(len(nodes)):
            for node in nodes:
                self.forget(node)
        else:
            self.label[nodes] = -1
            self.refresh()

    def attach_all(self, weights: dict[int, Floats]) -> None:
        """Set {node: (C,) weights} of their unsure answers."""
        if self.one_by_one(len(weights)):
            for node, each in weights.items():
                self.attach(node, each)
        else:
            for node, each in weights.items():
                self.attached[node] = each
            self.refresh()

    def begin_again(self, n_classes: int) -> None:
        """No answer counts any more, and there are so many classes; a `refresh` must follow before anything else."""
        self.label[:] = -1
        self.n_classes = n_classes
        self.attached = np.zeros((len(self.label), n_classes))
        self._h = self._empty_h()

    def _empty_h(self) -> Any:
        """(n, C) zeros, where the engine keeps h."""
        return np.zeros_like(self.attached)
