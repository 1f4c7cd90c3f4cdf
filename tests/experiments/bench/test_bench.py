"""The rivals are right, and a case that is wrong is not timed."""

import numpy as np
import pytest
from support.fields import taught
from support.graphs import random_labels, random_weights

from fewlabels.errors import SettingError
from fewlabels.experiments.bench import blocked_numpy, cases
from fewlabels.experiments.bench.run import run_cases, write
from fewlabels.kernels import reference


@pytest.mark.parametrize("C", [2, 5])
def test_blocked_numpy_is_a_look_ahead(C):
    rng = np.random.default_rng(C)
    field = taught(random_weights(40, rng, 0.1), random_labels(40, 6, C, rng), C, 0.5)
    for name in ("two_step_cost", "harmonic_cost"):
        expected = getattr(reference, name)(field.G, field.h, field.island, 40)
        np.testing.assert_allclose(getattr(blocked_numpy, name)(field.G, field.h, 40), expected, atol=1e-12)


def test_a_case_that_is_wrong_is_not_timed(monkeypatch):
    monkeypatch.setattr(cases, "cora_alike", lambda: (cases.sparse_graph(80, np.random.default_rng(0)), (0, 1) * 40))
    assert cases.tsa_round().ratio > 0
    monkeypatch.setattr(blocked_numpy, "two_step_cost", lambda G, h, n, block: np.zeros(len(h)))
    with pytest.raises(AssertionError, match="ours and the rival's differ"):
        cases.tsa_round()


def test_a_missing_rival_gets_a_sentence_and_the_rest_runs(monkeypatch, tmp_path):
    def missing():
        raise cases.MissingRivalError("not installed.")

    timing = cases.Timing("made up", "nobody", 0.5, 1.0, "none")
    monkeypatch.setattr(cases, "CASES", cases.CASES)
    monkeypatch.setitem(cases.CASES, "vopt-round", missing)
    monkeypatch.setitem(cases.CASES, "set-up", lambda: timing)
    assert list(run_cases(("vopt-round", "set-up"))) == ["vopt-round: not installed.", timing]
    write(tmp_path / "speed.json", [timing], [(500, 0.1)])
    assert '"ratio": 2.0' in (tmp_path / "speed.json").read_text()
    with pytest.raises(SettingError, match="Did you mean 'tsa-round'"):
        list(run_cases(("tsa-rond",)))
