"""Names of nodes as text that is the same in every process."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from fewlabels.errors import GraphError

PLAIN = frozenset({str, int, float, bool, bytes, complex, type(None)})


def described(names: Iterable[Hashable]) -> str:
    """All names as one text; members of a set are sorted, because their order differs from process to process."""
    return f"[{', '.join(map(_text, names))}]"


def passing_name(names: Iterable[Hashable]) -> Hashable | None:
    """The first name that only its address in memory tells from others: nothing finds its node in another process."""
    if set(map(type, names)) <= PLAIN:
        return None
    return next((name for name in names if _passes(name)), None)


def _text(name: Any) -> str:
    kind = type(name)
    if kind in PLAIN:
        return repr(name)
    if kind is tuple:
        return f"({', '.join(map(_text, name))}{',' if len(name) == 1 else ''})"
    if kind is frozenset:
        return f"frozenset({{{', '.join(sorted(map(_text, name)))}}})"
    if _passes(name):
        raise GraphError(
            f"the node {name!r} has no name that lasts: in another process nothing would find it. Name the nodes by "
            "text, numbers, or tuples and frozensets of them."
        )
    return repr(name)


def _passes(name: Any) -> bool:
    kind = type(name)
    if kind in (tuple, frozenset):
        return any(map(_passes, name))
    shown: Any = kind.__repr__
    return shown is object.__repr__
