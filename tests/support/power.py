"""What a disk may hold after a power cut, from a record of what was done to it (`disk.py record`).

Only what was synced is certain. What was written since may be there, or not, or in part, in any combination; so may
names that were made or removed since their folder was synced.
"""

import copy
import random
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


@dataclass
class File:
    """Its content for certain, and what was done since."""

    certain: bytearray = field(default_factory=bytearray)
    since: list = field(default_factory=list)

    def after_a_cut(self, keep, rng):
        """The content where each deed since is kept or not; one that is kept may have been cut off at a sector."""
        content = bytearray(self.certain)
        for deed in self.since:
            if keep(deed):
                _do(content, *_cut(deed, rng))
        return bytes(content)


class Disk:
    """Files and names, as they become certain or not deed by deed."""

    def __init__(self, root):
        self.root, self.files = root, []
        self.names, self.certain, self.since = {}, {}, []  # name -> number of a file

    def do(self, kind, path, other, at, data):
        if kind == "C":
            self.files.append(File())
            self._name([("set", path, len(self.files) - 1)])
        elif kind == "L":
            self._name([("set", other, self.names[path])])
        elif kind == "R":
            self._name([("set", other, self.names[path]), ("remove", path, None)])
        elif kind == "U":
            self._name([("remove", path, None)])
        elif kind == "S" and path == self.root:
            for change in self.since:
                _rename(self.certain, change)
            self.since = []
        elif kind == "S":
            file = self.files[self.names[path]]
            for deed in file.since:
                _do(file.certain, *deed)
            file.since = []
        elif path in self.names:  # else it has no name any more: nobody finds it
            self.files[self.names[path]].since.append((kind, at, data))

    def _name(self, change):
        self.since.append(change)
        _rename(self.names, change)

    def after_a_cut(self, how, rng):
        """{name: content}: with `all` that was done, `none` of what was not synced, or `some` of it."""
        keep = {"all": lambda deed: True, "none": lambda deed: False, "some": lambda deed: rng.random() < 0.5}[how]
        names = copy.copy(self.certain)
        for change in self.since:
            if keep(change):
                _rename(names, change)
        torn = rng if how == "some" else None
        contents = {}  # one file may have two names
        for number in dict.fromkeys(names.values()):
            contents[number] = self.files[number].after_a_cut(keep, torn)
        return {name: contents[number] for name, number in names.items()}


def _rename(names, change):
    for what, name, number in change:
        if what == "set":
            names[name] = number
        else:
            names.pop(name, None)


def _do(content, kind, at, data):
    if kind == "T":
        del content[at:]
        at, data = at, b""
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    content[at : at + len(data)] = data


def _cut(deed, rng):
    kind, at, data = deed
    if rng is not None and kind == "W" and rng.random() < 0.3:
        data = data[: rng.randrange(len(data) // SECTOR + 1) * SECTOR]
    return kind, at, data


def deeds(trace):
    """The deeds of a record, in order."""
    content, at = Path(trace).read_bytes(), 0
    while at < len(content):
        end = content.index(b"\n", at)
        kind, path, other, where, size = content[at:end].decode().split("\t")
        at = end + 1
        data = content[at : at + int(size)] if kind == "W" else b""
        at += len(data)
        yield kind, path, other, int(where), data


def cuts(trace, root, points, rounds, seed=0):
    """(confirmed, {name: content}) for a power cut before each chosen deed, in several ways.

    What is confirmed are the marks so far; the mark "None" takes all earlier ones back.
    """
    disk, confirmed, rng = Disk(root), [], random.Random(seed)
    for number, (kind, path, *rest) in enumerate(deeds(trace)):
        if points is None or number in points:
            for how in ["all", "none", *["some"] * rounds]:
                yield list(confirmed), disk.after_a_cut(how, rng)
        if kind == "K":
            confirmed = [] if path == "None" else [*confirmed, int(path)]
        else:
            disk.do(kind, path, *rest)
