"""The runner: many trials of many strategies, in parallel, resumed where they stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fewlabels.adapters.named import check_name
from fewlabels.arrays import Floats
from fewlabels.errors import SettingError
from fewlabels.experiments.results import Results
from fewlabels.experiments.trials import Draw, Row, run_trial
from fewlabels.field import FieldSpec
from fewlabels.field.covariance import Covariance

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Plan:
    """What is run: a dataset, the strategies, and the protocol.

    The paper's protocol is the default: 50 trials, beta = 1, its own field, predictions not centred.
    """

    name: str
    draw: Draw
    strategies: tuple[str, ...]
    n_labels: int
    trials: int = 50
    seed: int = 0
    beta: float | str = 1.0
    smoothness: float | str = 0.0
    overlap: float | str = 0.0
    centred: bool = False
    prior: Floats | None = None  # (n, C) a model's chances


def run(
    plan: Plan,
    folder: str | Path,
    jobs: int = -1,
    cluster: str | None = None,
    on_trial: Callable[[str], None] = lambda strategy: None,
) -> pd.DataFrame:
    """The plan's rows; what is not in the folder yet is run. on_trial is told the strategy of every finished trial.

    Trials go to worker processes through joblib, one thread each, or to a Dask cluster. One set-up of the graph serves
    all of them. The numbers depend on the seed only.
    """
    import pandas as pd

    if jobs == 0:
        raise SettingError("0 worker processes cannot run anything: give 1 or more, or -1 for all cores.")
    if not plan.strategies:
        raise SettingError("no strategy to run: name at least one.")
    example = plan.draw(np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(0,))))
    for strategy in plan.strategies:
        check_name(strategy, len(example.classes))
    n_labels = min(plan.n_labels, int((example.labels >= 0).sum()))
    settings = {"seed": plan.seed, "labels": n_labels, "beta": plan.beta, "dataset_sha256": example.fingerprint()}
    if plan.smoothness != 0 or plan.overlap != 0 or plan.centred:
        settings |= {"smoothness": plan.smoothness, "overlap": plan.overlap, "centred": plan.centred}
    if plan.prior is not None:
        settings["prior_sha256"] = hashlib.sha256(plan.prior.tobytes()).hexdigest()
    with Results(folder, plan.name, n_labels, settings) as results:
        wanted = [(strategy, trial) for strategy in plan.strategies for trial in range(plan.trials)]
        for strategy, _ in sorted(results.done & set(wanted)):
            on_trial(strategy)
        todo = [task for task in wanted if task not in results.done]
        if todo:
            with _one_way():
                covariance = FieldSpec(plan.beta, plan.smoothness, plan.overlap).resolved(example.graph).build()
            for (strategy, trial), rows in _in_parallel(plan, n_labels, todo, covariance, jobs, cluster):
                results.append(strategy, trial, rows)
                on_trial(strategy)
        results.finish()
        frame = results.frame()
    frame = frame[frame["trial"] < plan.trials]
    return pd.concat([frame[frame["strategy"] == strategy] for strategy in plan.strategies], ignore_index=True)


def _in_parallel(
    plan: Plan, n_labels: int, todo: list[tuple[str, int]], covariance: Covariance, jobs: int, cluster: str | None
) -> Iterator[tuple[tuple[str, int], list[Row]]]:
    """Every trial's rows, in the order they are finished."""
    from joblib import Parallel, delayed

    with _backend(cluster):
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(_task)(plan, n_labels, task, covariance) for task in todo)


def _task(
    plan: Plan, n_labels: int, task: tuple[str, int], covariance: Covariance
) -> tuple[tuple[str, int], list[Row]]:
    strategy, trial = task
    for name in plan.strategies:
        check_name(name)  # loads its package: joblib ends a worker that grows by 300 MB after its first task as leaking
    with _one_way():
        rows = run_trial(
            plan.draw,
            strategy,
            n_labels,
            trial,
            plan.seed,
            plan.beta,
            covariance,
            plan.smoothness,
            plan.overlap,
            plan.centred,
            plan.prior,
        )
        return task, rows


def _one_way() -> AbstractContextManager[object]:
    """One thread for LAPACK: with two, the last bits of an inverse differ, and so would a run with other --jobs."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")


@contextmanager
def _backend(cluster: str | None) -> Iterator[None]:
    """joblib's own worker processes, or those of the Dask cluster at this address."""
    if cluster is None:
        yield
        return
    from joblib import parallel_config

    try:
        from distributed import Client
    except ImportError:
        raise SettingError("--cluster needs Dask: pip install 'fewlabels[cluster]'.") from None
    try:
        client = Client(cluster, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise SettingError(
            f"no Dask scheduler answers at {cluster} ({error}). Start one, or check the address."
        ) from None
    with client, parallel_config(backend="dask"):
        yield
