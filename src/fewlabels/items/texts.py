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
from fewlabels.items.words import WORD

VERSION = 1  # of how words are compared: raise it when that changes, and neighbours are found anew
OPENING = 2  # words that a text opens with
PIECES = (2, 4)  # letters of a piece, at least and at most


def text_graph(texts: Sequence[str], neighbors: int, numbers: Floats | None = None) -> Graph:
    """Each text tied to its nearest by cosine, of TF-IDF or of these numbers, (n, d), by a network.

    A text that is empty, or shares nothing with any other, stands alone.
    """
    if numbers is None:
        X: Any = words_of(texts)
        tied = np.flatnonzero(np.diff(X.indptr))  # at least two: what is counted occurs in two texts or more
    else:
        X, filled = numbers, _filled(texts)
        tied = filled[X[filled].any(axis=1)]
    ties = knn_weights(X[tied], min(neighbors, len(tied) - 1), "gaussian", "cosine")
    return Graph(among(tied, ties, len(texts)))


def words_of(texts: Sequence[str]) -> sparse.csr_array:
    """(n, d) TF-IDF, rows of length 1, or 0 for a text that shares nothing with any other.

    Words and how the text opens are one half of it, pieces of two to four letters the other; each counts if it occurs
    in two texts or more. Pieces make "compiler" and "compile" kin, and serve languages without spaces; the opening
    tells what kind of question it is. Chosen on questions, package descriptions and docstrings (docs/embedding.md).
    """
    filled = _filled(texts)
    written = [texts[i] for i in filled.tolist()]
    halves = [_tf_idf(written, analyzer=_words), _tf_idf(written, analyzer="char_wb", ngram_range=PIECES)]
    if not (found := [half for half in halves if half is not None]):
        raise FileError(
            f"no two of the {len(texts)} texts share a word or a piece of one, so none has a neighbour. "
            "Name another column, or give --features."
        )
    from sklearn.preprocessing import normalize

    return at_rows(sparse.csr_array(normalize(sparse.hstack(found, format="csr"))), filled, len(texts))


def _words(text: str) -> list[str]:
    """The words of a text, and with a mark its first one and its first two.

    >>> _words("Who is it?")
    ['who', 'is', 'it', '^who', '^who is']
    """
    words = WORD.findall(text.lower())
    return [*words, *(f"^{' '.join(words[:k])}" for k in range(1, min(OPENING, len(words)) + 1))]


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
