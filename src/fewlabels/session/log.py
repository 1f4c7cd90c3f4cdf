"""SQLite's log beside a store that was not closed well: whether something confirmed can no longer be read from it.

SQLite takes the log up to the first frame that is not as it was written, for what follows may never have reached the
disk. But a transaction is synced before the next one is written: where whole transactions lie behind such a frame, it
was damaged later (https://sqlite.org/fileformat2.html#the_write_ahead_log).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEADER, FRAME = 32, 24  # bytes
MAGIC = 0x377F0682  # or one more: the byte order of checksums
PAGE = 4096  # where the header does not say so
MOST = 2**20  # pages of a store


@dataclass(frozen=True)
class Frame:
    """A page as a transaction left it."""

    number: int  # of the page, from 1
    size: int  # of the database in pages, where the transaction ends with this frame; else 0
    page: bytes
    sound: bool  # whether SQLite reads it: it and all before it are as they were written


def is_damaged(log: Path, store: Callable[[], bytes]) -> bool:
    """Whether a frame cannot be read although later transactions were written, and the store itself lacks it, too.

    (A log that was taken over into the store is begun anew, and a crash may cut it off at its very beginning.)
    """
    behind = [bool(frame.size) for frame in read_frames(log) if not frame.sound]
    return any(behind[:-1]) and with_log(store(), log) != store()


def with_log(store: bytes, log: Path) -> bytes:
    """The store with all that its log holds, sound or not: what is whole of it has to be told by other means."""
    content = bytearray(store)
    for frame in read_frames(log):
        if not 0 < frame.number <= MOST:
            continue
        begin = (frame.number - 1) * len(frame.page)
        content.extend(bytes(max(0, begin - len(content))))
        content[begin : begin + len(frame.page)] = frame.page
    return bytes(content)


def read_frames(log: Path) -> list[Frame]:
    """The frames of this log that were written since it was begun anew, in order."""
    try:
        content = log.read_bytes()
    except OSError:
        return []
    if len(content) < HEADER + FRAME:
        return []
    magic, _, size, _, *salts, first, second = struct.unpack(">8I", content[:HEADER])
    order = ">" if magic & 1 else "<"
    state = _checksum((0, 0), content[: HEADER - 8], order)
    sound = magic >> 1 == MAGIC >> 1 and state == (first, second)
    if not sound:
        size, salts = PAGE, list(struct.unpack(">2I", content[HEADER + 8 : HEADER + 16]))
    found: list[Frame] = []
    ours = 0  # up to the last of this round; a frame before it that says otherwise is damaged
    for begin in range(HEADER, len(content) - FRAME - size + 1, FRAME + size):
        head, page = content[begin : begin + FRAME], content[begin + FRAME : begin + FRAME + size]
        number, ends, *own, one, two = struct.unpack(">6I", head)
        if sound:
            state = _checksum(_checksum(state, head[:8], order), page, order)
            sound = own == salts and state == (one, two)
        found.append(Frame(number, ends, page, sound))
        ours = len(found) if own == salts else ours
    return found[:ours]


def _checksum(state: tuple[int, int], data: bytes, order: str) -> tuple[int, int]:
    one, two = state
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for first, second in zip(words, words, strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
