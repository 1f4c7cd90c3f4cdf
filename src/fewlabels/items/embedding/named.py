"""Networks by name: fastembed's, downloaded once, checked, and used offline afterwards."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fewlabels.arrays import Numbers
from fewlabels.errors import ModelError, SettingError, nearest
from fewlabels.items.decoding import opened
from fewlabels.items.embedding.onnx_file import VERSION, in_thread
from fewlabels.items.feature_cache import cache_folder, far_along

INSTALL = "pip install 'fewlabels[embed]'"
SUITS = {"image": "Qdrant/clip-ViT-B-32-vision", "text": "BAAI/bge-small-en-v1.5"}  # what "auto" takes
LONGEST = 512  # pixels of the longer side that photos are decoded to; networks look at some 224
BESIDE = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "preprocessor_config.json",
)  # fmt: skip
HUB = "https://huggingface.co"  # unless HF_ENDPOINT names a mirror
PATIENCE = 10  # seconds until the hub counts as out of reach
SHA256 = re.compile("[0-9a-f]{64}")  # the name of a large file in the hub's cache is its digest


class Named:
    """A network of fastembed's list, for photos or texts."""

    def __init__(self, model: str, kind: str, tell: Callable[[str], None]) -> None:
        self.name = SUITS[kind] if model == "auto" else model
        self.version = f"{self.name.lower()} {VERSION}"
        self._kind, self._tell = kind, tell
        self._loaded: Any = None

    def numbers(self, things: Sequence[Any]) -> Numbers:
        """(m, d) of photos, given by path, or of texts."""
        if self._loaded is None:
            self._loaded = _load(self.name, self._kind, self._tell)
        if self._kind == "image":
            things = [opened(path, LONGEST) for path in things]
        return in_thread(lambda: np.stack(list(self._loaded.embed(things))))


def models_folder() -> Path:
    """Where downloaded networks are kept."""
    return cache_folder() / "models"


def _load(name: str, kind: str, tell: Callable[[str], None]) -> Any:
    if find_spec("fastembed") is None:
        raise ModelError(f"{name} needs packages that are not installed: {INSTALL}. Or give a file of your own, .onnx.")
    with _quiet():
        from fastembed import ImageEmbedding, TextEmbedding

        make = ImageEmbedding if kind == "image" else TextEmbedding
        known = {one["model"].lower(): one for one in make.list_supported_models()}
        if name.lower() not in known:
            names = sorted(one["model"] for one in known.values())
            raise SettingError(
                f"{name!r} is no network for {kind}s that fastembed knows.{nearest(name, names)} "
                f"Choose one of {', '.join(names)}, or a file ending in .onnx."
            )
        offer = known[name.lower()]
        folder = models_folder()
        tell(f"Loading {name}")
        try:
            return make(name, cache_dir=str(folder), local_files_only=True)
        except Exception:  # not there, or not whole: whatever a half-written file makes of it
            _download(offer, folder, tell)
        try:
            return make(name, cache_dir=str(folder), local_files_only=True)
        except Exception as error:
            raise ModelError(f"{name} cannot be loaded ({error}). Delete {folder} and start again.") from None


def _download(offer: dict[str, Any], folder: Path, tell: Callable[[str], None]) -> None:
    """Fetch the network's files with a progress bar; large ones must have the digest that the hub states."""
    from huggingface_hub import HfApi, snapshot_download

    name, repository = offer["model"], offer["sources"]["hf"]
    hub = os.environ.get("HF_ENDPOINT", HUB)
    try:
        HfApi(endpoint=hub).model_info(repository, timeout=PATIENCE)
        with _watched(folder, f"Downloading {name} into {folder}, once:", round(1000 * offer["size_in_GB"]), tell):
            wanted = [*BESIDE, offer["model_file"], *offer["additional_files"]]
            arrived = Path(snapshot_download(repository, endpoint=hub, allow_patterns=wanted, cache_dir=folder))
    except Exception as error:  # whatever the packages beneath make of a connection that fails
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelError(
            f"{name} is not in {folder}, and cannot be downloaded ({reason}). Connect once, or copy that folder from a "
            "machine that has it, or give a file ending in .onnx."
        ) from None
    for file in (path.resolve() for path in arrived.rglob("*") if path.is_file()):
        if SHA256.fullmatch(file.name) and _sha256(file) != file.name:
            file.unlink()
            raise ModelError(f"a file of {name} arrived damaged, and was removed. Start again to download it again.")


@contextmanager
def _watched(folder: Path, sentence: str, megabytes: int, tell: Callable[[str], None]) -> Iterator[None]:
    """Tell every half second how much of a download is there."""
    before, started, done = _megabytes(folder), time.monotonic(), threading.Event()

    def watch() -> None:
        while not done.wait(0.5):
            here = min(_megabytes(folder) - before, megabytes)
            tell(f"{sentence} {far_along(max(here, 1), megabytes, time.monotonic() - started)} (MB)")

    tell(f"{sentence} about {megabytes} MB")
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _megabytes(folder: Path) -> int:
    total = 0
    for path in folder.glob("*/blobs/*"):
        try:
            total += path.stat().st_size
        except OSError:  # renamed just now
            continue
    return total // 10**6


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the bars, logs and warnings of the packages beneath: `tell` says what a person needs."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from loguru import logger

    logger.disable("fastembed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
