"""The workers of a Dask cluster, and the messages to them: all that the driver sends goes through here."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fewlabels.errors import SettingError

POLL = 1.0  # seconds between checks that a worker that has not answered yet is still there


class WorkerGone(Exception):  # noqa: N818  passed between these files, never shown
    """These workers (by number) no longer answer."""

    def __init__(self, sentence: str, which: list[int]) -> None:
        super().__init__(sentence)
        self.which = which


class Crew:
    """One holder of rows on every worker that the scheduler knows when the crew is created."""

    def __init__(self, address: str, timeout: float, direct: bool) -> None:
        self.address = address
        self._client = _connect(address, timeout, direct)
        self._futures: list[Any] = []
        self._holders: list[Any] = []
        self.moved = 0  # bytes of the arrays and numbers sent and received so far
        self.lost: WorkerGone | None = None
        try:
            self.threads: dict[str, int] = self._client.nthreads()
            if not self.threads:
                raise SettingError(
                    f"the Dask scheduler at {address} has no workers: start some with `dask worker {address}`."
                )
            self.workers = sorted(self.threads)
            self._futures, self._holders = self._call_together()
            self.everyone("meet", self._holders)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the workers; the rows they hold are dropped."""
        self._holders, self._futures = [], []
        self._client.close()

    def one(self, k: int, method: str, *arguments: Any) -> Any:
        """What worker k answers."""
        return self._hear([(k, self._say(k, method, arguments))])[0]

    def everyone(self, method: str, *arguments: Any) -> list[Any]:
        """What each worker answers when all are told the same."""
        return self.each(method, [arguments] * len(self.workers))

    def each(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What each worker answers when each is told something different; all work at the same time."""
        return self._hear([(k, self._say(k, method, mine)) for k, mine in enumerate(arguments)])

    def forget_rows(self, field: int) -> None:
        """The rows of this field are no longer needed; nobody waits for that."""
        if self._holders and self.lost is None:
            with contextlib.suppress(Exception):  # they may be gone already
                for k in range(len(self.workers)):
                    self._say(k, "drop", (field,))

    def _call_together(self) -> tuple[list[Any], list[Any]]:
        from fewlabels.field.cluster.worker import Holder

        futures = [
            self._client.submit(Holder, self.threads[worker], actor=True, workers=[worker], pure=False)
            for worker in self.workers
        ]
        try:
            with self._client.as_current():
                return futures, [future.result() for future in futures]
        except ImportError as error:
            raise SettingError(
                f"a worker of {self.address} cannot load fewlabels ({error}): install the same version on every worker."
            ) from None

    def _say(self, k: int, method: str, arguments: tuple[Any, ...]) -> Any:
        if self.lost is not None:
            raise self.lost
        if not self._holders:
            raise SettingError(f"the cluster at {self.address} has been closed: make a new one.")
        self.moved += _size(arguments)
        try:
            with self._client.as_current():
                return getattr(self._holders[k], method)(*arguments)
        except RuntimeError:  # Dask already knows that the worker is gone
            raise self._loss(k) from None

    def _hear(self, calls: list[tuple[int, Any]]) -> list[Any]:
        answers = []
        for k, call in calls:
            while True:
                try:
                    answers.append(call.result(timeout=POLL))
                    break
                except TimeoutError:
                    if self._gone():
                        raise self._loss(k) from None
                except OSError:
                    raise self._loss(k) from None
        self.moved += _size(answers)
        return answers

    def _gone(self) -> list[int]:
        return [k for k, future in enumerate(self._futures) if future.status not in ("finished", "pending")]

    def _loss(self, k: int) -> WorkerGone:
        gone = self._gone() or [k]
        names = " and ".join(self.workers[k] for k in gone)
        who = f"the worker {names}" if len(gone) == 1 else f"the workers {names}"
        verb = "is" if len(gone) == 1 else "are"
        self.lost = WorkerGone(f"{who} of the cluster at {self.address} {verb} gone", gone)
        return self.lost


def _connect(address: str, timeout: float, direct: bool) -> Any:
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError:
        raise SettingError("a cluster needs Dask: pip install 'fewlabels[cluster]'.") from None
    try:
        socket.create_connection(get_address_host_port(address), timeout).close()  # Client itself retries and lingers
        return Client(  # type: ignore[no-untyped-call]
            address, timeout=timeout, set_as_default=False, direct_to_workers=direct
        )
    except Exception as error:  # whatever listens there may answer anything
        raise SettingError(
            f"no Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`, or check the address."
        ) from None


def _size(what: Any) -> int:
    """Bytes of the arrays in a message; anything else counts as one number."""
    if isinstance(what, np.ndarray):
        return what.nbytes
    if isinstance(what, (tuple, list)):
        return sum(map(_size, what))
    if isinstance(what, sparse.csr_array):
        return int(what.data.nbytes + what.indices.nbytes + what.indptr.nbytes)
    return 8
