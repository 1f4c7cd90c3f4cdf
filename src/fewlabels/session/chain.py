"""Checksums that prove a store whole: each event's covers the one before it, the first what the store is about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

ABOUT = ("begun", "fingerprint", "n_items", "title")


def first(about: Mapping[str, Any]) -> str:
    """The checksum of what a store is about."""
    return _digest([about.get(name) for name in ABOUT])


def link(before: str, fields: Iterable[Any]) -> str:
    """The checksum of an event, by its fields and the checksum before it."""
    return _digest([before, *fields])


def _digest(values: list[Any]) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=True).encode()).hexdigest()[:32]
