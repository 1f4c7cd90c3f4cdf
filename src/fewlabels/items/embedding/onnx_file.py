"""A network of one's own: an ONNX file, run by onnxruntime, without any connection."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import Floats, Numbers
from fewlabels.errors import FileError, ModelError

VERSION = 2  # of how photos and texts are given to a network: raise it when that changes


class OnnxFile:
    """An ONNX file; `beside` is what else its numbers depend on."""

    def __init__(self, path: Path, beside: str) -> None:
        self.path, self.name = path, path.name
        try:
            self.version = f"{_digest(path)} {beside} {VERSION}"
        except OSError as error:
            raise FileError(f"cannot read {path} ({error.strerror}). Give the path of an ONNX file.") from None

    @cached_property
    def session(self) -> Any:
        try:
            import onnxruntime
        except ImportError:
            raise ModelError(f"{self.path} needs onnxruntime: pip install 'fewlabels[embed]'.") from None
        onnxruntime.set_default_logger_severity(4)
        try:
            return onnxruntime.InferenceSession(str(self.path), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise FileError(f"{self.path} is no network that can be run ({error}). Export it to ONNX again.") from None

    def run(self, inputs: dict[str, NDArray[Any]], output: str | None = None) -> Numbers:
        """The output of that name, or the first, a row for every item."""
        names = [one.name for one in self.session.get_outputs()]
        if output is not None and output not in names:
            raise FileError(f"{self.path} has no output {output!r}: it has {', '.join(names)}.")
        n = len(next(iter(inputs.values())))
        try:
            found = np.asarray(self.session.run([output or names[0]], inputs)[0])
        except Exception as error:
            raise FileError(f"{self.path} cannot be run on these items ({error}).") from None
        if found.ndim < 2 or len(found) != n:
            raise FileError(
                f"{self.path} makes an array of shape {found.shape} of {n} items: a row for each is needed."
            )
        return found


def _digest(path: Path) -> str:
    """SHA-256 of the file, and of those beside it in which exporters keep the weights: net.onnx.data, net.onnx_data."""
    digest, named = hashlib.sha256(path.read_bytes()), (f"{path.name}.", f"{path.name}_")
    for part in sorted(one for one in path.parent.iterdir() if one.name.startswith(named) and one.is_file()):
        with part.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def averaged(found: Numbers, colours_first: bool = True) -> Floats:
    """(m, d) of an output: the mean over places, (m, d, height, width), or (m, height, width, d) where colours come
    last; or over patches, (m, patches, d)."""
    if found.ndim == 4:
        found = found.mean(axis=(2, 3) if colours_first else (1, 2))
    elif found.ndim == 3:
        found = found.mean(axis=1)
    return found.reshape(len(found), -1).astype(float)
