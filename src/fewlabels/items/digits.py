"""scikit-learn's 1,797 handwritten digits: as data, and as items to label."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import NodeError
from fewlabels.graph import Graph
from fewlabels.items import Items
from fewlabels.items.assemble import Shown, Tell, assemble

NEIGHBORS = 7
INK = 16  # the darkest value in the data
SHARPNESS = 1.5
SHOWN, THUMBNAIL = 256, 64  # pixels per side


def load() -> tuple[Graph, Ints, Floats]:
    """The graph (each digit tied to its 7 nearest), the true digits (n,), and the images (n, 8, 8)."""
    from sklearn.datasets import load_digits

    data: Any = load_digits()
    return Graph.from_features(data.data, n_neighbors=NEIGHBORS), data.target.astype(np.int64), data.images


def digits_items(tell: Tell = lambda _: None) -> Items:
    """The digits without their labels, to try the page on."""
    tell(f"Finding the {NEIGHBORS} nearest neighbours of every digit")
    graph, _, images = load()
    shown = Shown(
        [f"digit {number}" for number in range(1, len(images) + 1)],
        f"{NEIGHBORS} nearest by pixel",
        pictures=DigitPictures(images),
        contents=[image.astype("<f8").tobytes().hex() for image in images],
    )
    return assemble("digits", "image", graph, shown, [str(digit) for digit in range(10)], tell)


class DigitPictures:
    """The digits as dark ink on white, drawn when asked for."""

    def __init__(self, images: Floats) -> None:
        self._images = images  # (n, 8, 8)
        self._drawn = lru_cache(4096)(self._draw)  # some 10 kB each

    def full(self, item: int) -> tuple[bytes, str]:
        return self._drawn(item, SHOWN), "image/png"

    def thumbnail(self, item: int) -> tuple[bytes, str]:
        return self._drawn(item, THUMBNAIL), "image/png"

    def original(self, item: int) -> tuple[bytes, str]:
        return self._drawn(item, SHOWN), ".png"

    def ending(self, item: int) -> str:
        return ".png"

    def file(self, item: int) -> None:
        return None

    def slow(self, item: int) -> bool:
        return False

    def _draw(self, item: int, side: int) -> bytes:
        from PIL import Image

        from fewlabels.items.decoding import encoded

        if not 0 <= item < len(self._images):
            raise NodeError(f"there is no item {item}: items are 0 to {len(self._images) - 1}.")
        paper = np.pad(self._images[item], 1)  # (10, 10): a margin, so that strokes at the edge end smoothly
        ink = Image.fromarray((paper / INK).astype(np.float32)).resize((side, side), Image.Resampling.BICUBIC)
        steep = np.clip(SHARPNESS * (np.asarray(ink) - 0.6) + 0.5, 0, 1)  # smooth strokes with firm outlines
        return encoded(Image.fromarray(np.uint8(np.rint(255 * (1 - steep)))), "PNG")
