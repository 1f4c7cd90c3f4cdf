"""What a model already thinks of the items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewlabels.errors import FileError
from fewlabels.files.predictions import ModelPredictions
from fewlabels.items import Items
from fewlabels.items.assemble import Tell


def with_model(items: Items, found: ModelPredictions, where: str, tell: Tell) -> Items:
    """The items with a model's predictions beside them; without classes of their own they get the model's."""
    place = {name: k for k, name in enumerate(items.names)}
    labels: list[str | None] = [None] * len(items.names)
    for name, label, row in zip(found.nodes, found.labels, found.chances, strict=True):
        if name in place and np.ptp(row) > 0:
            labels[place[name]] = label
    known = sum(label is not None for label in labels)
    if not known:
        example = f"such as {items.names[0]!r}" + (f"; they are about {found.nodes[0]!r}" if found.nodes else "")
        raise FileError(f"{where}: none of the predictions is about an item, {example}. Use the names of the items.")
    tell(f"A model's predictions for {known:,} of {len(labels):,} items")
    if items.classes and (others := [name for name in found.classes if name not in items.classes]):
        tell(f"The model also names {others[0]!r}, which is no class yet: its opinion counts once it is one")
    classes = items.classes or list(found.classes)
    return replace(items, model=found, model_labels=labels, classes=classes)
