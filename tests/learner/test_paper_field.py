"""field="paper" is the paper's, whatever the graph; what contradicts it is refused, and it is saved."""

import numpy as np
import pytest

import fewlabels as fl
from fewlabels.errors import SettingError
from fewlabels.field import FieldSpec

GRAPH = fl.Graph.from_features(np.random.default_rng(0).normal(size=(500, 4)), 8)
VALUES = {"beta": 1, "smoothness": 0, "overlap": 0, "centred": False}


def answered(**settings):
    learner = fl.ActiveLearner(GRAPH, ["a", "b"], **settings)
    learner.teach([0, 9, 70], ["a", "b", "a"])
    return learner


def test_it_is_the_four_settings_spelt_out():
    paper, spelt, auto = answered(field="paper"), answered(**VALUES), answered()
    assert paper.describe() == spelt.describe() != auto.describe()
    np.testing.assert_array_equal(paper.costs(), spelt.costs())
    np.testing.assert_array_equal(paper.predict_proba(), spelt.predict_proba())
    recipe, ours = FieldSpec.paper().resolved(GRAPH), paper.covariance.recipe
    assert (recipe.beta, recipe.smoothness, recipe.overlap) == (ours.beta, ours.smoothness, ours.overlap)
    assert answered(field="paper", **VALUES).query() == paper.query()


@pytest.mark.parametrize(("name", "value"), [("beta", 2), ("smoothness", 0.5), ("overlap", 2), ("centred", True)])
def test_what_contradicts_it_is_refused(name, value):
    with pytest.raises(SettingError, match=f'{name} is {value}, and in the field "paper" it is {VALUES[name]}'):
        answered(field="paper", **{name: value})


def test_another_name_is_refused():
    with pytest.raises(SettingError, match=r"there is no field 'papers': choose one of auto, paper\. Did you mean"):
        answered(field="papers")


def test_a_saved_learner_has_the_values_and_comes_back(tmp_path):
    ours = answered(field="paper")
    ours.save(tmp_path / "j")
    first = (tmp_path / "j").read_text().splitlines()[0]
    for part in ('"beta": 1.0', '"smoothness": 0.0', '"overlap": 0.0', '"centred": false'):
        assert part in first
    again = fl.ActiveLearner.load(tmp_path / "j", GRAPH)
    assert again.describe() == ours.describe()
    assert again.query() == ours.query()
