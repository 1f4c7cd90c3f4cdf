"""The built-in digits, and what the terminal says of them."""

import io
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from fewlabels.errors import NodeError
from fewlabels.experiments.datasets import digits
from fewlabels.field import FieldSpec
from fewlabels.graph import Graph
from fewlabels.items.describe import describe, describe_labels
from fewlabels.items.digits import digits_items
from fewlabels.machine import memory


@pytest.fixture(scope="module")
def items():
    return digits_items()


def test_the_graph_is_the_one_of_the_experiments(items):
    assert items.graph.fingerprint() == digits().graph.fingerprint()


def test_classes_are_the_ten_digits_and_nothing_is_known(items):
    assert list(items.classes) == list("0123456789")
    assert items.known == {}
    assert items.kind == "image"
    assert len(set(items.names)) == 1797


def test_a_digit_is_dark_ink_on_white(items):
    content, kind = items.pictures.full(0)
    image = Image.open(io.BytesIO(content))
    pixels = np.asarray(image)
    assert (kind, image.format, image.size) == ("image/png", "PNG", (256, 256))
    assert pixels[0].min() == 255  # the margin
    assert pixels[128, 128] > 200  # the middle of a nought
    assert pixels.min() < 40
    assert max(Image.open(io.BytesIO(items.pictures.thumbnail(1796)[0])).size) <= 128
    with pytest.raises(NodeError, match="no item -1"):
        items.pictures.full(-1)


def test_on_the_map_most_neighbours_are_the_same_digit(items):
    from sklearn.neighbors import NearestNeighbors

    truth = digits().labels
    near = NearestNeighbors(n_neighbors=10).fit(items.position).kneighbors(return_distance=False)
    assert (truth[near] == truth[:, None]).mean() > 0.93


def test_what_the_terminal_says(items):
    assert describe(items, 2**30) == [
        "Items: 1,797 images from digits",
        f"Neighbours: {items.graph.n_edges:,} ties, {2 * items.graph.n_edges / 1797:.1f} per item on average",
        "Components: 1, so every answer reaches every item",
        "Engine: dense, all of it takes 49.3 MiB and 1.0 GiB are free",
    ]


def test_what_the_terminal_says_of_pieces_and_labels(items):
    pieces = Graph.from_edges([0, 1], [1, 2], n_nodes=6)
    few = replace(items, graph=pieces, kind="node", title="e.csv", known={0: "b", 1: "b", 2: "a"}, classes=["a", "b"])
    assert describe(few, 100) == [
        "Items: 6 nodes from e.csv",
        "Neighbours: 2 ties, 0.7 per item on average",
        "Components: 4, the largest of 3 items; 3 items stand alone; an answer reaches only its own",
        "Engine: sparse, a dense field needs 576 bytes and 100 bytes are free",
    ]
    assert describe_labels(few, few.classes) == "Labels: 3 in the data; 2 classes: a (1), b (2)"
    assert "no classes yet" in describe_labels(replace(few, known={}), [])
    many = replace(few, known={}, classes=[f"c{k}" for k in range(20)])
    assert describe_labels(many, many.classes).endswith("c11 and 8 more")
    added_on_the_page = describe_labels(replace(few, known={}, classes=[]), ["a"])
    assert added_on_the_page == "Labels: none in the data; 1 class: a"


@pytest.mark.parametrize("free", [2**33, 2**30, 400 * 2**20])
@pytest.mark.parametrize(("n", "degree"), [(100, 2), (7_000, 2), (16_000, 2), (3_000, 400)])
def test_the_engine_announced_is_the_one_that_is_taken(items, n, degree, free, monkeypatch):
    taken = []
    for engine, module, name in (("dense", "in_memory", "InMemory"), ("sparse", "on_demand", "OnDemand")):
        pretended = SimpleNamespace(**{name: lambda recipe, engine=engine: taken.append(engine)})
        monkeypatch.setitem(sys.modules, f"fewlabels.field.links.{module}", pretended)
    monkeypatch.setattr(memory, "available", lambda: free)
    around = np.arange(n)
    ring = Graph.from_edges(
        np.tile(around, degree // 2), np.concatenate([(around + k) % n for k in range(1, degree // 2 + 1)])
    )
    announced = describe(replace(items, graph=ring, names=range(n)))[-1]
    FieldSpec(1.0, 0, 0).resolved(ring).build()
    assert announced.startswith(f"Engine: {taken[0]},")
