"""The cells of a spreadsheet as lines of JSON, printed by a process of its own: what it unpacks fills no machine.

Run by `workbook` as `python -P sheet_reader.py FILE BYTES BYTES`. The first line names all sheets, and the one read.
"""

from __future__ import annotations

import datetime
import json
import sys


def main(path: str, memory: int, printed: int) -> None:
    """Print the cells of the first sheet that has any, using no more memory than this and printing no more."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (printed, printed))
    except (ImportError, ValueError, OSError):
        pass  # not on every system
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(path)
        names = book.sheet_names
        for name in names:
            sheet = book.get_sheet_by_name(name)
            if sheet.total_height:
                print(json.dumps({"sheets": names, "sheet": name}))
                for row in sheet.iter_rows():
                    print(json.dumps([as_text(cell) for cell in row]))
                return
        print(json.dumps({"sheets": names, "sheet": None}))
    except CalamineError as error:
        sys.exit(str(error))


def as_text(cell: object) -> str:
    """A cell as a person would write it in a CSV file."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return str(cell.date() if cell.time() == datetime.time() else cell)
    return str(cell)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
