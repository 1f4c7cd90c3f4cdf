"""Photos for an ONNX file: what it expects is read from the file, and from a small JSON beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from fewlabels.arrays import Numbers, is_whole
from fewlabels.errors import FileError
from fewlabels.items.decoding import opened
from fewlabels.items.embedding.onnx_file import OnnxFile, averaged

SIDE = 224  # pixels, where neither the model nor the JSON says
LARGEST = 2048  # pixels of a side that a network is given
TYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}


@dataclass(frozen=True)
class Preparation:
    """What is done to a photo before the network sees it: the keys of the JSON file."""

    size: int = SIDE  # pixels of a side, where the model leaves it open
    mean: Sequence[float] = (0.485, 0.456, 0.406)  # taken off each colour, which is 0 to 1; ImageNet's
    std: Sequence[float] = (0.229, 0.224, 0.225)  # then it is divided by this
    layout: str = ""  # "nchw" or "nhwc", where the model's shape does not tell
    crop: bool = True  # the middle square of the photo; false: all of it, squeezed into a square
    output: str | None = None  # the name of the output; default: the first

    def faults(self) -> str:
        """What is wrong with it, if anything."""
        if not is_whole(self.size) or not 8 <= self.size <= LARGEST:
            return f"size is {self.size!r}: give 8 to {LARGEST} pixels"
        for name, three in (("mean", self.mean), ("std", self.std)):
            numbers = isinstance(three, (list, tuple)) and [isinstance(v, (int, float)) for v in three] == [True] * 3
            if not numbers or (name == "std" and min(three) <= 0):
                return f"{name} is {three!r}: give three numbers, for red, green and blue, std above 0"
        if self.layout not in ("", "nchw", "nhwc"):
            return f'layout is {self.layout!r}: give "nchw" (colours first) or "nhwc"'
        if not isinstance(self.crop, bool):
            return f"crop is {self.crop!r}: give true or false"
        return "" if self.output is None or isinstance(self.output, str) else f"output is {self.output!r}: give a name"


class PhotoNetwork(OnnxFile):
    """Photos, resized and normalised as the JSON beside the model says."""

    def __init__(self, path: Path) -> None:
        self.how = read_preparation(path.with_suffix(".json"))
        super().__init__(path, repr(self.how))

    def numbers(self, things: Sequence[Path]) -> Numbers:
        """(m, d) of photos, given by path."""
        wanted, colours_first, (height, width) = self._input()
        made = np.stack([self._prepared(path, height, width, TYPES[wanted.type]) for path in things])  # (m, h, w, 3)
        if colours_first:
            made = np.ascontiguousarray(made.transpose(0, 3, 1, 2))
        step = 1 if wanted.shape[0] == 1 else len(made)
        parts = [made[start : start + step] for start in range(0, len(made), step)]
        found = [self.run({wanted.name: part}, self.how.output) for part in parts]
        return np.concatenate([averaged(one, colours_first) for one in found])

    def _input(self) -> tuple[Any, bool, tuple[int, int]]:
        """The network's input, whether colours come first, and the size it takes."""
        inputs = self.session.get_inputs()
        wanted, shape = inputs[0], inputs[0].shape
        takes = ", ".join(f"{one.name}, {one.type} {one.shape}" for one in inputs)
        refusal = FileError(f"{self.path} does not take photos, n x 3 x height x width, but {takes}.")
        if len(inputs) > 1 or len(shape) != 4 or wanted.type not in TYPES:
            raise refusal
        colours_first = self.how.layout == "nchw" if self.how.layout else shape[3] != 3
        colours, stated = (shape[1], shape[2:]) if colours_first else (shape[3], shape[1:3])
        if isinstance(colours, int) and colours != 3:
            raise refusal
        height, width = (side if isinstance(side, int) else self.how.size for side in stated)
        if not 1 <= min(height, width) <= max(height, width) <= LARGEST:
            raise FileError(
                f"{self.path} takes photos of {height:,} x {width:,} pixels: 1 to {LARGEST} a side can be given."
            )
        return wanted, colours_first, (height, width)

    def _prepared(self, path: Path, height: int, width: int, kind: type[np.generic]) -> Numbers:
        photo = self._squared(path, height, width)
        if kind is np.uint8:
            return photo
        return ((photo / 255 - np.array(self.how.mean)) / np.array(self.how.std)).astype(kind)

    def _squared(self, path: Path, height: int, width: int) -> Numbers:
        from PIL import Image, ImageOps

        photo = opened(path, 2 * max(height, width))
        if self.how.crop:
            return np.asarray(ImageOps.fit(photo, (width, height), Image.Resampling.BICUBIC))
        return np.asarray(photo.resize((width, height), Image.Resampling.BICUBIC))


def read_preparation(path: Path) -> Preparation:
    """What the JSON file says, if there is one."""
    if not path.is_file():
        return Preparation()
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileError(f'{path} is not JSON ({error}): write it like {{"size": 224, "crop": true}}.') from None
    keys = [one.name for one in fields(Preparation)]
    if not isinstance(said, dict) or not said.keys() <= set(keys):
        strange = next((key for key in said if key not in keys), said) if isinstance(said, dict) else said
        raise FileError(f"{path} says {strange!r}: give some of {', '.join(keys)}.")
    made = Preparation(**said)
    if fault := made.faults():
        raise FileError(f"{path}: {fault}.")
    return made
