"""The journal: a labelling as JSON lines, a header and one line for every event. It only ever grows."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

from fewlabels.errors import FileError
from fewlabels.whole_file import whole_file

FORMAT = 1

Record = dict[str, Any]


def write(path: str | os.PathLike[str], header: Record, events: list[Record]) -> None:
    """Write the journal whole. A file already there must hold the beginning of the same journal: no answer is lost."""
    path = Path(path)
    records = [{"fewlabels": FORMAT, **header}, *events]
    try:
        text = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)
    except (TypeError, ValueError) as error:
        raise FileError(
            f"{path} was not written: {error}. Classes in a journal are text, numbers or true/false; rename the others."
        ) from None
    if [json.loads(line) for line in text.splitlines()] != records:
        raise FileError(f"{path} was not written: a class would come back as something else. Use text or numbers.")
    old = _records(path) if path.exists() else []
    if records[: len(old)] != old:
        raise FileError(
            f"{path} holds another journal, of {len(old) - 1} events. "
            "Load it to go on with it, or save under another name."
        )
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


def read(path: str | os.PathLike[str]) -> tuple[Record, list[Record]]:
    """Header and events. A last line cut short, as a power cut leaves it, is dropped with a warning."""
    header, *events = _records(Path(path))
    return header, events


def _records(path: Path) -> list[Record]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}. Check the path.") from None
    records: list[Record] = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("not an object")
        except ValueError:
            if number == len(lines) > 1:
                warnings.warn(
                    f"{path}: line {number}, the last, is cut short and was dropped; the {number - 2} events "
                    "before it are kept.",
                    stacklevel=4,
                )
                break
            raise FileError(f"{path}: line {number} is not JSON. Mend or remove that line.") from None
        records.append(record)
    if not records or records[0].get("fewlabels") != FORMAT:
        raise FileError(
            f"{path} is not a fewlabels journal of format {FORMAT}: its first line is no header. Choose another file."
        )
    return records
