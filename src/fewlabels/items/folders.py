"""Folders of images: what was left out, and folders that stand for classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

FIRST = 3  # of the images left out, how many are named in the sentence
FEW = 6  # folders named in the sentence
MOST_CLASSES = 100


def folder_labels(names: Sequence[str]) -> dict[int, str]:
    """{image: the outermost folder that tells some from others}, for those that lie in one.

    An archive unpacks into a folder that holds all others: it is no class.

    >>> folder_labels(["cats/1.jpg", "dogs/small/2.jpg", "3.jpg"])
    {0: 'cats', 1: 'dogs'}
    >>> folder_labels(["pets/cats/1.jpg", "pets/dogs/small/2.jpg"])
    {0: 'cats', 1: 'dogs'}
    """
    folders = [name.split("/")[:-1] for name in names]
    first, last = min(folders, default=[]), max(folders, default=[])
    shared = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    level = shared if any(len(inside) > shared for inside in folders) else 0
    return {k: inside[level] for k, inside in enumerate(folders) if len(inside) > level}


def class_note(labels: Mapping[int, str], n: int) -> str:
    """A sentence if the folders look like classes: two or more, most of several images, and hardly one beside them."""
    count = Counter(labels.values())
    several = sum(images > 1 for images in count.values())
    if not 2 <= len(count) <= MOST_CLASSES or 2 * several < len(count) or len(labels) < 0.9 * n:
        return ""
    listed = ", ".join(list(count)[:FEW]) + (f" and {len(count) - FEW} more" if len(count) > FEW else "")
    return f"The folders look like classes ({listed}): --labels-from-folders takes them as known labels"


def left_out_note(left_out: Sequence[tuple[str, str]], n: int) -> str:
    """A sentence about the images that cannot be shown, the first of them by name."""
    if not left_out:
        return ""
    named = "; ".join(f"{name} {reason}" for name, reason in left_out[:FIRST])
    more = f" and {len(left_out) - FIRST:,} more. --left-out FILE lists them all" if len(left_out) > FIRST else ""
    return f"Left out {len(left_out):,} of {n:,} images: {named}{more}"


def others_note(others: int, folder: object) -> str:
    """A sentence about the files that are not images."""
    if not others:
        return ""
    many = f"{others:,} files in {folder} that are not images"
    return "Left out " + (many if others > 1 else f"1 file in {folder} that is not an image")
