"""G in blocks of rows on the workers of a cluster: what the dense engine says, said by several processes."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from support.graphs import in_pieces, random_labels, random_weights

import fewlabels as fl
from fewlabels.errors import ClusterError, MemoryNeededError, SettingError
from fewlabels.field import make_field
from fewlabels.field.cluster import Cluster
from fewlabels.field.dense import DenseField
from fewlabels.risk import two_step_lookahead
from fewlabels.strategies import tied

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'fewlabels[cluster]'")
dask = pytest.importorskip("dask")
blocks = pytest.importorskip("fewlabels.field.cluster.blocks")

ROUNDING = 1e-10
SIZES = [17, 8, 3, 1, 1]
N = sum(SIZES)


@contextlib.contextmanager
def local(n_workers, processes=True):
    """A scheduler, and workers with one thread each that are processes of their own."""
    with distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=processes, protocol="tcp://",
        dashboard_address="127.0.0.1:0", silence_logs=50,
    ) as made:  # fmt: skip
        yield made.scheduler_address


@pytest.fixture(scope="module")
def two():
    with local(2) as address, Cluster(address) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def one():
    with local(1, processes=False) as address, Cluster(address) as cluster:  # in this one: a start costs seconds
        yield cluster


def by_node(field):
    order = np.argsort(field.unlabelled)
    return field.G[np.ix_(order, order)], field.h[order], field.island[order], field.variance[order]


def assert_same(ours, theirs):
    assert (ours.label == theirs.label).all()
    assert ours.n_classes == theirs.n_classes
    for a, b in zip(by_node(ours), by_node(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize(("workers", "C"), [("one", 3), ("two", 2), ("two", 5)])
def test_after_any_answers_and_any_taking_back_the_field_is_the_dense_one(workers, C, request):
    rng = np.random.default_rng(C)
    graph = fl.Graph(in_pieces(SIZES, rng))
    ours, theirs = request.getfixturevalue(workers)(graph, C, 0.8), DenseField(graph, C, 0.8)
    assert_same(ours, theirs)

    def both(verb, *arguments):
        for field in (ours, theirs):
            getattr(field, verb)(*arguments)
        assert_same(ours, theirs)

    labels = random_labels(N, N, C, rng)
    few, last = list(labels)[:12], list(labels)[-1]
    for node in few:
        both("observe", node, labels[node])
    both("add_class")
    both("relabel", few[3], C)
    for node in rng.permutation(few).tolist():
        both("forget", node)  # down to no label at all
    both("observe_all", {node: labels[node] for node in labels if node != last})  # afresh
    assert ours.refreshes == 1
    both("observe", last, C)
    assert len(ours.unlabelled) == 0
    both("forget_all", few)
    both("observe_all", {few[0]: 1})


def test_unsure_answers_are_those_of_the_dense_field(two):
    rng = np.random.default_rng(6)
    graph = fl.Graph(in_pieces(SIZES, rng))
    ours, theirs = two(graph, 3, 0.8, 3.3), DenseField(graph, 3, 0.8, smoothness=3.3)
    labels = random_labels(N, 6, 3, rng)
    for step in range(25):
        node = int(rng.integers(N))
        weights = np.where(rng.random(3) < 0.5, 10 ** rng.uniform(-1, 1, 3), 0.0)
        for field in (ours, theirs):
            if step % 5 == 0:
                node = list(labels)[step // 5]
                field.observe(node, labels[node])
            else:
                field.attach(node, weights)
        assert_same(ours, theirs)
    known = np.array(list(labels)[:3])
    order = np.argsort(theirs.unlabelled)
    np.testing.assert_allclose(ours.reach(known), theirs.reach(known)[:, order], atol=ROUNDING)
    fresh = ours.copy()
    fresh.refresh()
    assert_same(fresh, ours)
    for field in (ours, theirs):
        field.forget_all(list(labels)[:5])
        field.add_class()
        field.attach(node, np.array([0.0, 0.0, 0.0, 2.0]))
        field.attach_all({k: np.zeros(4) for k in range(N)})  # the last answer of every component goes
    assert_same(ours, theirs)


@pytest.mark.parametrize("strategy", fl.STRATEGIES)
def test_every_strategy_asks_the_same_15_questions(strategy, two):
    rng = np.random.default_rng(1)
    weighted = in_pieces([9, 5, 2, 1], rng)
    for W, C in ((weighted, 4), ((weighted > 0).astype(float), 2)):  # without weights ties are common
        graph = fl.Graph(W)
        ours = fl.ActiveLearner(graph, range(C), strategy, engine=two)
        theirs = fl.ActiveLearner(graph, range(C), strategy, engine="dense")
        for _ in range(15):
            np.testing.assert_allclose(ours.costs(), theirs.costs(), atol=1e-9)
            asked = ours.query()
            assert asked == theirs.query()
            for learner in (ours, theirs):
                learner.teach(asked, int(rng.integers(C)) if learner is ours else ours.labelled[asked])


def test_a_float32_pass_on_the_workers_leaves_the_decision_to_float64(two):
    rng = np.random.default_rng(2)
    graph = fl.Graph.from_features(rng.normal(size=(700, 2)), n_neighbors=6)
    ours, theirs = two(graph, 3, 1.0), DenseField(graph, 3, 1.0)
    for node, c in random_labels(700, 15, 3, rng).items():
        for field in (ours, theirs):
            field.observe(node, c)
            field.skip((node + 1) % 700)
        cost, exact = two_step_lookahead(ours), two_step_lookahead(theirs)
        kept, kept_there = (~field.skipped[field.unlabelled] for field in (ours, theirs))
        ties = tied(cost[kept], ours.unlabelled[kept])
        np.testing.assert_array_equal(ties, tied(exact[kept_there], theirs.unlabelled[kept_there]))
        assert cost[kept].min() == pytest.approx(exact[kept_there].min(), abs=1e-9)


def test_an_answer_and_a_question_move_numbers_in_proportion_to_n(two):
    moved = {}
    for n in (600, 1200):  # both large enough for the float32 pass
        around = np.arange(n)
        edges = np.concatenate([around, around]), np.concatenate([(around + 1) % n, (7 * around + 3) % n])
        field = two(fl.Graph.from_edges(*np.unique(np.sort(edges, axis=0)[:, edges[0] != edges[1]], axis=1)), 2, 1.0)
        field.observe(0, 0)
        for what, do in {
            "observe": lambda field=field: field.observe(250, 1),
            "forget": lambda field=field: field.forget(250),
            "relabel": lambda field=field: field.relabel(0, 1),
            "question": lambda field=field: two_step_lookahead(field),
            "first answer": lambda field=field: (field.forget(0), field.observe(9, 0)),
        }.items():
            before = two.moved
            do()
            moved[what, n] = two.moved - before
    for what in {what for what, _ in moved}:
        assert moved[what, 1200] < 2.05 * moved[what, 600]
    assert moved["observe", 1200] == pytest.approx(3 * 8 * 1200, rel=0.01)  # one row here, and to each of two workers


def test_a_batch_and_a_look_ahead_leave_the_field_as_it_was_and_a_copy_is_independent(two):
    graph = fl.Graph(random_weights(20, np.random.default_rng(3)))
    empty = make_field(graph, 2, 0.5, two)
    ours = fl.ActiveLearner(graph, ["a", "b"], beta=0.5, engine=empty)  # one set-up for several learners
    theirs = fl.ActiveLearner(graph, ["a", "b"], beta=0.5, engine="dense")
    for learner in (ours, theirs):
        learner.teach([0, 1], ["a", "b"])
    assert ours.query(3) == theirs.query(3)
    assert [o.changes for o in ours.outcomes(5)] == [o.changes for o in theirs.outcomes(5)]
    assert ours.expected_error() == pytest.approx(theirs.expected_error(), abs=1e-12)
    assert len(empty.unlabelled) == 20
    ours.prepare(5, "a")
    theirs.prepare(5, "a")
    assert ours.upcoming(5) == theirs.upcoming(5)


def test_checks_are_judged_as_by_the_dense_engine(two):
    rng = np.random.default_rng(4)
    graph = fl.Graph(in_pieces([20, 6], rng))
    ours, theirs = (fl.ActiveLearner(graph, [0, 1, 2], engine=engine, smoothness=0.5) for engine in (two, "dense"))
    for learner in (ours, theirs):
        drawn, rng = learner.check(8), np.random.default_rng(5)
        for step, node in enumerate(drawn):
            learner.teach(node, int(rng.integers(3)), 1.0 if step % 3 else 0.9)
            learner.error()
    assert ours.checks == theirs.checks


def test_it_chooses_among_the_same_telling_nodes(two, monkeypatch):
    monkeypatch.setattr("fewlabels.strategies.telling.LEAST", 3)
    graph = fl.Graph(in_pieces([40], np.random.default_rng(0)))
    ours, theirs = (fl.ActiveLearner(graph, [0, 1, 2], engine=engine) for engine in (two, "dense"))
    for learner in (ours, theirs):
        learner.teach([0, 7], [0, 1])
    assert (theirs.costs() >= 1).sum() == 34  # those left out
    np.testing.assert_allclose(ours.costs(), theirs.costs(), rtol=1e-9)


def test_rounding_is_watched_as_in_the_dense_engine(two, monkeypatch):
    graph = fl.Graph(random_weights(20, np.random.default_rng(4)))
    monkeypatch.setattr("fewlabels.field.cluster.field.DRIFT", 0.0)
    monkeypatch.setattr("fewlabels.field.dense.field.DRIFT", 0.0)
    monkeypatch.setattr("fewlabels.field.cluster.field.AGAIN", 0.0)
    monkeypatch.setattr("fewlabels.field.dense.field.AGAIN", 0.0)
    ours, theirs = two(graph, 2, 1.0), DenseField(graph, 2, 1.0)
    for field in (ours, theirs):
        field.observe(0, 1)
        field.observe(1, 0)
        field.forget(0)
        field.forget(1)
    assert_same(ours, theirs)
    assert ours.refreshes == theirs.refreshes == 4


def test_weights_that_span_too_far_to_eliminate_are_built_up_without_a_subtraction(two):
    rng = np.random.default_rng(6)
    source, target = np.arange(11), np.arange(1, 12)
    graph = fl.Graph.from_edges(source, target, 10 ** rng.uniform(-6, 6, 11))
    ours, theirs = two(graph, 3, 1.0), DenseField(graph, 3, 1.0)
    labels = {0: 1, 6: 0}
    for field in (ours, theirs):
        field.observe_all(labels)
        field.observe(11, 2)
    for a, b in zip(by_node(ours), by_node(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_a_lost_worker_is_named_with_its_rows_and_the_learner_loads_again(tmp_path):
    graph = fl.Graph(random_weights(20, np.random.default_rng(5)))
    with local(2) as address, Cluster(address) as cluster:
        learner = fl.ActiveLearner(graph, ["a", "b"], engine=cluster)
        learner.teach([0, 1], ["a", "b"])
        pids = cluster._crew._client.run(os.getpid)
        os.kill(pids[cluster.workers[1]], signal.SIGKILL)
        for do in (learner.query, lambda: learner.teach(2, "a"), learner.query):
            with pytest.raises(ClusterError, match=r"is gone, and the rows of G of nodes 10 to 19 with it\. No answer"):
                do()
        learner.save(tmp_path / "learner.jsonl")
        with Cluster(address) as again:
            loaded = fl.ActiveLearner.load(tmp_path / "learner.jsonl", graph, engine=again)
            assert loaded.labelled == {0: "a", 1: "b"}
            assert loaded.query() == fl.ActiveLearner.load(tmp_path / "learner.jsonl", graph).query()


def test_a_change_broken_off_halfway_is_not_taken_for_an_answer(two, monkeypatch):
    field = two(fl.Graph.from_edges([0, 1], [1, 2]), 2, 1.0)
    field.observe(0, 1)
    with monkeypatch.context() as patch:
        patch.setattr(two._crew, "everyone", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            field.observe(1, 0)
    with pytest.raises(ClusterError, match="a change of G was interrupted"):
        two_step_lookahead(field)


def test_a_graph_too_large_for_the_workers_is_refused_with_the_numbers(two, monkeypatch):
    monkeypatch.setattr(blocks, "_free", lambda crew: [2**30, 2**31])
    with pytest.raises(
        MemoryNeededError, match=r"30,000 nodes needs 7\.2 GiB on the 2 .*3\.0 GiB are free \(1\.0, 2\.0"
    ):
        two(fl.Graph.from_edges([0], [1], n_nodes=30_000), 2, 1.0)
    field = two(fl.Graph.from_edges([0], [1], n_nodes=1000), 2, 1.0)
    monkeypatch.setattr(blocks, "_free", lambda crew: [2**20, 2**20])
    with pytest.raises(MemoryNeededError, match="a second field needs"):
        field.copy()


@pytest.mark.parametrize(
    ("n", "threads", "fits", "expected"),
    [
        (10, [1, 1], [100, 100], [5, 5]),
        (10, [1, 4], [100, 100], [2, 8]),
        (10, [1, 1], [3, 100], [3, 7]),
        (10, [1, 1, 1], [3, 0, 7], [3, 0, 7]),
        (1, [2, 2], [9, 9], [1, 0]),
    ],
)
def test_rows_go_by_threads_as_far_as_memory_allows(n, threads, fits, expected):
    assert blocks.shares(n, threads, fits) == expected


def test_more_workers_than_nodes(two):
    field = two(fl.Graph.from_edges([], [], n_nodes=1), 2, 1.0)
    field.observe(0, 1)
    field.forget(0)
    assert field.unlabelled.tolist() == [0]


def test_an_address_that_does_not_answer_gets_a_sentence_in_seconds():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        start = time.perf_counter()
        for address in (f"tcp://127.0.0.1:{taken.getsockname()[1]}", "not-an-address"):
            with pytest.raises(SettingError, match=f"no Dask scheduler answers at {address}"):
                Cluster(address)
        assert time.perf_counter() - start < 6


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes the certificate")
def test_with_tls_as_documented_only_who_has_the_certificate_is_let_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[3] / "docs/howto/cluster.md").read_text()
    [make] = re.findall(r"^openssl .*", text, flags=re.M)
    settings = dict(re.findall(r"(DASK_DISTRIBUTED__COMM__TLS\S+?)=(\S+)", text))
    assert subprocess.run(shlex.split(make), capture_output=True).returncode == 0
    files = {"tls_ca_file": "cert.pem", "tls_scheduler_cert": "cert.pem", "tls_scheduler_key": "key.pem"}
    files |= {"tls_worker_cert": "cert.pem", "tls_worker_key": "key.pem"}
    files |= {"tls_client_cert": "cert.pem", "tls_client_key": "key.pem"}
    machines = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tls", dashboard_address="127.0.0.1:0",
        silence_logs=50, security=distributed.Security(**files, require_encryption=True),
    )  # fmt: skip
    graph = fl.Graph.from_edges(range(9), range(1, 10))
    with machines:
        address = machines.scheduler_address
        assert address.startswith("tls://")
        with pytest.raises(SettingError, match="no Dask scheduler answers"):
            Cluster(address.replace("tls://", "tcp://"), timeout=1.0)
        as_set = dask.config.merge(dask.config.config, dask.config.collect_env(settings))
        with dask.config.set(as_set), Cluster(address) as cluster:
            learner = fl.ActiveLearner(graph, range(2), engine=cluster)
            learner.teach([0, 9], [0, 1])
            assert learner.query() in (4, 5)


def test_a_cluster_without_workers_and_a_closed_one_say_so(one):
    with local(0) as address, pytest.raises(SettingError, match="has no workers: start some with `dask worker"):
        Cluster(address)
    again = Cluster(one._crew.address)
    field = again(fl.Graph.from_edges([0], [1]), 2, 1.0)
    again.close()
    with pytest.raises(SettingError, match="has been closed: make a new one"):
        field.observe(0, 1)


def test_columns_and_a_strategy_of_ones_own_are_those_of_the_dense_engine(two):
    class LeastTied:
        """By a column of G, that of the lowest node left, and by what is left at each node."""

        def cost(self, field):
            return field.columns(np.array([field.unlabelled.min()]))[:, 0] - field.variance.clip(max=1e3)

    rng = np.random.default_rng(6)
    graph = fl.Graph(in_pieces([9, 5, 1], rng))
    ours, dense = (fl.ActiveLearner(graph, range(3), LeastTied(), engine=engine) for engine in (two, "dense"))
    for node, c in random_labels(15, 6, 3, rng).items():
        np.testing.assert_allclose(ours.costs(), dense.costs(), atol=1e-9)
        for learner in (ours, dense):
            learner.teach(node, c)
    assert ours.can_look_further
    assert ours.outcomes(ours.query())


def test_a_models_opinion_counts_in_the_costs_as_on_the_dense_engine(two):
    rng = np.random.default_rng(4)
    graph, prior = fl.Graph(in_pieces(SIZES, rng)), rng.dirichlet(np.ones(3), N)
    learners = [fl.ActiveLearner(graph, range(3), engine=engine, prior=prior) for engine in (two, "dense")]
    for learner in learners:
        learner.teach([0, 5, 20], [0, 1, 2])
    ours, theirs = (learner.costs() for learner in learners)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
