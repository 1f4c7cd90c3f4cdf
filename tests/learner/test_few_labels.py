"""Few labels on many nodes: the field, centred predictions, the first questions, and how wrong it says it is."""

import numpy as np
import pytest
from support.fields import field_of
from support.graphs import in_pieces, random_labels
from support.learners import learner

import fewlabels as fl
from fewlabels.centring import Centre
from fewlabels.errors import SettingError
from fewlabels.field import Conditioned, FieldSpec
from fewlabels.kernels.reference import two_step_marginals
from fewlabels.learner.hindsight import Hindsight, Surprise
from fewlabels.marginals import two_step_marginals as marginals_of
from fewlabels.strategies import first_questions
from fewlabels.strategies.first_questions import candidates, finding_classes, first_costs


def blocks(n, C, mixing=0.1, degree=12, seed=0):
    """A stochastic block model and its classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    a = rng.integers(n, size=n * degree // 2)
    inside = a % C + C * rng.integers(n // C, size=len(a))
    b = np.where(rng.random(len(a)) < mixing, rng.integers(n, size=len(a)), inside)
    edges = np.unique(np.sort(np.column_stack([a, b])[a != b], axis=1), axis=0)
    return fl.Graph.from_edges(edges[:, 0], edges[:, 1], n_nodes=n), y


def answered(graph, y, many, **options):
    """A learner that has asked, and been told the truth, so many times."""
    ours = fl.ActiveLearner(graph, range(int(y.max()) + 1), **options)
    for _ in range(many):
        node = ours.query()
        ours.teach(node, int(y[node]))
    return ours


def right(ours, y):
    return float(np.mean(ours.predict() == y))


@pytest.fixture(scope="module")
def large():
    return blocks(1_500, 5)


def test_ten_answers_are_enough_where_the_paper_s_field_collapses(large):
    graph, y = large
    assert right(answered(graph, y, 10), y) > 0.97
    assert right(answered(graph, y, 10, smoothness=0, centred=False), y) < 0.75


def test_what_is_taken_depends_on_size_and_kind():
    rng = np.random.default_rng(0)
    for n, expected in ((200, 0.0), (600, 0.5), (1_200, 3.3)):
        assert FieldSpec().resolved(fl.Graph.from_features(rng.normal(size=(n, 3)), 8)).smoothness.value == expected
    for n, expected in ((1_000, 0.0), (2_000, 0.5), (6_000, 3.3)):
        tree = fl.Graph.from_edges(np.arange(1, n), [int(rng.integers(k)) for k in range(1, n)])
        assert FieldSpec().resolved(tree).smoothness.value == expected
    wide = fl.Graph.from_edges(range(1_999), range(1, 2_000), [1e-6, *[1.0] * 1_998])
    assert FieldSpec().resolved(wide).smoothness == (0.0, "weights that span more than a factor 100000", True)
    assert FieldSpec().resolved(fl.Graph([[0]])).smoothness.value == 0
    assert FieldSpec().resolved(fl.Graph.from_edges([0] * 9_000, range(1, 9_001))).smoothness.value == 0  # a star


def test_beta_follows_the_smoothness_and_the_scale_of_the_weights(large):
    graph, _ = large
    mean = graph.degrees().mean()
    assert FieldSpec(smoothness=0).resolved(graph).beta * mean == pytest.approx(5)
    assert FieldSpec(smoothness=3.3, overlap=0).resolved(graph).beta * mean == pytest.approx(2, rel=0.02)
    a, b = (FieldSpec(smoothness=3.3, overlap=0).resolved(g).build() for g in (graph, fl.Graph(7 * graph.weights)))
    np.testing.assert_allclose(a.K[:5, :5], b.K[:5, :5], rtol=1e-9)


@pytest.mark.parametrize("engine", ["dense", "sparse"])
@pytest.mark.parametrize("n", [200, 600])
def test_nodes_without_an_edge_change_nothing_for_the_others(n, engine):
    """With 1,800 of them beside 200 nodes beta was ten times what it is without, and most chances 1."""
    rng = np.random.default_rng(0)
    links = fl.Graph.from_features(rng.normal(size=(n, 2)), 10).weights.tocoo()
    lone = fl.Graph.from_edges(links.row, links.col, links.data, n_nodes=n + 300)
    plain, beside = (fl.ActiveLearner(graph, [0, 1, 2], engine=engine) for graph in (fl.Graph(links.tocsr()), lone))
    for ours in (plain, beside):
        ours.teach([1, 2, 3, 4], [0, 1, 2, 0])
        ours.teach(5, 1, confidence=0.8)
    np.testing.assert_allclose(beside.predict_proba()[:n], plain.predict_proba(), rtol=1e-6)
    assert (beside._field.beta, beside._field.smoothness) == pytest.approx((plain._field.beta, plain._field.smoothness))


def test_links_joined_with_words_are_judged_by_the_links():
    """3,000 nodes around 30 hubs: each has ten neighbours by words, and it is the hubs that count."""
    rng = np.random.default_rng(0)
    hubs = fl.Graph.from_edges(np.arange(30, 3000), rng.integers(30, size=2970))
    joined = hubs.with_features(rng.random((3000, 4)))
    assert FieldSpec().resolved(hubs).smoothness.value == 0.5
    assert FieldSpec().resolved(joined).smoothness.value == 0
    assert FieldSpec().resolved(fl.Graph(joined.weights)).smoothness.value == 3.3
    ring = fl.Graph.from_edges(np.arange(3000), np.roll(np.arange(3000), -1)).with_features(rng.random((3000, 4)))
    assert FieldSpec().resolved(ring).smoothness.value == 3.3


def test_it_says_what_it_took(large):
    graph, _ = large
    ours = fl.ActiveLearner(graph, list("abcde"))
    assert ours.describe().startswith("smooth field (3.3), beta ")
    assert "1,500 nodes, about equally many edges each; predictions centred" in ours.describe()
    assert "smoothness 3.3, centred" in repr(ours)
    paper = fl.ActiveLearner(graph, list("abcde"), beta=1.0, smoothness=0, centred=False)
    assert paper.describe() == (
        "field of the paper (smoothness 0), beta 1: as given; predictions as label propagation has them"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothness": -1}, "smoothness is -1"),
        ({"smoothness": "very"}, "smoothness is 'very'"),
        ({"smoothness": True}, "smoothness is True"),
        ({"centred": "no"}, "centred is 'no'"),
        ({"prior": {"a": 1.0}}, "no share for class 'b'"),
        ({"prior": {"a": 0.5, "b": 0.4}}, "add up to 0.9"),
        ({"prior": {"a": 0.5, "b": 0.5, "c": 0.0}}, "names 'c'"),
        ({"prior": {"a": 2, "b": -1}}, "numbers from 0 to 1"),
        ({"prior": [0.5, 0.5]}, "give the share of every class"),
        ({"prior": {"a": 0.5, "b": 0.5}, "centred": False}, "centred is False"),
    ],
)
def test_settings_that_make_no_sense_get_a_sentence(options, message):
    with pytest.raises(SettingError, match=message.replace("(", r"\(")):
        learner(**options)


class TestCentring:
    def test_the_mean_of_h_is_that_of_equal_shares_in_every_component(self):
        graph = fl.Graph(in_pieces([40, 30, 5], np.random.default_rng(0)))
        ours = learner(graph, list("abc"))
        component = graph.components()
        large, small = (np.flatnonzero(component == c) for c in np.argsort(-np.bincount(component))[:2])
        ours.teach([int(large[0]), int(large[9]), int(small[0])], ["a", "b", "c"])
        centre, of = Centre(ours._field), component[ours._field.unlabelled]
        np.testing.assert_allclose(centre.h[of == component[large[0]]].mean(axis=0), [0, 0, -1], atol=1e-12)
        np.testing.assert_allclose(centre.h[of == component[small[0]]], np.tile([-1, -1, 1], (29, 1)), atol=1e-9)
        assert (ours.predict()[small] == "c").all()

    def test_with_many_answers_it_is_label_propagation_nearly(self):
        graph, y = blocks(200, 2)
        ours, plain = (learner(graph, [0, 1], centred=c, smoothness=0) for c in ("auto", False))
        for each in (ours, plain):
            each.teach(range(150), y[:150].tolist())
        assert abs(ours.predict_proba() - plain.predict_proba()).max() < 0.1

    def test_answers_at_random_do_not_make_one_class_win_everywhere(self, large):
        """h hardly differs from its mean, so the mean must not decide, however many answers there are."""
        graph, y = large
        asked = np.random.default_rng(1).permutation(len(y))[:40]
        found = []
        for engine in ("dense", "sparse"):
            ours = fl.ActiveLearner(graph, range(5), engine=engine, smoothness=0)
            ours.teach(asked.tolist(), y[asked].tolist())
            found.append(ours.predict_proba())
            assert right(ours, y) > 0.9
        np.testing.assert_allclose(*found, atol=1e-6)

    def test_how_clear_h_is_counts_beyond_two_answers_a_class(self):
        """By the definition: the mean distance of h from its mean, as a share of what labels of that mean have."""
        graph, y = blocks(300, 2)
        ours = learner(graph, [0, 1], smoothness=0)
        asked = [*range(0, 20), *range(20, 60, 2)]
        ours.teach(asked, y[asked].tolist())
        h = ours._field.h
        clear = abs(h - h.mean(axis=0)).mean(axis=0).sum() / (1 - h.mean(axis=0) ** 2).sum()
        assert 4 / 40 < 1 - clear < 1
        np.testing.assert_allclose(Centre(ours._field).h, h - (1 - clear) * h.mean(axis=0), atol=1e-12)

    def test_only_classes_heard_are_predicted_and_the_first_answer_is_everyone_s(self):
        ours = learner(classes=list("cab"))
        ours.teach(3, "b")
        assert set(ours.predict()) == {"b"}
        assert ours.unheard == ["c", "a"]

    def test_known_shares_decide_where_the_graph_does_not(self):
        graph, y = blocks(600, 2, mixing=0.7)
        even, uneven = (learner(graph, [0, 1], prior=p) for p in (None, {0: 0.95, 1: 0.05}))
        for each in (even, uneven):
            each.teach([0, 1, 2, 3], y[:4].tolist())
        assert abs(np.mean(even.predict() == 0) - 0.5) < 0.2
        assert np.mean(uneven.predict() == 0) > 0.85
        assert "centred on the prior" in uneven.describe()

    def test_unequal_classes_lose_nothing(self):
        rng = np.random.default_rng(0)
        y = rng.choice(4, size=2_000, p=[0.85, 0.1, 0.03, 0.02])
        graph = fl.Graph.from_features(3.2 * np.eye(8)[y] + rng.normal(size=(2_000, 8)) * 0.9, 10)
        told = dict(zip(range(60), y[:60].tolist(), strict=True))
        centred, plain = (learner(graph, range(4), centred=c) for c in (True, False))
        for each in (centred, plain):
            each.teach(list(told), list(told.values()))
        assert right(centred, y) > right(plain, y) - 0.003


class TestHindsight:
    @pytest.mark.parametrize("a", [0.0, 3.3])
    def test_it_is_what_leaving_each_label_out_says_after_any_answers(self, a):
        rng = np.random.default_rng(1)
        graph = fl.Graph(in_pieces([25, 9, 4], rng))
        field = field_of(graph, 3, 0.6, a)
        labels = random_labels(38, 14, 3, rng)
        for step, (node, c) in enumerate(labels.items()):
            field = field.with_answer(node, c)
            if step in (5, 9):
                field = field.without([list(labels)[step - 4]])
            if step % 2:
                self.check(field)
        field = field.without([k for k in labels if field.label[k] >= 0 and field.component[k] == field.component[0]])
        self.check(field)

    @staticmethod
    def check(field):
        nodes, p = Hindsight(field).chances()
        for node, chance in zip(nodes.tolist(), p, strict=True):
            gone = field.without([node])
            at = gone.unlabelled == node
            if gone.island[at][0] < 0:
                np.testing.assert_allclose(chance, marginals_of(gone)[at][0], atol=1e-9)
            else:
                assert np.isnan(chance).all()

    def test_an_error_the_model_denies_is_in_the_number(self):
        """Classes at random: the field is sure of itself, the answers are not predicted."""
        rng = np.random.default_rng(0)
        graph = fl.Graph.from_features(rng.normal(size=(1_200, 3)), 10)
        y = rng.integers(4, size=1_200)
        ours = answered(graph, y, 40)
        assert ours.expected_error() > (1 - right(ours, y)) / 3
        plain = answered(graph, y, 40, centred=False, smoothness=0)
        assert plain.expected_error() == pytest.approx(
            (1 - plain.predict_proba().max(axis=1)).mean()
        )  # as the paper has it

    def test_answers_that_no_other_could_have_foretold_are_no_surprise(self, large):
        graph, y = large
        ours = answered(graph, y, 20)
        given, (nodes, p) = ours._answers.given, ours._hindsight.chances()
        once = next(c for c in range(5) if (y[nodes] == c).sum() > 1)
        ours.forget([k for k in nodes if y[k] == once][1:])
        given, (nodes, p) = ours._answers.given, ours._hindsight.chances()
        judged = [i for i in range(len(nodes)) if y[nodes[i]] != once]
        found = ours._hindsight.surprise(given)
        assert found.answers == len(judged) == len(nodes) - 1
        assert found.missed == pytest.approx(np.mean([1 - p[i, y[nodes[i]]] for i in judged]))
        assert found.foretold == pytest.approx(np.mean([1 - p[i].max() for i in judged]))

    def test_more_surprise_is_more_error(self):
        assert Surprise(0, 0.0, 0.0).expected_error(0.3) == 0.3  # nothing is known
        found = [Surprise(20, missed, 0.2).expected_error(0.1) for missed in np.linspace(0, 1, 11)]
        assert found == sorted(found)
        assert found[0] == pytest.approx(0.04)  # a model that is not surprised, and more careful than it has to be
        assert 0.6 < found[-1] < 1
        assert Surprise(20, 0.3, 0.3).expected_error(0.1) < Surprise(20, 0.3, 0.1).expected_error(0.1)
        assert Surprise(10**6, 1.0, 0.0).expected_error(1.0) == 1.0

    def test_it_stays_near_the_truth_where_all_is_well(self, large):
        graph, y = large
        ours = answered(graph, y, 20)
        assert ours.expected_error() < 1 - right(ours, y) + 0.15


class TestKnownShares:
    """Where no label reaches, the known shares of the classes are all there is to go by."""

    SHARES = np.array([0.01, 0.84, 0.15])
    GRAPH = fl.Graph.from_edges([0, 1, 2, 5, 6], [1, 2, 3, 6, 7], n_nodes=12)  # paths of four and three, five alone

    def ours(self, engine="dense", **options):
        shares = dict(zip("abc", self.SHARES.tolist(), strict=True))
        return fl.ActiveLearner(self.GRAPH, list("abc"), engine=engine, prior=shares, **options)

    @pytest.mark.parametrize("engine", ["dense", "sparse"])
    def test_nodes_that_no_label_reaches_follow_them(self, engine):
        ours = self.ours(engine)
        assert ours.predict().tolist() == ["b"] * 12
        np.testing.assert_allclose(ours.predict_proba(), np.tile(self.SHARES, (12, 1)), rtol=1e-12)
        assert ours.expected_error() == pytest.approx(0.16)
        ours.teach([0, 2], ["a", "c"])
        lost = ours.unreached
        assert lost == [4, 5, 6, 7, 8, 9, 10, 11]
        assert set(ours.predict()[lost]) == {"b"}
        np.testing.assert_allclose(ours.predict_proba()[lost], np.tile(self.SHARES, (8, 1)), rtol=1e-12)
        ours.teach(5, "a")
        check = ours._hindsight.predictions(np.array([5]))  # what would be said there without its answer
        assert ours.classes[check[0]] == "b"
        ours.forget(5)
        assert ours.predict()[5] == "b"

    @pytest.mark.parametrize("engine", ["dense", "sparse"])
    def test_tsa_counts_them_as_wrong_as_the_shares_say(self, engine):
        ours = self.ours(engine)
        ours.teach([0, 2], ["a", "c"])
        field = ours._field

        def risk(field):
            p = two_step_marginals(field.h, field.variance)
            p[field.island >= 0] = self.SHARES
            return (1 - p.max(axis=1)).sum() / 12

        gains, costs = ours.gains(), ours.costs()
        for node in field.unlabelled:
            at = np.flatnonzero(field.unlabelled == node)[0]
            chance, after = two_step_marginals(field.h, field.variance)[at], 0.0
            for c in range(3):
                after += chance[c] * risk(field.with_answer(int(node), c))
            assert gains[node] == pytest.approx(risk(field) - after, abs=1e-9)
            assert costs[node] == pytest.approx(after, abs=1e-9)

    def test_a_batch_supposes_them(self, monkeypatch):
        ours, seen = self.ours(), []
        plain = Conditioned.with_answer

        def with_answer(field, node, label):
            seen.append((node, label))
            return plain(field, node, label)

        monkeypatch.setattr(Conditioned, "with_answer", with_answer)
        ours.query(4)
        assert seen
        assert all(label == 1 for _, label in seen)

    def test_a_class_of_no_share_is_not_predicted(self):
        ours = fl.ActiveLearner(self.GRAPH, list("ab"), prior={"a": 0, "b": 1})
        assert set(ours.predict()) == {"b"}
        np.testing.assert_array_equal(ours.predict_proba()[0], [0, 1])
        assert ours.expected_error() == 0


class TestFirstQuestions:
    def test_they_are_asked_on_a_smooth_centred_field_until_there_are_as_many_answers_as_classes(self, large):
        graph, y = large
        ours = fl.ActiveLearner(graph, range(5))
        started = []
        for _ in range(7):
            started.append(finding_classes(ours._field))
            node = ours.query()
            ours.teach(node, int(y[node]))
        assert started == [False, True, True, True, True, False, False]
        assert not finding_classes(answered(graph, y, 2, centred=False)._field)
        assert not finding_classes(answered(graph, y, 2, smoothness=0.5)._field)
        assert len(ours.unheard) == 0

    def test_they_end_when_they_find_no_class(self):
        """On 30,000 points in eight clouds they asked about the same cloud seven times."""
        graph, y = blocks(1_600, 8)
        ours = fl.ActiveLearner(graph, range(8))
        for k in (8, 16, 24, 32):  # one class
            assert finding_classes(ours._field) == (k > 8)
            ours.teach(k, int(y[k]))
        assert not finding_classes(ours._field)
        ours.forget(32)
        ours.teach(1, 1)
        assert finding_classes(ours._field)

    def test_a_question_tells_that_not_all_were_scored(self, large, monkeypatch):
        monkeypatch.setattr(first_questions, "CANDIDATES", 64)  # fewer than the telling nodes
        graph, _ = large
        ours = fl.ActiveLearner(graph, range(5))
        ours.teach(0, 0)
        node, told = ours.query(), ours.last_question
        assert (told.node, told.pool, told.sample) == (node, 64, 1_499)
        assert told.cost == ours.costs()[node] == np.nanmin(ours.costs())
        for k in range(1, 1_500):
            ours.skip(k)
        assert np.isnan(ours.costs()).all()

    def test_costs_are_the_expected_error_on_contrasts(self):
        """By the definitions: covariance about the mean, every answer of every question enumerated."""
        rng = np.random.default_rng(3)
        graph = fl.Graph(in_pieces([30, 4], rng))
        ours = learner(graph, list("abcd"), smoothness=3.3)
        ours.teach([0, 7], ["a", "c"])
        field = ours._field
        cost = first_costs(field, field.askable).values
        G, h, reached = field.G, field.h, field.island < 0
        some = np.flatnonzero(reached)
        G, h = G[np.ix_(some, some)], h[some]
        m, C = G.mean(axis=0), 4
        variance = np.diag(G) - 2 * m + m.mean()
        centred = Centre(field).h[some]
        chance = two_step_marginals(h, np.diag(G))
        blank = (~reached).sum() * (1 - 1 / C)
        for q in range(len(some)):
            r = (G[:, q] - m[q]) / G[q, q]
            v = variance - (G[:, q] - m[q]) ** 2 / G[q, q]
            expected = blank
            for c in range(C):
                y = np.where(np.arange(C) == c, 1.0, -1.0)
                p = two_step_marginals(np.delete(centred + np.outer(r, y - h[q]), q, 0), np.delete(v, q))
                expected += chance[q, c] * (1 - p.max(axis=1)).sum()
            assert cost[some[q]] == pytest.approx(expected / field.n_nodes, rel=1e-9)

    def test_on_large_graphs_the_error_is_that_of_a_sample(self, large, monkeypatch):
        graph, _ = large
        ours = fl.ActiveLearner(graph, range(5))
        ours.teach([0, 1], [0, 1])
        field = ours._field
        asked = candidates(field, np.arange(1_498))
        whole = first_costs(field, field.askable).values[asked]
        monkeypatch.setattr(
            first_questions, "judges", lambda field: np.sort(np.random.default_rng(0).permutation(1_498)[:600])
        )
        some, screening = first_costs(field, field.askable)
        assert screening.sample == 600
        assert np.corrcoef(whole, some[asked])[0, 1] > 0.99
        assert whole[np.argmin(some[asked])] < np.sort(whole)[10]

    def test_on_large_graphs_some_are_scored_and_skipped_ones_never(self, large):
        graph, _ = large
        field = field_of(graph, 5, 0.2, 3.3).without_questions(range(0, 1_500, 2))
        chosen = field.unlabelled[candidates(field, np.flatnonzero(field.askable))]
        assert len(chosen) == 512
        assert (chosen % 2 == 1).all()


class TestUnsureAnswers:
    @pytest.mark.parametrize("smoothness", [0.0, "auto"])
    def test_nearly_sure_is_as_good_as_sure(self, large, smoothness):
        graph, y = large
        asked = [int(k) for k in np.random.default_rng(0).permutation(len(y))[:60]]
        found = []
        for confidence in (1.0, 0.999):
            ours = fl.ActiveLearner(graph, range(5), smoothness=smoothness)
            ours.teach(asked, y[asked].tolist(), confidence)
            found.append(right(ours, y))
        assert found[1] > found[0] - 0.01

    def test_wrong_ones_do_less_harm_than_if_they_were_sure(self, large):
        graph, y = large
        rng = np.random.default_rng(1)
        asked = rng.permutation(len(y))[:80]
        said = np.where(rng.random(80) < 0.1, (y[asked] + 1) % 5, y[asked])
        found = []
        for confidence in (1.0, 0.9):
            ours = fl.ActiveLearner(graph, range(5))
            ours.teach(asked.tolist(), said.tolist(), confidence)
            found.append(right(ours, y))
        assert found[1] >= found[0]


class TestJournal:
    def test_the_field_the_centring_and_the_shares_are_saved(self, tmp_path):
        graph, y = blocks(400, 3)
        ours = learner(graph, list("abc"), smoothness=1.5, prior={"a": 0.5, "b": 0.25, "c": 0.25})
        for _ in range(4):
            node = ours.query()
            ours.teach(node, "abc"[y[node]])
        ours.save(tmp_path / "j")
        again = fl.ActiveLearner.load(tmp_path / "j", graph)
        assert again.describe() == ours.describe()
        np.testing.assert_allclose(again.predict_proba(), ours.predict_proba(), atol=1e-12)
        assert again.expected_error() == pytest.approx(ours.expected_error(), abs=1e-12)
        assert again.query() == ours.query()

    def test_a_covariance_passed_as_the_engine_comes_back_as_smooth_as_it_was(self, tmp_path, large):
        graph, _ = large
        ours = learner(graph, list("ab"), engine=FieldSpec(smoothness=0).resolved(graph).build())
        ours.teach([0, 1], ["a", "b"])
        ours.save(tmp_path / "j")
        again = fl.ActiveLearner.load(tmp_path / "j", graph)
        np.testing.assert_array_equal(again.predict_proba(), ours.predict_proba())

    def test_a_journal_from_before_there_was_a_choice_is_replayed_as_it_was(self, tmp_path):
        graph, _ = blocks(400, 2)
        ours = learner(graph, ["a", "b"], smoothness=0, centred=False)
        ours.teach([0, 1], ["a", "b"])
        ours.save(tmp_path / "j")
        text = (tmp_path / "j").read_text()
        for key in ('"smoothness": 0.0, ', '"centred": false, ', ', "prior": null'):
            assert key in text
            text = text.replace(key, "")
        (tmp_path / "old").write_text(text)
        again = fl.ActiveLearner.load(tmp_path / "old", graph)
        assert again.describe() == ours.describe()
        assert again.query() == ours.query()
