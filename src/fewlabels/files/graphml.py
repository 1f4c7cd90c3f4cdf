"""Edges read from a GraphML file in one pass, as networkx, igraph, Gephi and yEd write it."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from fewlabels.errors import FileError, nearest
from fewlabels.files.edge_list import WEIGHT, EdgeList
from fewlabels.files.xml import Attributes, read_xml
from fewlabels.machine.memory import require

COPIES = 3  # peak memory over the file's size; 1.8 was measured, with short names


def edges_of_graphml(path: Path, weight: str | None, name: str | None) -> EdgeList:
    """Nodes are named by their id, or by their attribute `name`; `weight` is the edges' attribute.

    In an undirected graph parallel edges are summed. In a directed one repeats of the same direction are summed, and
    both directions count as one edge, as in every list of edges.
    """
    if not path.is_file():
        raise FileError(f"there is no file {path}. Check the path.")
    require(COPIES * path.stat().st_size, f"the graph in {path}", "Use a machine with more memory.")
    found = _Found(path, weight, name)
    try:
        with path.open("rb") as file:
            read_xml(file, str(path), found.start, found.end)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}. Check the path.") from None
    return found.edges()


class _Found:
    """What has been read so far. The edge or node being read is kept until its end."""

    def __init__(self, path: Path, weight: str | None, name: str | None) -> None:
        self._path, self._weight, self._name = path, weight, name
        self._number: dict[str, int] = {}  # id -> number, of nodes and of the ends of edges
        self._declared = bytearray()  # by number, 1 once its <node> was read
        self._named: dict[int, str] = {}
        self._source, self._target, self._w = array("q"), array("q"), array("d")
        self._keys: dict[str, set[str]] = {"node": set(), "edge": set()}  # ids of the keys that count
        self._default_weight = 1.0  # of an edge that gives none
        self._attributes: list[str] = []  # names of the edges' attributes
        self._open: list[str] = []  # elements around the one being read
        self._directed = False
        self._graphs = 0
        self._key = ""  # of the data element being read, or of the key whose default may follow
        self._node, self._line = -1, 0
        self._edge_weight = 1.0

    def start(self, tag: str, attributes: Attributes, line: int) -> None:
        self._line = line
        if not self._open and tag != "graphml":
            raise FileError(f"{self._path} begins with <{tag[:80]}>, not with <graphml>: save the graph as GraphML.")
        self._open.append(tag)
        if tag == "graph":
            self._graph(attributes)
        elif tag == "key":
            self._begin_key(attributes)
        elif tag == "node":
            self._begin_node(attributes)
        elif tag == "edge":
            self._begin_edge(attributes)
        elif tag == "data":
            self._key = attributes.get("key", "")
        elif tag == "hyperedge":
            raise self._wrong("a hyperedge ties more than two nodes: give edges between two")

    def end(self, tag: str, text: str) -> None:
        self._open.pop()
        if tag == "data" and self._open:
            self._take(self._open[-1], text.strip())
        elif tag == "default" and self._key in self._keys["edge"]:
            self._default_weight = self._number_in(text)
        elif tag == "edge":
            self._w.append(self._edge_weight)

    def edges(self) -> EdgeList:
        """Everything that was read, checked as a whole."""
        if not self._graphs:
            raise FileError(f"{self._path} holds no <graph>: save the graph as GraphML.")
        if self._weight not in (None, WEIGHT) and not self._keys["edge"]:
            hint = nearest(self._weight, self._attributes)
            raise FileError(f"{self._path} has no attribute {self._weight!r} of edges.{hint} Name another.")
        names = list(self._number)
        if len(self._number) > sum(self._declared):
            unknown = next(node for node, k in self._number.items() if not self._declared[k])
            raise FileError(f"{self._path}: an edge names {unknown[:80]!r}, and no <node> has that id. Add one.")
        if self._name is not None:
            bare = next((node[:80] for k, node in enumerate(names) if k not in self._named), None)
            if bare is not None:
                raise FileError(f"{self._path}: the node {bare!r} has no attribute {self._name!r}. Leave out name=...")
            names = [self._named[k] for k in range(len(names))]
        source, target = np.array(self._source), np.array(self._target)
        return EdgeList(source, target, np.array(self._w), len(names), names)

    def _graph(self, attributes: Attributes) -> None:
        self._graphs += 1
        if self._graphs > 1:
            raise self._wrong("a second <graph>, or one inside a node: give a file with a single graph")
        self._directed = attributes.get("edgedefault", "undirected") == "directed"

    def _begin_key(self, attributes: Attributes) -> None:
        self._key = attributes.get("id", "")
        called, meant_for = attributes.get("attr.name", self._key), attributes.get("for", "all")
        if meant_for in ("edge", "all"):
            self._attributes.append(called)
            if called == self._weight:
                self._keys["edge"].add(self._key)
        if meant_for in ("node", "all") and called == self._name:
            self._keys["node"].add(self._key)

    def _begin_node(self, attributes: Attributes) -> None:
        self._node = self._number_of(attributes.get("id"), "a <node> has no id")
        if self._declared[self._node]:
            raise self._wrong(f"the node {attributes['id'][:80]!r} is listed twice: give every node an id of its own")
        self._declared[self._node] = 1

    def _begin_edge(self, attributes: Attributes) -> None:
        i = self._number_of(attributes.get("source"), "an <edge> has no source")
        j = self._number_of(attributes.get("target"), "an <edge> has no target")
        directed = attributes["directed"] == "true" if "directed" in attributes else self._directed
        self._source.append(i if directed else min(i, j))
        self._target.append(j if directed else max(i, j))
        self._edge_weight = self._default_weight

    def _take(self, owner: str, text: str) -> None:
        if owner == "edge" and self._key in self._keys["edge"]:
            self._edge_weight = self._number_in(text)
        elif owner == "node" and self._key in self._keys["node"]:
            self._named[self._node] = text

    def _number_of(self, node: str | None, otherwise: str) -> int:
        if node is None:
            raise self._wrong(f"{otherwise}: add it")
        number = self._number.setdefault(node, len(self._number))
        if number == len(self._declared):
            self._declared.append(0)
        return number

    def _number_in(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise self._wrong(f"the weight {text[:80]!r} is not a number >= 0: fix or remove that edge")
        return number

    def _wrong(self, fact: str) -> FileError:
        return FileError(f"{self._path}, line {self._line}: {fact}.")
