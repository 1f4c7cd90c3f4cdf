"""Labels of nodes, from a table with columns node and label; and nodes drawn as checks, from one with a column node."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable

from fewlabels.errors import FileError, nearest
from fewlabels.files.spreadsheet import as_text
from fewlabels.files.table import Tell, column_text, quietly, read_table


def read_labels(path: str | os.PathLike[str], names: Iterable[Hashable], tell: Tell = quietly) -> dict[Hashable, str]:
    """{node: label} from a table with columns node and label; `names` is what the graph calls its nodes.

    Rows without a label are left out. `tell` hears what is unusual about how the table is written.
    """
    table = read_table(path, ["node", "label"], tell)
    nodes, labels = column_text(path, table, "node"), column_text(path, table, "label", may_be_empty=True)
    known = _by_text(names)
    found: dict[Hashable, str] = {}
    for row, (text, label) in enumerate(zip(nodes, labels, strict=True), start=1):
        if not label:
            continue
        node = _node(path, row, text, known)
        if found.setdefault(node, label) != label:
            raise FileError(
                f"{path}, row {row}: node {node!r} is {label!r} here and {found[node]!r} above. Keep one of them."
            )
    return found


def unknown_nodes(path: str | os.PathLike[str], names: Iterable[Hashable]) -> list[str]:
    """The nodes of a table with a column node that no edge names, each once; none of them where no node is known."""
    nodes = dict.fromkeys(column_text(path, read_table(path, ["node"]), "node"))
    known = _by_text(names)
    unknown = [node for node in nodes if node not in known]
    return unknown if len(unknown) < len(nodes) else []


def read_checks(path: str | os.PathLike[str], names: Iterable[Hashable]) -> list[Hashable]:
    """The nodes of a table with a column node, in their order; with a column check, only those numbered there, in the
    order of the numbers."""
    table = read_table(path, ["node"])
    nodes = column_text(path, table, "node")
    turns = column_text(path, table, "check", may_be_empty=True) if "check" in table else map(str, range(len(nodes)))
    known = _by_text(names)
    found: list[tuple[int, Hashable]] = []
    for row, (text, turn) in enumerate(zip(nodes, turns, strict=True), start=1):
        if not turn:
            continue
        if not turn.isdecimal():
            raise FileError(f"{path}, row {row}: the check {turn!r} is no number. Number the checks in their order.")
        found.append((int(turn), _node(path, row, text, known)))
    return [node for _, node in sorted(found, key=lambda pair: pair[0])]


def _by_text(names: Iterable[Hashable]) -> dict[str, Hashable]:
    """{text: node}, also as our own tables write it, which mark what looks like a formula."""
    known = {str(name): name for name in names}
    for text in list(known):
        known.setdefault(as_text(text).strip(), known[text])
    return known


def _node(path: str | os.PathLike[str], row: int, text: str, known: dict[str, Hashable]) -> Hashable:
    if text not in known:
        raise FileError(
            f"{path}, row {row}: no edge names the node {text!r}.{nearest(text, known)} Fix the name or add its edges."
        )
    return known[text]
