"""What nodes are compared by beside their links: the words, or the photos, in a column of their table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fewlabels.items.assemble import Tell
from fewlabels.items.embedding.chosen import compared, compared_photos
from fewlabels.items.pictures import look_at, whole
from fewlabels.items.rows import Rows
from fewlabels.items.seen import Seen
from fewlabels.items.texts import words_of


class Beside(NamedTuple):
    """(rows, d) features, what they are of ("words", "texts", "photos"), and in words how they are compared."""

    X: Any
    kind: str
    by: str


def by_texts(texts: Sequence[str], embed: str | None, tell: Tell) -> Beside:
    """Texts by the network asked for, else by their words; an empty one is zeros."""
    X, by = compared(texts, "text", embed, tell)
    if X is None:
        return Beside(words_of(texts), "words", by)
    written = np.array([bool(text.strip()) for text in texts])
    return Beside(np.where(written[:, None], X, 0.0), "texts", by)


def by_photos(seen: Sequence[Seen], embed: str | None, tell: Tell) -> Beside:
    """Photos by the network asked for, else by outlines and colours."""
    X, by = compared_photos(seen, embed, tell)
    return Beside(X, "photos", by)


def photos_of(rows: Rows, column: str, *, features: bool, tell: Tell, images_from: Path | None = None) -> list[Seen]:
    """The photos that the column names, in the table's folder or `images_from`; if one cannot be shown, none is."""
    paths = [rows.path.parent / file for file in rows.texts(column, may_be_empty=False)]
    within = [folder.resolve() for folder in (rows.path.parent, images_from) if folder is not None]
    return whole(paths, look_at(paths, features=features, tell=tell, within=within), in_table=True)
