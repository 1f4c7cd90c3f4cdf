"""Photos and texts as the numbers by which a pretrained network tells them apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from fewlabels.arrays import Floats, Numbers
from fewlabels.errors import FileError
from fewlabels.items.embedding.named import Named
from fewlabels.items.embedding.onnx_photos import PhotoNetwork
from fewlabels.items.embedding.onnx_texts import TextNetwork
from fewlabels.items.feature_cache import cached_features, file_keys, text_keys
from fewlabels.items.pictures import SUFFIXES

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when onnxruntime is imported, which comes later
AUTO = "auto"
AT_ONCE = 16  # photos or texts computed and stored at a time


class Network(Protocol):
    """A pretrained network, loaded when it is first used."""

    name: str  # what it is called in sentences
    version: str  # what tells its numbers from those of any other

    def numbers(self, things: Sequence[Any]) -> Numbers:
        """(m, d) of photos, given by path, or of texts."""


def embed(
    photos_or_texts: Sequence[str | os.PathLike[str]],
    model: str | os.PathLike[str] = AUTO,
    *,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Floats:
    """(n, d) what a pretrained network makes of photos (paths) or texts (strings), for `Graph.from_features`.

    `model` is a name that fastembed knows ("auto": one that suits), downloaded once into the cache folder, or a file of
    your own, model.onnx. Numbers are kept in the cache, too. `tell` is called with the progress, in sentences.
    """
    if isinstance(photos_or_texts, str | os.PathLike):
        raise FileError(f"{str(photos_or_texts)[:80]!r} is one photo or text: give a list of them.")
    things = list(photos_or_texts)
    if not things:
        raise FileError("there is nothing to embed: give at least one photo or text.")
    kind = "image" if all(map(_is_photo, things)) else "text"
    if kind == "text" and all(map(_looks_like_photo, things)):
        gone = next(one for one in things if not _is_photo(one))
        raise FileError(f"there is no file {gone}. Check the path.")
    if kind == "text" and (path := next((one for one in things if not isinstance(one, str)), None)) is not None:
        raise FileError(f"{path} is not an image by its ending ({' '.join(SUFFIXES)}), nor a text: give one of both.")
    return numbers_of(things, network(os.fspath(model), kind, tell), kind, tell)


def network(model: str, kind: str, tell: Callable[[str], None]) -> Network:
    """The network of that name, or in that file, for photos ("image") or texts ("text")."""
    if not model.lower().endswith(".onnx"):
        return Named(model, kind, tell)
    if not Path(model).exists():
        raise FileError(f"there is no file {model}. Check the path of the network.")
    return PhotoNetwork(Path(model)) if kind == "image" else TextNetwork(Path(model))


def numbers_of(things: Sequence[Any], by: Network, kind: str, tell: Callable[[str], None]) -> Floats:
    """(n, d) what the network makes of each, as far as it is not in the cache already."""
    things = [Path(one) for one in things] if kind == "image" else things
    keys = file_keys(things) if kind == "image" else text_keys(things)
    return cached_features(things, keys, by.version, by.numbers, tell=tell, chunk=AT_ONCE)


def _looks_like_photo(thing: object) -> bool:
    """Whether it ends as an image does, and is no text of several lines."""
    named = isinstance(thing, str | os.PathLike) and os.fspath(thing)
    return isinstance(named, str) and "\n" not in named and Path(named).suffix.lower() in SUFFIXES


def _is_photo(thing: str | os.PathLike[str]) -> bool:
    """Whether it is a path of an image; a string is one only if there is such a file."""
    path = Path(thing)
    return path.suffix.lower() in SUFFIXES and (not isinstance(thing, str) or (len(thing) < 4_000 and path.is_file()))
