"""scikit-learn's own checks of an estimator, each that cannot apply named with its reason."""

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

import fewlabels as fl

if parse_version(sklearn.__version__) < parse_version("1.6"):
    pytest.skip("before 1.6 scikit-learn lets a check fail only by a tag of the class", allow_module_level=True)

MINUS_ONE = {"check_classifiers_classes": "one of its classes is -1, which stands for a missing label here"}
LINEAR = {"check_classifiers_train": "scores on a linear kernel, in which points far out are tied most, near or not"}


def cannot_apply(estimator):
    given = estimator.affinity == "precomputed"
    return (MINUS_ONE if estimator.missing_label == -1 else {}) | (LINEAR if given else {})


@parametrize_with_checks(
    [
        fl.HarmonicClassifier(),
        fl.HarmonicClassifier("rbf", missing_label=None),
        fl.HarmonicClassifier("precomputed", missing_label=None),
    ],
    expected_failed_checks=cannot_apply,
)
def test_scikit_learns_check(estimator, check):
    check(estimator)
