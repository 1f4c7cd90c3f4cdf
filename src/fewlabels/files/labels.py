"""Labels of nodes, from a table with columns node and label."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable

from fewlabels.errors import FileError, nearest
from fewlabels.files.table import column_text, read_table


def read_labels(path: str | os.PathLike[str], names: Iterable[Hashable]) -> dict[Hashable, str]:
    """{node: label} from a table with columns node and label; `names` is what the graph calls its nodes.

    Rows without a label are left out.
    """
    table = read_table(path, ["node", "label"])
    nodes, labels = column_text(path, table, "node"), column_text(path, table, "label", may_be_empty=True)
    known = {str(name): name for name in names}
    found: dict[Hashable, str] = {}
    for row, (text, label) in enumerate(zip(nodes, labels, strict=True), start=1):
        if not label:
            continue
        if text not in known:
            raise FileError(
                f"{path}, row {row}: no edge names the node {text!r}.{nearest(text, known)} Fix the name or "
                "add its edges."
            )
        node = known[text]
        if found.setdefault(node, label) != label:
            raise FileError(
                f"{path}, row {row}: node {node!r} is {label!r} here and {found[node]!r} above. Keep one of them."
            )
    return found
