"""The package's exceptions. Every message states the fact, the value, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

MOST_SAID = 600  # characters of a message
LONGEST = 200  # characters of a word that another may be mistaken for
MOST_COMPARED = 20_000  # words; difflib takes about a second for them


class FewlabelsError(ValueError):
    """Something is wrong with the input; the state before the call is kept.

    Of a message that quotes something long, the middle is left out.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(brief(str(message), MOST_SAID))


class GraphError(FewlabelsError):
    """The weights, edges or features do not make a graph."""


class NodeError(FewlabelsError):
    """The graph has no such node."""


class LabelError(FewlabelsError):
    """The label cannot be given to, or taken from, this node."""


class QueryError(FewlabelsError):
    """There is no question left to ask."""


class SettingError(FewlabelsError):
    """A strategy, engine, class list, strength or seed that cannot be used."""


class FileError(FewlabelsError):
    """A file is missing, broken, or holds something else."""


class ModelError(FewlabelsError):
    """A pretrained network cannot be had: its packages or its weights are missing."""


class MemoryNeededError(FewlabelsError):
    """The computation would need more memory than the machine has free."""


def brief(text: str, most: int) -> str:
    """At most so many characters of a text: its beginning, and its end.

    >>> brief("a" * 99 + "b", 9)
    'aaa … aab'
    """
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 3]} … {text[-end:]}"


def nearest(word: object, known: Iterable[object]) -> str:
    """A hint such as " Did you mean 'tsa'?", or nothing when no known word comes close."""
    words = [str(k)[:LONGEST] for k in islice(known, MOST_COMPARED + 1)]
    if len(words) > MOST_COMPARED or len(str(word)) > LONGEST:
        return ""
    match = difflib.get_close_matches(str(word), words, n=1, cutoff=0.5)
    return f" Did you mean {match[0]!r}?" if match else ""
