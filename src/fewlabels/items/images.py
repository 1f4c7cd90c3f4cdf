"""What an image looks like, in a few hundred numbers, so that similar images lie close together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewlabels.arrays import Floats

if TYPE_CHECKING:
    from PIL import Image

VERSION = 3  # of the features: raise it when they change, and cached ones are computed anew
SIDE = 32  # pixels; outlines are computed at this size
CELLS = 6  # the colour thumbnail is CELLS x CELLS
SLOPES = 24  # directions of outlines, wherever they are
STANDS_OUT = 0.2  # share of the pixels that count as the subject, not the background


def image_features(image: Image.Image) -> Floats:
    """(426,) five blocks: outlines in place, outlines anywhere, colours in place, colour of what stands out, mean.

    The first four are scaled to length 1, or less where the image is nearly plain, so that noise is not amplified.
    Colours in place are relative to the image's own median, its background: a red ball is a red ball on any wall.
    Weights were chosen by how well 30 answers predict digits, coloured shapes and plain textures.
    """
    from PIL import Image
    from skimage.feature import hog

    rgb = image if image.mode == "RGB" else image.convert("RGB")
    small = np.asarray(rgb.resize((SIDE, SIDE), Image.Resampling.BICUBIC, reducing_gap=3.0)) / 255.0
    grey = small.mean(axis=2)  # (SIDE, SIDE)
    outlines = hog(grey, orientations=8, pixels_per_cell=(8, 8), cells_per_block=(2, 2))
    down, across = np.gradient(grey)
    slope = np.arctan2(down, across) % np.pi
    anywhere = np.histogram(slope, SLOPES, (0, np.pi), weights=np.hypot(down, across) / grey.size)[0]
    colours = _opponents(small)  # (SIDE, SIDE, 3)
    background = np.median(colours.reshape(-1, 3), axis=0)
    beside = (colours - background).reshape(-1, 3)
    strength = (beside**2).sum(axis=1)
    shown = beside[np.argsort(-strength, kind="stable")[: int(STANDS_OUT * len(beside))]].mean(axis=0)
    coarse = np.asarray(rgb.resize((CELLS, CELLS), Image.Resampling.BOX)) / 255.0
    in_place = (_opponents(coarse) - background).ravel()
    contrast = grey.std()
    return np.concatenate(
        [
            _unit(outlines, 0.0) * contrast / (contrast + 0.02),
            _unit(anywhere, 0.005),
            0.7 * _unit(in_place, 0.5),
            _unit(shown, 0.1),
            colours.reshape(-1, 3).mean(axis=0),
        ]
    )


def _opponents(rgb: Floats) -> Floats:
    """Lightness, red against green, blue against yellow: (..., 3), from -0.5 to 0.5 and twice -1 to 1."""
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    return np.stack([(r + g + b) / 3 - 0.5, r - g, b - (r + g) / 2], axis=-1)


def _unit(block: Floats, floor: float) -> Floats:
    """The block scaled to about length 1, or to less where it is not much longer than the floor."""
    length = float(np.linalg.norm(block)) + floor
    return block / length if length > 0 else block
