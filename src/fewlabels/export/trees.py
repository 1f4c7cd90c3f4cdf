"""Exports of many files: images in folders by class, and datasets; as a folder, or as a zip."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fewlabels.errors import FileError
from fewlabels.export.content import Content
from fewlabels.export.names import distinct, safe
from fewlabels.export.tables import arrow, frame
from fewlabels.files.atomic import usual_mode
from fewlabels.files.spreadsheet import as_text
from fewlabels.items import Pictures


@dataclass(frozen=True)
class Entry:
    """One file: where in the export, its bytes, and the file it is a copy of, if it is one."""

    path: str
    content: Callable[[], bytes]
    original: Path | None = None


LIST, ABOUT = "contents.csv", "about.txt"  # beside the folders of images
Tree = Callable[[Content], Iterator[Entry]]


def images_by_class(content: Content) -> Iterator[Entry]:
    """A folder for each class; contents.csv says which image is where, what it is called, and who said so."""
    pictures = pictures_of(content)
    classes = [str(label) for label in dict.fromkeys(content.labels)]
    folders = distinct([LIST, ABOUT, *(safe(name, "class") for name in classes)])[2:]
    folder = dict(zip(classes, folders, strict=True))
    files = file_names(content, pictures)
    paths = [f"{folder[str(label)]}/{file}" for label, file in zip(content.labels, files, strict=True)]
    for item, path in zip(content.items, paths, strict=True):
        yield _image(pictures, item, path)
    shot, listed = content.shot, io.StringIO()
    writer = csv.writer(listed, lineterminator="\r\n")
    writer.writerow(["file", "name", "class", "status", "chance"])
    for item, path, label in zip(content.items, paths, content.labels, strict=True):
        prediction = shot.prediction(item)
        known = ("labelled", "") if shot.label(item) is not None else ("predicted", round(prediction[1], 6))  # type: ignore[index]
        writer.writerow(map(as_text, (path, shot.items.names[item], label, *known)))
    yield Entry(LIST, listed.getvalue().encode)
    yield Entry(ABOUT, f"{content.said}\n{shot.standing.verdict}\n".encode)


def hugging_face(content: Content) -> Iterator[Entry]:
    """A folder that datasets.load_dataset reads: Parquet, or images with their metadata."""
    data = "train/metadata.jsonl" if content.shot.items.kind == "image" else "data/train-00000-of-00001.parquet"
    path = "train/**" if content.shot.items.kind == "image" else "data/*.parquet"
    head = f"---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: {path}\n---\n"
    about = f"{content.said} {content.shot.standing.verdict}"
    yield Entry("README.md", f"{head}\n{about}\n\n`label` was given, `prediction` is fewlabels' own.\n".encode)
    if content.shot.items.kind != "image":
        yield Entry(data, lambda: _parquet(content))
        return
    pictures, files = pictures_of(content), file_names(content, pictures_of(content))
    for item, file in zip(content.items, files, strict=True):
        yield _image(pictures, item, f"train/images/{file}")
    rows = frame(content, numbers=True, ours_too=["file_name"])
    rows.insert(0, "file_name", [f"images/{file}" for file in files])
    yield Entry(data, rows.to_json(orient="records", lines=True, force_ascii=False).encode)


def _parquet(content: Content) -> bytes:
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(arrow(content), out)
    return out.getvalue()


def coco(content: Content, path: Path) -> None:
    """COCO's JSON with a class for each image: images, categories, and annotations without boxes."""
    from PIL import Image

    pictures = pictures_of(content)
    categories = [str(name) for name in dict.fromkeys([*content.shot.classes, *content.labels]) if name is not None]
    images, annotations = [], []
    for number, (item, label) in enumerate(zip(content.items, content.labels, strict=True), start=1):
        data, _ = pictures.original(item)
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
        name, prediction = content.shot.items.names[item], content.shot.prediction(item)
        images.append({"id": item, "file_name": name, "width": width, "height": height})
        one = {"id": number, "image_id": item, "category_id": categories.index(str(label)) + 1}
        given = content.shot.label(item) is not None
        chance = None if given or prediction is None else round(prediction[1], 6)
        annotations.append(one | ({"source": "label"} if given else {"source": "prediction", "score": chance}))
    made = {
        "info": {"description": f"{content.said} {content.shot.standing.verdict}"},
        "images": images,
        "annotations": annotations,
        "categories": [{"id": k, "name": name, "supercategory": ""} for k, name in enumerate(categories, start=1)],
    }
    path.write_text(json.dumps(made, ensure_ascii=False, indent=1), encoding="utf-8")


def pictures_of(content: Content) -> Pictures:
    pictures = content.shot.items.pictures
    if pictures is None:
        raise FileError(f"the items are of kind {content.shot.items.kind!r}, not images: take a table instead.")
    return pictures


def file_names(content: Content, pictures: Pictures) -> list[str]:
    """A name for every image, from its own; folders in it become part of the name."""
    names = []
    for item in content.items:
        ending = pictures.ending(item)
        name = safe(content.shot.items.names[item], "image")
        names.append(name if name.casefold().endswith(ending) else name + ending)
    return distinct(names)


def _image(pictures: Pictures, item: int, path: str) -> Entry:
    return Entry(path, lambda: pictures.original(item)[0], pictures.file(item))


def write_zip(tree: Tree) -> Callable[[Content, Path], None]:
    """The writer of a tree as one zip."""

    def write(content: Content, path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
            for entry in tree(content):
                made.writestr(entry.path, entry.content())

    return write


def write_folder(tree: Tree, content: Content, folder: Path, *, links: bool, tell: Callable[[str], None]) -> None:
    """The tree as a new folder, whole or not at all; `links`: images are links to where they lie."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} is there already: name a new folder, or empty it.")
    if not folder.resolve().parent.is_dir():
        raise FileError(f"cannot write {folder}: there is no folder {folder.resolve().parent}. Create it first.")
    draft = Path(tempfile.mkdtemp(dir=folder.resolve().parent, prefix=f".{folder.name}."))
    try:
        for number, entry in enumerate(tree(content), start=1):
            path = draft / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            if links and entry.original is not None:
                path.symlink_to(entry.original)
            else:
                path.write_bytes(entry.content())
            if number % 200 == 0:
                tell(f"Writing {number:,} files")
        draft.chmod(usual_mode(0o777))
        if folder.exists():
            folder.rmdir()
        draft.rename(folder.resolve())
    except OSError as error:
        raise FileError(f"cannot write {folder}: {error.strerror or error}. Nothing of it is left.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
