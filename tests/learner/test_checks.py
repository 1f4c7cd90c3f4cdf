"""Checks: nodes drawn at random, what they say of the error, and when one may stop."""

import itertools
from dataclasses import replace
from math import comb

import networkx as nx
import numpy as np
import pytest
from support.graphs import in_pieces
from support.learners import PATH, learner

import fewlabels as fl
from fewlabels.errors import LabelError, QueryError, SettingError
from fewlabels.learner.estimate import Audit, can_stop, checks_to_go, estimate, evidence, interval
from fewlabels.learner.verdict import verdict

ENGINES = ["dense", "sparse"]


def audit(n, left, wrong, **more):
    return Audit(n, left, **{"skipped": 0, "expected": 0.1, **more}, wrong=tuple(wrong))


def some(n_checks, n_wrong, n=1_000):
    return audit(n, n - n_checks, [True] * n_wrong + [False] * (n_checks - n_wrong))


class TestInterval:
    @pytest.mark.parametrize(("n", "m", "w"), [(12, 5, 0), (12, 5, 2), (30, 7, 7), (9, 9, 1), (39, 1, 1)])
    def test_it_holds_every_number_of_wrong_nodes_that_is_not_too_unlikely(self, n, m, w):
        def chance(K, values):
            """Of as many wrong ones in a sample of m nodes out of n, when K are wrong."""
            return sum(comb(K, x) * comb(n - K, m - x) for x in values if x <= K and m - x <= n - K) / comb(n, m)

        low, high = interval(some(m, w, n), 0.9)
        possible = range(w, n - (m - w) + 1)
        likely = [K for K in possible if chance(K, range(w, m + 1)) > 0.05 and chance(K, range(w + 1)) > 0.05]
        assert round(low * n) == likely[0] - w
        assert round(high * n) == likely[-1] - w

    def test_without_checks_it_is_as_wide_as_it_can_be(self):
        found = estimate(audit(100, 80, (), expected=0.03), 0.9)
        assert (found.low, found.high, found.checks) == (0.0, 0.8, 0)
        assert found.value == 0.03
        assert "nothing was checked" in str(found)

    def test_more_checks_and_less_confidence_make_it_narrower(self):
        width = [high - low for low, high in (interval(some(m, m // 10), 0.9) for m in (10, 20, 40, 80, 160))]
        assert width == sorted(width, reverse=True)
        assert interval(some(40, 4), 0.8)[1] < interval(some(40, 4), 0.9)[1] < interval(some(40, 4), 0.99)[1]

    def test_a_skipped_check_is_wrong_in_high_and_right_in_low(self):
        plain = some(20, 2)
        skips = replace(plain, left=plain.left - 5, wrong=(*plain.wrong, *[None] * 5))
        worst = replace(plain, left=plain.left - 5, wrong=(*plain.wrong, *[True] * 5))
        best = replace(plain, left=plain.left - 5, wrong=(*plain.wrong, *[False] * 5))
        assert interval(skips, 0.9)[0] == pytest.approx(interval(best, 0.9)[0], abs=0.002)
        assert interval(skips, 0.9)[1] == pytest.approx(interval(worst, 0.9)[1] + 5 / 1_000, abs=1e-9)

    def test_skipped_questions_may_all_be_wrong(self):
        plain = audit(100, 70, [False] * 20)
        low, high = interval(replace(plain, left=60, skipped=10), 0.9)
        assert low == 0
        assert high >= interval(replace(plain, left=60, n_nodes=90), 0.9)[1] * 0.9 + 0.1 - 1e-9

    def test_the_value_lies_within(self):
        for wrong, expected in itertools.product([0, 3, 20], [0.0, 0.5]):
            found = estimate(replace(some(20, wrong), expected=expected), 0.9)
            assert found.low <= found.value <= found.high

    @pytest.mark.parametrize(("doubt", "C"), [(0.05, 2), (0.1, 5)])
    def test_answers_that_may_be_wrong_are_allowed_for(self, doubt, C):
        """Predictions that are all right are contradicted by every wrong answer."""
        m = 400
        not_told = audit(10_000, 9_600, [k < m * doubt for k in range(m)])
        assert interval(not_told, 0.9)[0] > 0.02
        told = replace(not_told, doubt=doubt, n_classes=C)
        assert interval(told, 0.9)[0] == 0
        assert interval(told, 0.9)[1] >= interval(not_told, 0.9)[1]  # people may be better than they say
        assert estimate(told, 0.9).value < 0.01
        assert evidence(told, 0.2) <= evidence(not_told, 0.2)

    def test_answers_that_say_nothing_leave_everything_open(self):
        """Two opposite answers of the same confidence to the only check."""
        ours = learner()
        (node,) = ours.check()
        ours.teach(node, "a", 0.7)
        ours.teach(node, "b", 0.7)
        assert ours.error().low == 0
        assert ours.error().high > 0.8

    def test_nodes_whose_answers_may_be_wrong_are_not_all_right(self):
        ours = learner()
        ours.teach(range(7), ["a"] * 7, 0.6)
        assert ours.error().value == pytest.approx(0.4)
        assert not ours.can_stop(0.3)


class TestEvidence:
    def test_it_is_the_formula(self):
        n, left, wrong, target = 500, 440, [False, True, False, False, None, False], 0.2
        allowed, total = target * n - 1, 0.0
        for f, q in ((0, 0.4), (0.25, 0.3), (0.5, 0.3)):
            for j, bad in enumerate(wrong, start=1):
                theta = allowed / (left + len(wrong) - j + 1)
                q *= f if bad is not False else (1 - f * theta) / (1 - theta)
            total += q
        assert evidence(audit(n, left, wrong), target) == pytest.approx(total, rel=1e-12)

    @pytest.mark.parametrize(("target", "needed"), [(0.05, [54, 118, 153]), (0.1, [27, 58, 75]), (0.2, [13, 28, 36])])
    def test_how_many_checks_it_takes_with_none_one_and_two_wrong(self, target, needed):
        def enough(w):
            return next(m for m in itertools.count(w) if can_stop(some(m, w, 10**6), target, 0.9))

        assert [enough(w) for w in (0, 1, 2)] == needed
        assert checks_to_go(some(0, 0, 10**6), target, 0.9) == needed[0]

    def test_a_check_is_one_of_those_it_was_drawn_from(self):
        """Three were answered between the two draws, five since."""
        among, theta = (100 + 2 + 8, 100 + 1 + 5), 0.1 * 200
        total = sum(
            q * np.prod([(1 - f * theta / N) / (1 - theta / N) for N in among])
            for f, q in ((0, 0.4), (0.25, 0.3), (0.5, 0.3))
        )
        assert evidence(audit(200, 100, [False] * 2, since=(8, 5)), 0.1) == pytest.approx(total, rel=1e-12)

    def test_looking_after_every_check_it_rarely_stops_where_it_must_not(self):
        """101 of 1,000 nodes wrong, target 10%: at most one run in ten may ever stop."""
        rng, stopped = np.random.default_rng(0), 0
        for _ in range(300):
            bad = (rng.permutation(1_000)[:150] < 116).tolist()  # about 101 are still wrong in the end
            stopped += any(can_stop(audit(1_000, 1_000 - m, bad[:m]), 0.1, 0.9) for m in range(10, 151, 4))
        assert 3 < stopped <= 30

    def test_what_is_to_go_is_what_it_takes(self):
        now = some(10, 1)
        more = checks_to_go(now, 0.1, 0.9)
        after = replace(now, left=now.left - more, wrong=(*now.wrong, *[False] * more))
        before = replace(now, left=now.left - more + 1, wrong=(*now.wrong, *[False] * (more - 1)))
        assert can_stop(after, 0.1, 0.9)
        assert not can_stop(before, 0.1, 0.9)
        assert checks_to_go(after, 0.1, 0.9) == 0
        assert checks_to_go(now, 0.1, 0.9, wrong=0.05) > more
        assert checks_to_go(some(10, 10), 0.001, 0.9) is not None  # every node answered is a way to be sure

    def test_with_few_nodes_left_nothing_can_be_wrong(self):
        assert can_stop(audit(100, 9, ()), 0.1, 0.9)
        assert not can_stop(audit(100, 11, ()), 0.1, 0.9)

    def test_nodes_nobody_can_judge_forbid_it(self):
        assert not can_stop(audit(100, 50, [False] * 30, skipped=11), 0.1, 0.9)


class TestVerdict:
    @pytest.mark.parametrize(
        ("found", "settled", "said"),
        [
            (audit(1_000, 980, ()), True, "Still learning: nothing is checked yet."),
            (audit(1_000, 980, [None] * 3), True, "Still learning: no check is answered, 3 skipped."),
            (audit(1_000, 50, ()), True, "Nearly all are answered: at most 5% can be wrong. You can stop."),
            (some(12, 0), True, "Probably below 10%: 12 checks, none wrong; at most 17% (90% sure)."),
            (some(12, 0), False, "Still learning: 12 checks, none wrong; between 0% and 22% wrong (90% sure)."),
            (some(27, 0), True, "Checked: at most 10% wrong (90% sure). You can stop."),
            (some(80, 1), True, "Checked: between 0% and 5.5% wrong (90% sure). You can stop."),
            (some(20, 9), True, "No: between 25% and 64% wrong (90% sure). Going on."),
        ],
    )
    def test_it_says_so_in_plain_words(self, found, settled, said):
        assert str(verdict(replace(found, expected=0.03), 0.1, 0.9, settled)) == said


def taught(engine="dense", unsure=False, pieces=(30, 8, 3), centred=True, a=0.5, C=3, seed=0):
    """A learner that has drawn ten checks in a graph in pieces and been taught these and ten more."""
    rng = np.random.default_rng(seed)
    graph = fl.Graph(in_pieces(pieces, rng))
    ours = learner(graph, range(C), engine=engine, centred=centred, smoothness=a, beta=0.7)
    checks = ours.check(10)
    for step, node in enumerate([*checks, *rng.permutation(graph.n_nodes)[:10].tolist()]):
        if node in ours.labelled:
            continue
        sure = not unsure or step % 3
        ours.teach(node, int(rng.integers(C)), 1.0 if sure else 0.8)
        if not sure and step % 2:
            ours.teach(node, int(rng.integers(C)), 0.7)
    return ours


class TestJudging:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("unsure", [False, True])
    @pytest.mark.parametrize(("centred", "a"), [(True, 0.5), (True, 0.0), (False, 3.0)])
    def test_a_check_is_judged_by_what_would_be_predicted_without_it(self, engine, unsure, centred, a):
        for seed in range(4):
            ours = taught(engine, unsure, centred=centred, a=a, seed=seed)
            judged = ours.checks
            said = [each for each in ours.answers if each.node in {check.node for check in judged}]
            for check in judged:
                mine = [each for each in said if each.node == check.node]
                ours.forget(check.node)
                assert check.prediction == ours.predict()[check.node]
                for each in mine:
                    ours.teach(each.node, each.label, each.confidence)

    @pytest.mark.parametrize(("many", "sampled"), [(0, 1_000), (7, 22), (500, 22)])
    def test_it_stays_so_whatever_comes_and_goes_and_however_many_there_are(self, many, sampled, monkeypatch):
        """Beyond `MANY` answers the sparse engine's covariance begins at them; others come, go, and come in numbers."""
        monkeypatch.setattr("fewlabels.field.links.on_demand.MANY", many)
        monkeypatch.setattr("fewlabels.centring.SAMPLED", sampled)
        rng = np.random.default_rng(3)
        ours = taught(engine="sparse")
        for step in range(12):
            left = [k for k in range(ours.graph.n_nodes) if k not in ours.labelled]
            new = rng.permutation(left)[: (1, 1, 9)[step % 3] if len(left) > 12 else 0].tolist()
            ours.teach(new, rng.integers(3, size=len(new)).tolist())
            if step % 4 == 1:
                ours.check(2)
            old = rng.permutation(list(ours.labelled))[: step % 3 + (step == 7) * 9].tolist()
            ours.forget(old)
            plain = learner(ours.graph, range(3), centred=True, smoothness=0.5, beta=0.7)
            for check in ours.checks:
                if check.label is not None:
                    others = {k: label for k, label in ours.labelled.items() if k != check.node}
                    plain.forget(list(plain.labelled))
                    plain.teach(list(others), list(others.values()))
                    assert check.prediction == plain.predict()[check.node]

    def test_alone_in_its_piece_it_is_judged_by_the_first_class(self):
        ours = taught(pieces=(30, 1, 1))
        lonely = np.flatnonzero(np.bincount(ours.graph.components())[ours.graph.components()] == 1)
        ours.forget([k for k in lonely.tolist() if k in ours.labelled])
        ours.add_checks(lonely.tolist())
        ours.teach(lonely, [0, 2])
        assert [(check.prediction, check.right) for check in ours.checks if check.node in lonely] == [
            (0, True),
            (0, False),
        ]


class TestDrawing:
    def test_every_open_node_is_equally_likely(self):
        drawn = np.zeros(7)
        for seed in range(300):
            ours = learner(random_state=seed)
            ours.teach(0, "a")
            ours.skip(3)
            drawn[ours.check()[0]] += 1
        assert drawn[0] == drawn[3] == 0
        assert abs(drawn[[1, 2, 4, 5, 6]] - 60).max() < 28  # four standard deviations

    def test_a_check_waits_for_its_answer(self):
        ours = learner()
        first = ours.check(2)
        assert ours.check() == first[:1]
        assert ours.check(without=first[:1]) == first[1:]
        ours.teach(first[0], "a")
        assert ours.check() == first[1:]
        assert ours.check(3)[0] == first[1]
        assert [each.node for each in ours.checks][:2] == first

    def test_the_seed_and_the_history_decide(self):
        assert learner(random_state=5).check(4) == learner(random_state=5).check(4)
        assert any(learner(random_state=5).check(4) != learner(random_state=seed).check(4) for seed in range(4))

    def test_one_that_waits_is_a_check_even_where_it_is_the_best_question(self):
        ours = learner()
        ours.check(6)
        assert ours.next().check == (ours.query() in ours.check(6))

    def test_what_is_set_aside_is_not_drawn_and_counts_as_skipped(self):
        ours = learner()
        drawn = ours.check(2)
        ours.teach(drawn[0], "a")
        before = ours.error()
        ours.set_aside([drawn[1], *[k for k in range(7) if k not in drawn][:2]])
        after = ours.error()
        assert (before.skipped, after.skipped) == (0, 1)
        assert ours.audit.skipped == 2
        assert after.high >= before.high
        assert ours.check()[0] not in [drawn[1], *[k for k in range(7) if k not in drawn][:2]]
        assert ours.query() is not None

    def test_drawing_changes_no_question(self):
        ours = learner()
        ours.teach([0, 6], ["a", "b"])
        before = ours.query()
        ours.check(2)
        assert ours.query() == before

    def test_nothing_left(self):
        ours = learner()
        ours.teach(range(7), ["a"] * 7)
        with pytest.raises(QueryError, match=r"1 check\(s\) wanted and 0 node\(s\) left: 7 are labelled"):
            ours.check()
        with pytest.raises(QueryError, match="whole number"):
            ours.check(0)

    def test_volunteered_answers_are_no_checks(self):
        ours = learner()
        ours.teach([0, 6], ["a", "b"])
        assert ours.error().checks == 0
        with pytest.raises(LabelError, match="node 0 has an answer already"):
            ours.add_checks([0])

    def test_forgotten_it_does_not_count_until_it_is_answered_again(self):
        ours = learner()
        drawn = ours.check(2)
        ours.teach(drawn, ["a", "b"])
        assert ours.error().checks == 2
        ours.forget(drawn[0])
        assert ours.error().checks == 1
        ours.teach(drawn[0], "b")
        assert ours.error().checks == 2

    def test_skipped_it_counts_as_such(self):
        ours = learner()
        drawn = ours.check(2)
        ours.teach(drawn[0], "a")
        ours.skip(drawn[1])
        assert (ours.error().checks, ours.error().skipped) == (1, 1)
        assert ours.check()[0] not in drawn

    def test_saved_and_loaded(self, tmp_path):
        ours = learner()
        drawn = ours.check(3)
        ours.teach([0, 6, *drawn[:2]], ["a", "b", "a", "b"]) if not {0, 6} & set(drawn) else ours.teach(
            drawn[:2], ["a", "b"]
        )
        ours.skip(drawn[2])
        ours.save(tmp_path / "journal")
        again = fl.ActiveLearner.load(tmp_path / "journal", PATH)
        assert again.checks == ours.checks
        assert (again.error(), again.audit) == (ours.error(), ours.audit)
        assert again.check() == ours.check()


def coins(seed, n=200, checks=40, rare=0.2):
    """A learner on a graph that says nothing, with twenty answers; labels that say nothing either; and checks drawn."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rare).astype(int)
    ours = learner(fl.Graph.from_networkx(nx.random_regular_graph(8, n, seed=seed)), range(2), random_state=seed)
    first = rng.permutation(n)[:20].tolist()
    ours.teach(first, y[first])
    return ours, y, ours.check(checks) if checks else []


class TestPopulation:
    """A check counts against the nodes it was drawn from, whatever was answered since."""

    def test_easy_answers_volunteered_after_the_checks_are_no_reason_to_stop(self):
        stopped = 0
        for seed in range(4):
            ours, y, drawn = coins(seed)
            ours.teach(drawn, y[drawn])
            easy = [k for k in np.flatnonzero(ours.predict() == y).tolist() if k not in ours.labelled]
            while easy and (ours.predict() != y).mean() > 0.15:
                stopped += ours.can_stop(0.15)
                ours.teach(easy[:30], y[easy[:30]])
                easy = easy[30:]
        assert not stopped

    @pytest.mark.parametrize("right", [True, False])
    def test_the_interval_holds_whatever_is_volunteered(self, right):
        held = 0
        for seed in range(4):
            ours, y, drawn = coins(seed)
            ours.teach(drawn, y[drawn])
            chosen = [k for k in np.flatnonzero((ours.predict() == y) == right).tolist() if k not in ours.labelled]
            chosen = chosen[: 100 if right else 20]
            ours.teach(chosen, y[chosen])
            held += ours.error().low <= (ours.predict() != y).mean() <= ours.error().high
        assert held >= 3

    def test_what_was_answered_before_was_never_in_it(self):
        before, after = learner(), learner()
        before.teach([0, 6], ["a", "b"])
        drawn = before.check(2)
        after.add_checks(drawn)
        after.teach([0, 6], ["a", "b"])
        for ours in (before, after):
            ours.teach(drawn, ["a", "b"])
        assert before.audit.among.tolist() == [5, 4]
        assert after.audit.among.tolist() == [7, 6]
        before.forget([0])
        assert before.audit.among.tolist() == [6, 5]  # as if it could have been drawn

    def test_more_answers_than_can_be_judged_may_all_have_been_wrong(self, monkeypatch):
        ours, y, drawn = coins(0)
        ours.teach(drawn, y[drawn])
        some = [k for k in range(100) if k not in ours.labelled]
        ours.teach(some, y[some])
        low, high = ours.error().low, ours.error().high
        monkeypatch.setattr("fewlabels.learner.hindsight.Hindsight.at_hand", False)
        ours.set_aside([])
        assert ours.error().low <= low
        assert ours.error().high >= high


def pairs(rng, n=150):
    """Pairs of nodes that are one thing each, loosely tied to others at random."""
    g = nx.empty_graph(n)
    g.add_weighted_edges_from((i, j, 0.3) for i, j in rng.integers(n, size=(n, 2)).tolist() if i != j)
    g.add_weighted_edges_from((k, k + 1, 10.0) for k in range(0, n, 2))
    return nx.to_scipy_sparse_array(g), np.repeat(rng.integers(3, size=n // 2), 2)


def spots(rng, side=18, size=3):
    """A grid in spots of nine nodes."""
    y = np.kron(rng.integers(3, size=(side // size, side // size)), np.ones((size, size), dtype=int))
    return nx.to_scipy_sparse_array(nx.grid_2d_graph(side, side), dtype=float), y.ravel()


class TestLeaning:
    """A check that is right by one other check's answer alone: by chance they are right together, or wrong."""

    @pytest.mark.parametrize("make", [pairs, spots])
    def test_the_interval_holds_where_one_answer_mends_few_nodes(self, make):
        held, runs = 0, 40
        for seed in range(runs):
            W, y = make(np.random.default_rng(seed))
            ours = learner(fl.Graph(W), range(3), random_state=seed)
            drawn = ours.check(30)
            ours.teach(drawn, y[drawn])
            held += ours.error().low <= (ours.predict() != y).mean() <= ours.error().high
        assert held >= 0.88 * runs

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("confidence", [1.0, 0.9])
    def test_it_leans_if_another_class_is_predicted_once_one_more_is_forgotten(self, engine, confidence):
        W, y = pairs(np.random.default_rng(0), n=24)
        ours = learner(fl.Graph(W), range(3), engine=engine, centred=False)
        drawn = ours.check(14)
        confidences = np.where(np.arange(14) % 2, 1.0, confidence)
        ours.teach(drawn, y[drawn], confidences)
        sure = dict(zip(drawn, confidences.tolist(), strict=True))
        checks, label, leans = ours.checks, {node: int(y[node]) for node in drawn}, []
        for one in checks:
            found = set()
            for other in checks:
                both = list({one.node, other.node})
                ours.forget(both)
                found.add(ours.predict()[one.node])
                ours.teach(both, [label[node] for node in both], [sure[node] for node in both])
            leans.append(found != {one.prediction})
        nodes = np.array([each.node for each in checks])
        assert ours._hindsight.leaning(nodes).tolist() == leans
        assert 0 < sum(leans) < len(leans)

    def test_it_widens_the_interval_to_both_sides(self):
        plain = some(40, 8)
        low, high = interval(replace(plain, leaning=6), 0.9)
        assert low < interval(plain, 0.9)[0]
        assert high > interval(plain, 0.9)[1]


class TestWaiting:
    """A check that waits while later ones are answered."""

    def test_passed_over_it_counts_as_wrong(self):
        ours, y, drawn = coins(1, checks=59, rare=0.5)
        guess = ours.predict()
        right = [k for k in drawn if guess[k] == y[k] == 0]
        ours.teach(right, y[right])
        passed = [k for k in drawn[: drawn.index(right[-1])] if k not in right]
        found, wrong = ours.error(), (ours.predict() != y).mean()
        assert found.high > wrong > 0.25
        assert not ours.can_stop(0.25)
        assert (found.waiting, found.skipped) == (len(passed), 0)
        assert f"{len(passed)} open" in str(ours.verdict())
        for node in passed:
            ours.skip(node)
        assert (ours.error().waiting, ours.error().skipped) == (0, len(passed))
        assert ours.error().high == pytest.approx(found.high)
        ours.forget(passed)
        ours.teach(passed, guess[passed])
        assert ours.error().high < found.high

    def test_one_whose_turn_has_not_come_changes_nothing(self):
        ours, y, drawn = coins(2, checks=50)
        other = coins(2, checks=0)[0]
        other.add_checks(drawn[:30])
        for each in (ours, other):
            each.teach(drawn[:30], y[drawn[:30]])
        assert ours.verdict(0.15) == other.verdict(0.15)

    def test_enough_before_it_is_enough_unless_a_later_one_is_wrong(self):
        """Whatever the time one looks: also the time before it was drawn."""
        enough = [False] * 27
        assert can_stop(audit(10**6, 10**6, [*enough, None, False], waiting=(27,)), 0.1, 0.9)
        assert not can_stop(audit(10**6, 10**6, [*enough, None, True], waiting=(27,)), 0.1, 0.9)
        assert not can_stop(audit(10**6, 10**6, [*enough, None, False]), 0.1, 0.9)  # skipped
        assert not can_stop(audit(10**6, 10**6, [None, *enough], waiting=(0,)), 0.1, 0.9)
        assert checks_to_go(audit(10**6, 10**6, [None, *enough[2:]], waiting=(0,)), 0.1, 0.9) == 2  # it is one of them


class TestNext:
    @staticmethod
    def blobs(apart, n=400, C=3):
        rng = np.random.default_rng(0)
        y = rng.integers(C, size=n)
        return fl.Graph.from_features(rng.normal(size=(n, 2)) + apart * np.eye(C, 2)[y], 8), y

    def test_checks_come_after_twenty_answers_and_alone_once_the_target_seems_reached(self):
        graph, y = self.blobs(20)
        ours, kinds = learner(graph, range(3)), []
        while not ours.can_stop(0.1):
            node, check = ours.next(0.1)
            kinds.append(check)
            ours.teach(node, int(y[node]))
        assert not any(kinds[:20])
        assert all(kinds[20:])
        assert sum(kinds) == ours.error().checks <= 27
        assert (ours.predict() != y).mean() <= 0.1

    def test_one_in_four_while_it_is_wrong(self):
        graph, y = self.blobs(0)
        ours, kinds = learner(graph, range(3)), []
        for _ in range(60):
            node, check = ours.next(0.1)
            kinds.append(check)
            ours.teach(node, int(y[node]))
        assert sum(kinds[20:]) == 10
        assert str(ours.verdict(0.1)).startswith("No: between")
        truth = (ours.predict() != y).mean()
        assert ours.error().low < truth < ours.error().high

    def test_none_at_all_if_none_are_wanted(self):
        graph, y = self.blobs(20)
        ours = learner(graph, range(3))
        for _ in range(40):
            node, check = ours.next(0.1, every=0)
            assert not check
            ours.teach(node, int(y[node]))
        assert not ours.can_stop(0.1)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, "5%", None, True])
def test_a_target_and_a_confidence_are_shares(bad):
    for ask in (lambda: learner().can_stop(bad), lambda: learner().next(target=bad), lambda: learner().verdict(bad)):
        with pytest.raises(SettingError, match=r"the target is .*: give a share between 0 and 1, such as 0.1"):
            ask()
    with pytest.raises(SettingError, match=r"the confidence is .*: give a share between 0.5 and 1, such as 0.9"):
        learner().error(bad)
    with pytest.raises(SettingError, match="the confidence is"):
        learner().error(0.5)
    with pytest.raises(SettingError, match="every is -1"):
        learner().next(every=-1)
