"""What is known of every node: a pandas frame, a CSV file, or attributes on a networkx or igraph graph."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import Floats
from fewlabels.errors import NodeError
from fewlabels.files.atomic import atomic_file
from fewlabels.files.spreadsheet import as_text
from fewlabels.graph import Graph

if TYPE_CHECKING:
    import pandas as pd

    from fewlabels.learner.learner import ActiveLearner

PREFIX = "fewlabels_"  # of the attributes, which may stand beside others called label


@dataclass(frozen=True)
class Report:
    """For each node: its label as taught, the prediction and its chance, whether a label reaches it, any skip, and its
    number among the checks."""

    graph: Graph
    classes: Sequence[Hashable]
    labelled: Mapping[Hashable, Hashable]  # node -> class, as taught
    predicted: NDArray[Any]  # (n,)
    chance: Floats  # (n, C)
    unreached: Sequence[Hashable]
    skipped: Sequence[Hashable]
    checks: Sequence[Hashable]  # in the order drawn

    def frame(self) -> pd.DataFrame:
        """Columns label (None where not taught), prediction, chance, reached, skipped, check (1 for the first drawn,
        missing elsewhere), and p_<class> for each class.

        `chance` is that of the prediction; where reached is False it says nothing: all classes are equally likely.
        """
        import pandas as pd

        taught = np.full(self.graph.n_nodes, None, dtype=object)
        for node, label in self.labelled.items():
            taught[self.graph.position(node)] = label
        drawn = self._drawn()
        index = pd.Index(list(self.graph.names), name="node", tupleize_cols=False)
        columns = {
            "label": pd.Series(taught, index=index, dtype=object),  # pandas would turn None into NaN
            "prediction": self.predicted,
            "chance": self._chance_of_prediction(),
            "reached": ~self._at(self.unreached),
            "skipped": self._at(self.skipped),
            "check": pd.Series([drawn.get(node) for node in self.graph.names], index=index, dtype="Int64"),
        }
        chances = pd.DataFrame(self.chance, columns=[f"p_{c}" for c in self.classes], index=index)
        return pd.concat([pd.DataFrame(columns, index=index), chances], axis=1)

    def onto_networkx(self, g: Any, prefix: str) -> None:
        """Set prefix + label (only where taught), prediction, chance, reached, skipped and check (only where drawn) on
        every node of g."""
        numbers = [self.graph.position(node) for node in g.nodes]  # all of them, before any is changed
        known = list(self._attributes())
        for node, number in zip(g.nodes, numbers, strict=True):
            attributes = g.nodes[node]
            for key in ("label", "check"):  # as taught before, and perhaps forgotten since
                attributes.pop(prefix + key, None)
            attributes.update({prefix + key: value for key, value in known[number].items() if value is not None})

    def onto_igraph(self, g: Any, prefix: str, name: str) -> None:
        """The same as vertex attributes, None where no label was taught; vertices are found by their attribute `name`,
        or by number where they have none."""
        named = name in g.vs.attributes()
        if not named and g.vcount() != self.graph.n_nodes:
            raise NodeError(
                f"the igraph graph has {g.vcount()} vertices without names, and the learner's has "
                f"{self.graph.n_nodes} nodes: give the graph it was made from."
            )
        numbers = [self.graph.position(node) for node in g.vs[name]] if named else range(g.vcount())
        known = list(self._attributes())
        for key in known[0]:
            g.vs[prefix + key] = [known[number][key] for number in numbers]

    def _attributes(self) -> Iterator[dict[str, Any]]:
        """For each node what is known of it, in Python's own types: files are written from them."""
        reached, skipped = (~self._at(self.unreached)).tolist(), self._at(self.skipped).tolist()
        predicted, chance = self.predicted.tolist(), self._chance_of_prediction().tolist()
        drawn = self._drawn()
        for k, node in enumerate(self.graph.names):
            yield {
                "label": self.labelled.get(node),
                "prediction": predicted[k],
                "chance": chance[k],
                "reached": reached[k],
                "skipped": skipped[k],
                "check": drawn.get(node),
            }

    def _chance_of_prediction(self) -> Floats:
        """(n,) not always the largest chance: the prediction is that of label propagation."""
        column = {label: number for number, label in enumerate(self.classes)}
        return self.chance[np.arange(self.graph.n_nodes), [column[label] for label in self.predicted.tolist()]]

    def _drawn(self) -> dict[Hashable, int]:
        return {node: number for number, node in enumerate(self.checks, start=1)}

    def _at(self, nodes: Sequence[Hashable]) -> NDArray[np.bool_]:
        """(n,) whether a node is one of these."""
        flags = np.zeros(self.graph.n_nodes, dtype=bool)
        flags[[self.graph.position(node) for node in nodes]] = True
        return flags


def write_predictions(path: str | os.PathLike[str], learner: ActiveLearner) -> None:
    """`learner.to_frame()` as CSV, six digits per number: what was taught, what is predicted, and the chances."""
    frame = learner.to_frame()
    frame.index = frame.index.map(as_text)
    frame.columns = frame.columns.map(as_text)
    for column in ("label", "prediction"):
        frame[column] = frame[column].map(as_text)
    with atomic_file(path) as draft:
        frame.to_csv(draft, float_format="%.6g")
