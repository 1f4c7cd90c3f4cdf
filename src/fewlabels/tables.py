"""Edges, labels and features read from tables: CSV, TSV, JSON lines or Parquet, nodes under any name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewlabels.errors import FileError, nearest
from fewlabels.graph import Graph
from fewlabels.learner import ActiveLearner
from fewlabels.whole_file import whole_file

if TYPE_CHECKING:
    import pandas as pd

KINDS = {".csv": "CSV", ".tsv": "TSV", ".jsonl": "JSON lines", ".ndjson": "JSON lines", ".parquet": "PARQUET"}
LARGEST = 1e100  # squares of smaller numbers stay finite


def read_table(path: str | os.PathLike[str], columns: list[str]) -> pd.DataFrame:
    """The table with every value as text (a Parquet number keeps its digits); it must have these columns."""
    import pandas as pd

    path = Path(path)
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise FileError(f"{path} ends in {kind!r}: give a .csv, .tsv, .jsonl or .parquet file.")
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    try:
        if kind == ".parquet":
            table = pd.read_parquet(path)
            table = table.reset_index(drop=all(name is None for name in table.index.names))
        elif KINDS[kind] == "JSON lines":
            table = _read_json_lines(path)
        else:
            table = pd.read_csv(
                path,
                sep="\t" if kind == ".tsv" else ",",
                dtype=str,
                keep_default_na=False,
                skipinitialspace=True,
                encoding="utf-8-sig",
            )
    except pd.errors.EmptyDataError:
        named = f" {', '.join(columns)}" if columns else ""
        needs = "give a JSON object a line, with" if KINDS[kind] == "JSON lines" else "its first line must name"
        raise FileError(f"{path} is empty: {needs} the columns{named}.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not written in UTF-8: save it again with that encoding.") from None
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise FileError(f"{path} cannot be read as {KINDS[kind]}: {reason}. Mend the file or save it again.") from None
    if not isinstance(table.index, pd.RangeIndex):
        raise FileError(f"{path} has rows with more cells than its header names columns. Mend the header or the rows.")
    missing = [c for c in columns if c not in table.columns]
    if missing:
        listed = ", ".join(map(str, table.columns))
        if len(table.columns) == 1 and ";" in listed:
            raise FileError(f"{path} has the one column {listed!r}: save it with commas between the cells.")
        hint = nearest(missing[0], table.columns)
        raise FileError(
            f"{path} has no column {missing[0]!r}: its columns are {listed}.{hint} Name one of them, or rename it."
        )
    return table


def _read_json_lines(path: Path) -> pd.DataFrame:
    """One JSON object a line; a key that a line lacks is an empty cell."""
    import pandas as pd

    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"line {number}: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f'line {number} is {_json_text(row)[:40]!r}, not an object such as {{"name": "a"}}')
        rows.append({_json_text(key): _json_text(value) for key, value in row.items()})
    if not rows:
        raise pd.errors.EmptyDataError
    columns = dict.fromkeys(key for row in rows for key in row)
    return pd.DataFrame({key: [row.get(key, "") for row in rows] for key in columns}, dtype=str)


def _json_text(value: object) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")  # half a character is no text
    if isinstance(value, float):
        return _as_text(value)
    return json.dumps(value, ensure_ascii=True)


def read_edges(path: str | os.PathLike[str]) -> Graph:
    """A graph from a table of edges: columns source, target and perhaps weight; nodes keep their names, as text."""
    import pandas as pd

    table = read_table(path, ["source", "target"])
    ends = [column_text(path, table, "source"), column_text(path, table, "target")]
    if not len(table):
        raise FileError(f"{path} holds no edges: give one line for every edge.")
    numbers, names = pd.factorize(np.concatenate(ends))
    weight = None
    if "weight" in table.columns:
        weight = pd.to_numeric(table["weight"], errors="coerce").to_numpy(dtype=float)
        bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if len(bad):
            raise FileError(
                f"{path}, row {bad[0] + 1}: the weight {table['weight'].iloc[bad[0]]!r} is not a number >= 0. "
                "Mend that row."
            )
    source, target = np.split(numbers, 2)
    return Graph.from_edges(source, target, weight, n_nodes=len(names), names=list(names))


def read_labels(path: str | os.PathLike[str], graph: Graph) -> dict[str, str]:
    """{node: label} from a table with columns node and label; rows without a label are left out."""
    table = read_table(path, ["node", "label"])
    nodes, labels = column_text(path, table, "node"), column_text(path, table, "label", may_be_empty=True)
    known = set(graph.names)
    found: dict[str, str] = {}
    for row, (node, label) in enumerate(zip(nodes, labels, strict=True), start=1):
        if not label:
            continue
        if node not in known:
            raise FileError(
                f"{path}, row {row}: no edge names the node {node!r}.{nearest(node, known)} Mend the name or "
                "add its edges."
            )
        if found.setdefault(node, label) != label:
            raise FileError(
                f"{path}, row {row}: node {node!r} is {label!r} here and {found[node]!r} above. Keep one of them."
            )
    return found


def read_features(path: str | os.PathLike[str], label_column: str) -> tuple[NDArray[np.float64], list[str]]:
    """(n, d) the columns of numbers, each brought to mean 0 and variance 1, and the labels as text, "" where none."""
    table = read_table(path, [label_column])
    labels = column_text(path, table, label_column, may_be_empty=True)
    X = standardised(path, table.drop(columns=label_column))
    if X is None:
        raise FileError(
            f"{path} has no column of numbers beside {label_column!r}: give features, or edges with --labels."
        )
    return X, labels


def standardised(path: str | os.PathLike[str], table: pd.DataFrame) -> NDArray[np.float64] | None:
    """(n, d) the columns of numbers, each brought to mean 0 and variance 1; None where there is none.

    A column that is mostly words is no feature; one that is mostly numbers must hold a number in every row.
    """
    import pandas as pd

    columns = {}
    for name in table.columns:
        numeric = pd.api.types.is_numeric_dtype(table[name].dtype)
        cells = table[name] if numeric else pd.Series(column_text(path, table, name, may_be_empty=True), dtype=str)
        x = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float, na_value=np.nan)  # (n,)
        if np.isnan(x).mean() < 0.5:
            columns[name] = x
    if not columns:
        return None
    X = np.stack(list(columns.values()), axis=1)
    bad = np.argwhere(~(np.abs(X) < LARGEST))
    if len(bad):
        row, name = int(bad[0, 0]), list(columns)[bad[0, 1]]
        cell = column_text(path, table.iloc[[row]], name, may_be_empty=True)[0]
        raise FileError(
            f"{path}, row {row + 1}: column {name!r} {f'holds {cell!r}, no number' if cell else 'is empty'}. "
            "Fill it in, or remove the row or the column."
        )
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1))


def column_text(
    path: str | os.PathLike[str], table: pd.DataFrame, column: str, *, may_be_empty: bool = False
) -> list[str]:
    """(n,) the column as stripped text; an empty cell is refused with its row, the first below the header being 1."""
    values = [
        "" if missing is True else _as_text(value)
        for value, missing in zip(table[column], table[column].isna().tolist(), strict=True)
    ]
    if not may_be_empty and "" in values:
        raise FileError(f"{path}, row {values.index('') + 1}: {column!r} is empty. Fill it in or remove the row.")
    return values


def _as_text(value: object) -> str:
    """A cell as text; a whole number that Parquet keeps as a float, for the gaps beside it, without its .0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def write_predictions(path: str | os.PathLike[str], learner: ActiveLearner) -> None:
    """CSV of every node: its name, predicted label, chance of each class, and whether any label reaches it."""
    import pandas as pd

    table = pd.DataFrame({"node": list(learner.graph.names), "label": learner.predict()})
    chances = pd.DataFrame(learner.predict_proba(), columns=[f"p_{c}" for c in learner.classes])
    table = pd.concat([table, chances, (~table["node"].isin(learner.unreached)).rename("reached")], axis=1)
    with whole_file(path) as draft:
        table.to_csv(draft, index=False, float_format="%.6g")
