"""The menu of formats: the page and the command line read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fewlabels.errors import SettingError, nearest
from fewlabels.export import tables, trees
from fewlabels.export.content import Content
from fewlabels.items import Items


@dataclass(frozen=True)
class Format:
    """A kind of file to take away. One made of several files is written as a zip, or, by `tree`, as a folder."""

    title: str
    ending: str
    write: Callable[[Content, Path], None]
    media_type: str
    by_class: bool = False  # whether an item without a class has no place in it
    images: bool = False  # whether it is for images only
    needs: str | None = None  # a package that may be missing
    tree: trees.Tree | None = None

    def missing(self, items: Items) -> str | None:
        """Why it cannot be had for these items, in a sentence."""
        if self.images and items.pictures is None:
            return "For images only."
        if self.needs is not None and find_spec(self.needs) is None:
            return 'Needs a package: pip install "fewlabels[tables]".'
        return None


SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ZIP, JSON = "application/zip", "application/json"
FORMATS: Mapping[str, Format] = {
    "csv": Format("CSV table", ".csv", tables.write_csv, "text/csv; charset=utf-8"),
    "excel": Format("Excel workbook", ".xlsx", tables.write_excel, SHEET, needs="xlsxwriter"),
    "parquet": Format("Parquet table", ".parquet", tables.write_parquet, "application/vnd.apache.parquet"),
    "jsonl": Format("JSON lines", ".jsonl", tables.write_json_lines, "application/jsonl; charset=utf-8"),
    "folders": Format(
        "Images in folders by class", ".zip", trees.write_zip(trees.images_by_class), ZIP,
        by_class=True, images=True, tree=trees.images_by_class,
    ),
    "coco": Format("COCO classification", ".json", trees.coco, JSON, by_class=True, images=True),
    "hugging-face": Format(
        "Hugging Face dataset", ".zip", trees.write_zip(trees.hugging_face), ZIP, tree=trees.hugging_face
    ),
}  # fmt: skip


def named(name: str, formats: Mapping[str, Format] = FORMATS) -> Format:
    if name not in formats:
        raise SettingError(f"there is no format {name!r}: {', '.join(formats)}.{nearest(name, list(formats))}")
    return formats[name]


def told_by(path: Path, items: Items, formats: Mapping[str, Format] = FORMATS) -> str:
    """The format a path stands for: by its ending; a folder is images by class."""
    found = [name for name, one in formats.items() if path.suffix.lower() == one.ending and not one.missing(items)]
    if not path.suffix and items.pictures is not None:
        return "folders"
    if len(found) == 1 or (path.suffix.lower() == ".zip" and found):
        return found[0]
    which = ", ".join(found or formats)
    raise SettingError(f"the ending of {path} does not tell the format: say which with --format, one of {which}.")
