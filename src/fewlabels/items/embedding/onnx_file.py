"""A network of one's own: an ONNX file, run by onnxruntime, without any connection."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewlabels.arrays import Floats, Numbers
from fewlabels.errors import FileError, ModelError

T = TypeVar("T")
SECONDS = 300.0  # for one run, of sixteen items at most
MEMORY = 2**32  # bytes of what is computed within, beside the weights
FOLDED = 2**26  # bytes of a constant that is computed while a network is loaded, where that memory is not counted
NUMBERS = 2_000_000  # of an item: a thousand for each of two thousand places, say
CUT = 300  # characters of what onnxruntime says of an error
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
        options = onnxruntime.SessionOptions()
        for key, value in {
            "session.use_env_allocators": "1",  # that is the one with a limit
            "session.use_device_allocator_for_initializers": "1",  # weights do not count
            "optimization.constant_folding_max_output_size_in_bytes": str(FOLDED),
        }.items():
            options.add_session_config_entry(key, value)
        try:
            ours = onnxruntime.OrtMemoryInfo(
                "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
            )
            onnxruntime.create_and_register_allocator(ours, onnxruntime.OrtArenaCfg({"max_mem": MEMORY}))
            return onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            said = str(error)[:CUT]
            raise FileError(f"{self.path} is no network that can be run ({said}). Export it to ONNX again.") from None

    def run(self, inputs: dict[str, NDArray[Any]], output: str | None = None) -> Numbers:
        """The output of that name, or the first, a row for every item."""
        names = [one.name for one in self.session.get_outputs()]
        if output is not None and output not in names:
            raise FileError(f"{self.path} has no output {output!r}: it has {', '.join(names)}.")
        n = len(next(iter(inputs.values())))
        try:
            found = np.asarray(self._outputs([output or names[0]], inputs)[0])
        except TimeoutError:
            took = f"ran for more than {SECONDS:g} s on {n} items"
            raise FileError(f"{self.path} {took}: give a smaller network.") from None
        except Exception as error:
            raise FileError(f"{self.path} cannot be run on these items ({str(error)[:CUT]}).") from None
        if found.ndim < 2 or len(found) != n:
            raise FileError(
                f"{self.path} makes an array of shape {found.shape} of {n} items: a row for each is needed."
            )
        if found.size > n * NUMBERS:
            raise FileError(
                f"{self.path} makes {found.size // n:,} numbers of an item, over the limit of {NUMBERS:,}: "
                "give a smaller network."
            )
        return found

    def _outputs(self, names: list[str], inputs: dict[str, NDArray[Any]]) -> list[Any]:
        import onnxruntime

        session, options = self.session, onnxruntime.RunOptions()

        def stop() -> None:
            options.terminate = True

        return in_thread(lambda: session.run(names, inputs, options), SECONDS, stop)


def in_thread(work: Callable[[], T], seconds: float | None = None, stop: Callable[[], None] = lambda: None) -> T:
    """What it returns, from a thread that nobody waits for longer than this, so that Ctrl-C is heard meanwhile."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        return result.result(seconds)
    finally:
        stop()
        thread.join(0.5)  # the end of the program while it is still ending would be a crash


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
