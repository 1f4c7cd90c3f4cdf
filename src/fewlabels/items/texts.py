"""Texts as neighbours: tied when they share words, or pieces of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import FileError
from fewlabels.graph import Graph
from fewlabels.graph.knn import among, knn_weights

ALONE = 0.1  # where a larger share of the texts shares no word with any other, words do not suit the table


def text_graph(texts: Sequence[str], neighbors: int, numbers: Floats | None = None) -> Graph:
    """Each text tied to its nearest by cosine, of TF-IDF or of these numbers, (n, d), by a network.

    A text that is empty, or shares nothing with any other, stands alone.
    """
    X = words_of(texts) if numbers is None else numbers
    tied = _filled(texts) if numbers is not None else np.flatnonzero(~_empty(X))  # at least two
    ties = knn_weights(X[tied], min(neighbors, len(tied) - 1), "gaussian", "cosine")
    return Graph(among(tied, ties, len(texts)))


def words_of(texts: Sequence[str]) -> sparse.csr_array:
    """(n, d) TF-IDF, rows of length 1, or 0 for a text that shares nothing with any other.

    Words and pairs of words count if they occur in two texts or more. Where they leave many texts without a tie (a
    language without spaces, product codes), pieces of two to four letters count instead.
    """
    filled = _filled(texts)
    written = [texts[i] for i in filled.tolist()]
    X = _tf_idf(written, analyzer="word", token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2))
    if X is None or _empty(X).mean() > ALONE:
        by_letters = _tf_idf(written, analyzer="char_wb", ngram_range=(2, 4))
        if by_letters is not None and (X is None or _empty(by_letters).sum() < _empty(X).sum()):
            X = by_letters
    if X is None:
        raise FileError(
            f"no two of the {len(texts)} texts share a word or a piece of one, so none has a neighbour. "
            "Name another column, or give --features."
        )
    return at_rows(X, filled, len(texts))


def _filled(texts: Sequence[str]) -> Ints:
    """The texts that are not empty: at least two."""
    filled = np.flatnonzero([bool(text.strip()) for text in texts])
    if len(filled) < 2:
        raise FileError(f"{len(filled)} of {len(texts)} rows hold a text: give at least two, or another column.")
    return filled


def at_rows(X: Any, rows: Ints, n: int) -> Any:
    """(n, d) the rows of X at these places among n, zeros elsewhere."""
    return sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n, len(rows))) @ X


def _tf_idf(texts: Sequence[str], **how: Any) -> Any:
    """(n, d) sparse rows of length 1, or 0 for a text that shares nothing; None where no text shares anything."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return sparse.csr_array(TfidfVectorizer(min_df=2, sublinear_tf=True, **how).fit_transform(texts))
    except ValueError:  # an empty vocabulary
        return None


def _empty(X: Any) -> Any:
    return np.diff(X.indptr) == 0
