"""Tables with the data: as it was given, then label, prediction, chance, who, when and all the rest."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewlabels.errors import FileError, SettingError
from fewlabels.export.content import Content
from fewlabels.files.spreadsheet import as_text

if TYPE_CHECKING:
    import pandas as pd

NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,3})?")
WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")  # 007 and longer ones are not numbers but names
SHEET_ROWS, SHEET_COLUMNS, CELL = 1_048_575, 16_384, 32_767  # what Excel holds: rows below the header, characters


def frame(content: Content, *, numbers: bool, ours_too: Iterable[str] = ()) -> pd.DataFrame:
    """A row for every item: the columns it came with under their own names, then ours.

    Ours have the same names in every export: a given column of such a name, or of one in `ours_too`, is called
    given_<name>, and given_given_<name> where there is one of that name already. `numbers`: given columns of numbers
    that were written as text are made numbers.
    """
    import pandas as pd

    wanted = frozenset(content.items)
    rows = [row for item, row in enumerate(content.shot.rows()) if item in wanted]
    ours = pd.DataFrame(rows, columns=list(rows[0]) if rows else None, dtype=object)
    given = typed(_given(content)) if numbers else _given(content)
    given.columns = _renamed([str(name) for name in given.columns], {*ours.columns, *ours_too})
    return pd.concat([given.reset_index(drop=True), ours], axis=1)


def _renamed(names: list[str], ours: set[str]) -> list[str]:
    taken = ours | set(names)
    found = []
    for name in names:
        if name in ours:
            while name in taken:
                name = f"given_{name}"
            taken.add(name)
        found.append(name)
    return found


def _given(content: Content) -> pd.DataFrame:
    """The table as it was given; where there was none, the text or the values of each item."""
    import pandas as pd

    items = content.shot.items
    if items.table is not None:
        return items.table.iloc[list(content.items)].copy()
    rows = [dict(items.attributes[k]) if items.attributes is not None else {} for k in content.items]
    if items.texts is not None:
        rows = [{"text": items.texts[k], **row} for k, row in zip(content.items, rows, strict=True)]
    return pd.DataFrame(rows, index=range(len(rows)))


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """The table with columns of numbers that were written as text made numbers; empty cells are missing."""
    import pandas as pd

    made = {}
    for name, column in table.items():
        cells = [None if _missing(cell) else cell for cell in column]
        texts = [cell for cell in cells if cell is not None and cell != ""]
        if texts and all(isinstance(cell, str) and NUMBER.fullmatch(cell) for cell in texts):
            whole = all(WHOLE.fullmatch(cell) for cell in texts)
            cells = [None if cell in (None, "") else int(cell) if whole else float(cell) for cell in cells]
        made[name] = pd.Series(cells, dtype=object, index=table.index)
    return pd.DataFrame(made, columns=table.columns)


def _missing(cell: Any) -> bool:
    return cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType")  # NaN is not itself


def write_csv(content: Content, path: Path) -> None:
    """CSV that a spreadsheet opens without calculating anything in it."""
    made = frame(content, numbers=False)
    made.columns = [as_text(name) for name in made.columns]
    made = made.map(lambda cell: "" if _missing(cell) else as_text(cell))
    made.to_csv(path, index=False, lineterminator="\r\n", encoding="utf-8")


def write_json_lines(content: Content, path: Path) -> None:
    made = frame(content, numbers=True)
    names = list(made.columns)
    with path.open("w", encoding="utf-8") as file:
        for row in made.itertuples(index=False, name=None):
            cells = {name: _plain(cell) for name, cell in zip(names, row, strict=True)}
            file.write(json.dumps(cells, ensure_ascii=False, default=str) + "\n")


def write_parquet(content: Content, path: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(arrow(content), path)


def arrow(content: Content) -> Any:
    """The table as Arrow's; a column of several types is text."""
    import pyarrow

    made = frame(content, numbers=True)
    columns = {}
    for name in made.columns:
        cells = [_plain(cell) for cell in made[name]]
        try:
            columns[name] = pyarrow.array(cells)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            columns[name] = pyarrow.array([None if cell is None else str(cell) for cell in cells])
        if pyarrow.types.is_null(columns[name].type):
            columns[name] = columns[name].cast(pyarrow.string())
    return pyarrow.table(columns)


def _plain(cell: Any) -> Any:
    """A cell as Python's own types; None where there is none."""
    if _missing(cell) or (isinstance(cell, float) and not math.isfinite(cell)):
        return None
    return cell.item() if hasattr(cell, "item") else cell


def write_excel(content: Content, path: Path) -> None:
    """A workbook of two sheets: the table, and what is known of it. Nothing in it is a formula or a link."""
    xlsxwriter = excel()
    made = frame(content, numbers=True)
    if len(made) > SHEET_ROWS or len(made.columns) > SHEET_COLUMNS:
        raise FileError(
            f"{len(made):,} rows of {len(made.columns):,} columns do not fit into a sheet of Excel, which holds "
            f"{SHEET_ROWS:,} of {SHEET_COLUMNS:,}: take CSV or Parquet."
        )
    never = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(path, {**never, "constant_memory": True}) as book:
        bold = book.add_format({"bold": True})
        sheet = book.add_worksheet("labels")
        sheet.freeze_panes(1, 0)
        for column, name in enumerate(made.columns):
            sheet.write_string(0, column, name[:CELL], bold)
        for number, row in enumerate(made.itertuples(index=False, name=None), start=1):
            for column, cell in enumerate(map(_plain, row)):
                if isinstance(cell, (int, float)) and not isinstance(cell, bool):
                    sheet.write_number(number, column, cell)
                elif cell is not None:
                    sheet.write_string(number, column, str(cell)[:CELL])
        about = book.add_worksheet("about")
        for number, line in enumerate((content.said, content.shot.standing.verdict)):
            about.write_string(number, 0, line)


def excel() -> Any:
    """The package that writes workbooks."""
    try:
        import xlsxwriter
    except ImportError:
        raise SettingError(
            'Excel files need the package XlsxWriter: pip install "fewlabels[tables]", or take CSV.'
        ) from None
    return xlsxwriter
