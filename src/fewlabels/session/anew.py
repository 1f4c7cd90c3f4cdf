"""Write a store anew, from memory, where its file was moved, removed or replaced while it was open."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from fewlabels.errors import FewlabelsError
from fewlabels.files.atomic import sync_folder
from fewlabels.session.learnt import Learnt
from fewlabels.session.store import Event, Store, StoreError, beside


def write_anew(store: Store, events: Sequence[Event]) -> Store:
    """A new store with these events, all that `store` was given, at its path, or, if something else lies there by now,
    under a fresh name beside it. `store` is closed once the new one is open.

    The checksums go on as they were, so what is written is proven to be what had been confirmed.
    """
    draft = store.path.resolve().with_name(f"{store.path.name}.part")
    try:
        _write(draft, store, events)
        store.leave()
        opened = Store(_place(draft, store.path), store.about)
    except (FewlabelsError, OSError) as error:
        raise StoreError(f"No new file could be written beside {store.path}: {error}") from None
    store.close()
    return opened


def _write(draft: Path, store: Store, events: Sequence[Event]) -> None:
    """All events into a file that nobody takes for a store before it is whole; one that cannot be is removed."""
    _remove(draft)
    try:
        with closing(Store(draft, store.about)) as made:
            made.append(events, _learnt_by(store))
            if made.sum != store.sum:
                raise StoreError("what is in memory is not what had been written.")
    except BaseException:
        _remove(draft)
        raise


def _learnt_by(store: Store) -> list[Learnt]:
    """What was learnt from the events, as far as the file that is gone still says."""
    with suppress(sqlite3.Error):
        return list(store.learnt().values())
    return []


def _remove(draft: Path) -> None:
    for file in (draft, *beside(draft)):
        file.unlink(missing_ok=True)


def _place(draft: Path, path: Path) -> Path:
    """Give the draft the first name that is free: nothing that lies there is replaced, or mixed with it."""
    for name in _names(path):
        place = name.resolve()
        if not any(other.exists() for other in (place, *beside(place))):
            try:
                os.link(draft, place)  # unlike a renaming it cannot replace what has appeared this very moment
                draft.unlink()
            except FileExistsError:
                continue
            except OSError:  # a file system without links
                draft.rename(place)
            sync_folder(place.parent)
            return name
    raise AssertionError("there is always another number")


def _names(path: Path) -> Iterator[Path]:
    yield path
    for number in count(2):
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")
