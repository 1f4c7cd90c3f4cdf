"""The colours of the classes: told from the page and from each other, by people who see no red or no green, too."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import fewlabels.web

STATIC = Path(fewlabels.web.__file__).parent / "static"
SIGHT = {  # Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB
    "normal": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
CONES = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
         [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
OKLAB = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
         [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip


def palette():
    source = (STATIC / "core" / "colours.js").read_text()
    return re.findall(r"#[0-9a-f]{6}", re.search(r"export const palette = \[(.*?)\]", source).group(1))


def backgrounds():
    source = (STATIC / "page.css").read_text()
    return re.findall(r"#[0-9a-f]{6}", " ".join(re.findall(r"--(?:paper|card|sunk): light-dark\((.*?)\)", source)))


def linear(colour):
    value = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] + 0.05 for colour in (one, other))
    return high / low


def seen(colour, sight):
    """Where the colour lies in Oklab, in which a distance of 0.02 is just noticeable, to such eyes."""
    return np.array(OKLAB) @ np.cbrt(np.array(CONES) @ np.clip(np.array(SIGHT[sight]) @ linear(colour), 0, 1))


def test_every_colour_stands_out_from_every_background_of_both_themes():
    assert len(backgrounds()) == 6
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for ground in backgrounds():
        for colour in palette():
            assert contrast(colour, ground) >= 3, (colour, ground)


@pytest.mark.parametrize(("sight", "apart"), [("normal", 0.13), ("no red", 0.08), ("no green", 0.08)])
def test_no_two_colours_are_taken_for_one_another(sight, apart):
    assert len(palette()) == 10
    for one, other in combinations(palette(), 2):
        assert np.linalg.norm(seen(one, sight) - seen(other, sight)) >= apart, (one, other)
