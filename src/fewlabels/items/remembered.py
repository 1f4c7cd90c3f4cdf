"""Images looked at once: what is kept of each lies in the cache, so that the next start need not open them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from fewlabels.items.feature_cache import CHUNK, Cache, keys_of_real, real_paths
from fewlabels.items.images import VERSION
from fewlabels.items.seen import Seen

WIDTH = np.dtype("<f4").itemsize


class Remembered:
    """What is known of these files from an earlier start, and what is learnt of the others now."""

    def __init__(self, paths: Sequence[Path], features: bool) -> None:
        self._cache = Cache(f"images {VERSION}")
        real = real_paths(paths)
        self._keys = keys_of_real(real)
        found = self._cache.find(self._keys)
        self.known: dict[int, Seen] = {}  # by the number of the path
        for k, key in enumerate(self._keys):
            one = _unpacked(real[k], found[key]) if key in found else None
            if one is not None and (one.features is not None or not features):
                self.known[k] = one

    def keeping(self, answers: Iterable[tuple[int, Seen | str]]) -> Iterator[tuple[int, Seen | str]]:
        """The same answers, each with the number of its path; images are stored as they come, a chunk at a time."""
        waiting: dict[str, bytes] = {}
        try:
            for k, answer in answers:
                if isinstance(answer, Seen):
                    waiting[self._keys[k]] = _packed(answer)
                if len(waiting) >= CHUNK:
                    self._cache.keep(waiting)
                    waiting = {}
                yield k, answer
        finally:
            if waiting:
                self._cache.keep(waiting)


def _packed(one: Seen) -> bytes:
    """A line of JSON, then the features, then the thumbnail."""
    numbers = b"" if one.features is None else one.features.astype("<f4").tobytes()
    head = [one.format, one.sha256, one.size, one.drawn, one.slow, len(numbers) // WIDTH]
    return json.dumps(head).encode() + b"\n" + numbers + one.thumbnail


def _unpacked(real: str, content: bytes) -> Seen | None:
    head, _, rest = content.partition(b"\n")
    try:
        kind, sha256, size, drawn, slow, width = json.loads(head)
        numbers = np.frombuffer(rest[: width * WIDTH], "<f4").astype(float) if width else None
        return Seen(Path(real), kind, sha256, size, rest[width * WIDTH :], numbers, drawn, slow)
    except (ValueError, TypeError):
        return None
