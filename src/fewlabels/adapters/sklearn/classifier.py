"""HarmonicClassifier: label propagation in closed form, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from fewlabels.adapters.sklearn.affinity import Given, equal_rows, make_affinity
from fewlabels.adapters.sklearn.class_mass import class_factors
from fewlabels.adapters.sklearn.targets import is_missing, read_targets, with_missing
from fewlabels.arrays import Flags, Floats
from fewlabels.centring import centred_h
from fewlabels.errors import LabelError, SettingError, nearest
from fewlabels.field import Answers, Conditioned, FieldSpec
from fewlabels.field.covariance import Covariance
from fewlabels.field.opinion import LEAST, Opinion
from fewlabels.kernels.reference import harmonic_marginals as chances_of
from fewlabels.learner import ActiveLearner, ErrorEstimate
from fewlabels.learner.prior import checked_chances
from fewlabels.learner.settings import resolve_centring
from fewlabels.marginals import largest, two_step_marginals
from fewlabels.risk import expected_error
from fewlabels.strategies import Strategy

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


UNREACHED = ("uniform", "missing", "error")


class HarmonicClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Labels spread over a graph of the points: each is the weighted mean of its neighbours (Zhu et al. 2003).

    It is the limit of scikit-learn's `LabelPropagation`, solved for directly.

    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> harmonic = HarmonicClassifier(n_neighbors=1).fit(X, ["low", None, None, None, "high"])
    >>> harmonic.classes_.tolist(), harmonic.transduction_.tolist()
    (['high', 'low'], ['low', 'low', 'high', 'high', 'high'])
    >>> harmonic.predict([[0.7], [3.4]]).tolist()
    ['low', 'high']

    Parameters
    ----------
    affinity
        "knn": a point is tied to its `n_neighbors` nearest, by the rule of `Graph.from_features`. "rbf": all points are
        tied, by exp(-gamma d^2). "precomputed": X holds the ties, as a symmetric (n, n) matrix, dense or sparse.
    gamma
        For "rbf"; None means 4.5 / s^2, s being the median distance of a point to its `n_neighbors`-th neighbour: that
        one is three standard deviations away.
    classes
        The classes, in the order of the columns of `predict_proba`, where y may lack some of them; None means those
        of y, sorted. Scorers of probabilities expect them sorted.
    missing_label
        What stands in y for a label that is not known. NaN, None and pandas.NA always do.
    unreached
        What to predict for points that no label reaches, in components of the graph without one. "uniform": every class
        is equally likely, and the first is predicted; "missing": `missing_label` is predicted, with chances of NaN;
        "error": they are refused.
    class_prior
        The share of each class, known beforehand: "labels" for those in y, or an array in the order of the
        classes. The chances of the unlabelled points are scaled, class by class, to these shares (class mass
        normalisation). None leaves them as they are.
    beta, engine
        As in `ActiveLearner`. beta affects only `expected_error_`.
    smoothness, overlap, centred
        As in `ActiveLearner`. 0, 0 and False are the harmonic function itself; "auto" keeps few labels on many
        points from collapsing into one class (docs/few-labels.md).

    prior
        (n, C) the chances that a model gives to the classes, in their order, at each training point; or a frame. They
        count as far as the labels bear them out, and chances are then two-step marginals (docs/prior.md).

    Attributes
    ----------
    classes_
        (C,) the classes.
    label_distributions_
        (n, C) chance of each class at each training point: the harmonic function, scaled to `class_prior` if there is
        one; certain where labelled.
    transduction_
        (n,) class of each training point: its label, or the most probable class; on a tie the one listed first.
    expected_error_
        The share of training points expected to be wrong, by two-step marginals (Jun & Nowak 2016), as in
        `ActiveLearner`. They take into account how far away the labels are, which `label_distributions_` do not.
    graph_
        The `Graph` of the training points; node k is row k.
    """

    def __init__(
        self,
        affinity: str = "knn",
        n_neighbors: int = 7,
        *,
        gamma: float | None = None,
        classes: Sequence[Hashable] | None = None,
        missing_label: Any = -1,
        unreached: str = "uniform",
        class_prior: str | ArrayLike | None = None,
        beta: float | str = "auto",
        engine: str | Covariance = "auto",
        smoothness: float | str = 0.0,
        overlap: float | str = 0.0,
        centred: bool | str = False,
        prior: Any = None,
    ) -> None:
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.classes = classes
        self.missing_label = missing_label
        self.unreached = unreached
        self.class_prior = class_prior
        self.beta = beta
        self.engine = engine
        self.smoothness = smoothness
        self.overlap = overlap
        self.centred = centred
        self.prior = prior

    def fit(self, X: Any, y: Any) -> Self:
        """Make the graph of all points and spread the known labels over it."""
        if self.unreached not in UNREACHED:
            raise SettingError(
                f"unreached is {self.unreached!r}: choose one of {', '.join(UNREACHED)}."
                f"{nearest(self.unreached, UNREACHED)}"
            )
        if y is None:
            raise LabelError("HarmonicClassifier requires y to be passed, but the target y is None: give the labels.")
        X = self._checked(X, reset=True, ensure_min_samples=2)
        check_consistent_length(X, y)
        self.classes_, self._number = read_targets(y, self.classes, self.missing_label)
        self._X = X
        self._affinity = make_affinity(self.affinity, X, self.n_neighbors, self.gamma)
        self.graph_ = self._affinity.graph(X)
        self._harmonic, self.expected_error_ = self._spread()
        self._factor = class_factors(self._harmonic, self._number, self.class_prior)
        self.label_distributions_ = self._chances(self._harmonic)
        self.transduction_ = self._most_probable(self.label_distributions_)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """(m,) the most probable class of each point; on a tie the one listed first."""
        return self._most_probable(self.predict_proba(X))

    def predict_proba(self, X: Any) -> Floats:
        """(m, C) chance of each class: the mean of the training points a point is tied to, weighted by the ties.

        Nothing changes for the training points. Those that no label reaches do not count in the mean. A point equal to
        training points is tied to these alone, so that a training point gets its `label_distributions_` back. With
        precomputed affinities, X is (m, n), and a row is taken as it is, whether it belongs to a training point or not.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if sparse.issparse(X) != sparse.issparse(self._X):
            X = X.toarray() if sparse.issparse(X) else sparse.csr_array(X)
        harmonic = np.concatenate([self._mean(ties) for ties in self._affinity.ties(X, self._X)])
        if not isinstance(self._affinity, Given):
            same = equal_rows(X, self._X)
            again = np.diff(same.indptr) > 0
            harmonic[again] = self._mean(same[again])
        return self._chances(harmonic)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of the points with a label in y that are predicted correctly; points without one do not count."""
        y = column_or_1d(y)
        known = ~is_missing(y, self.missing_label)
        if not known.any():
            raise LabelError(f"none of the {len(y)} points to score has a label: give at least one of known class.")
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        right = self.predict(X)[known] == y[known]
        return float(accuracy_score(np.ones(len(right), dtype=bool), right, sample_weight=weight))

    def active_learner(
        self,
        strategy: str | Strategy = "tsa",
        random_state: int | np.random.Generator | None = 0,
        *,
        checks: Sequence[int] = (),
    ) -> ActiveLearner:
        """A learner on this graph that has been taught the labels of y: `query` names the row to ask about next.

        checks are the rows that were drawn at random, in their order: they measure the error.
        """
        check_is_fitted(self)
        learner = ActiveLearner(
            self.graph_,
            self.classes_.tolist(),
            strategy,
            self.beta,
            self.engine,
            random_state,
            smoothness=self.smoothness,
            overlap=self.overlap,
            centred=self.centred,
            prior=self.prior,
        )
        learner.add_checks(checks)
        labelled = np.flatnonzero(self._number >= 0)
        learner.teach(labelled, self.classes_[self._number[labelled]].tolist())
        return learner

    def error(self, checks: ArrayLike, confidence: float = 0.9) -> ErrorEstimate:
        """How many of the training points are predicted wrongly, measured by labelled ones that were drawn at random.

        checks are the rows of these, in the order drawn, each from all rows; each is judged by what all other labels
        predict for it (docs/honest.md).
        """
        check_is_fitted(self)
        if self.class_prior is not None or self.unreached == "missing":
            what = 'unreached="missing"' if self.class_prior is None else "a class_prior"
            raise SettingError(f"error() cannot judge predictions with {what}: fit without it.")
        given = column_or_1d(checks)
        if given.dtype.kind not in "iub":
            raise LabelError(f"checks are of type {given.dtype}: give the numbers of rows, or a mask of them.")
        rows = (np.flatnonzero(given) if given.dtype.kind == "b" else given).tolist()
        missing = next((k for k in rows if not 0 <= k < len(self._number) or self._number[k] < 0), None)
        if missing is not None:
            raise LabelError(f"row {missing} was drawn as a check and has no label in y: answer it first.")
        return self.active_learner(checks=rows).error(confidence)

    def _spread(self) -> tuple[Floats, float]:
        """(n, C) the harmonic function, NaN where neither a label nor a prior says anything, and the expected error."""
        labelled = np.flatnonzero(self._number >= 0)
        harmonic = np.zeros((len(self._number), len(self.classes_)))
        harmonic[labelled, self._number[labelled]] = 1
        centring = resolve_centring(self.centred, None, [])
        rows = range(len(harmonic))
        prior = None if self.prior is None else checked_chances(self.prior, rows, self.classes_.tolist())
        if len(labelled) == len(harmonic):  # nothing to solve for, as in a cross-validation on labelled data
            return harmonic, 0.0
        recipe = FieldSpec(self.beta, self.smoothness, self.overlap, self.engine).resolved(self.graph_)
        covariance = recipe.build() if isinstance(self.engine, str) else self.engine
        labels = dict(zip(labelled.tolist(), self._number[labelled].tolist(), strict=True))
        opinion = None if prior is None else Opinion(covariance.precision.links, prior)
        field = Conditioned(covariance, Answers(len(self.classes_), labels), centring, opinion)
        spread = chances_of(centred_h(field)) if prior is None else two_step_marginals(field)
        harmonic[field.unlabelled] = spread
        lost = field.unlabelled[field.island >= 0]
        if field.opinion is not None:
            lost = lost[np.ptp(field.opinion.around[lost], axis=1) < LEAST]
        harmonic[lost] = np.nan
        return harmonic, expected_error(field)

    def _mean(self, ties: Any) -> Floats:
        """(m, C) the harmonic function at points tied to training points by (m, n); NaN where they reach no label."""
        reached = self._reached(self._harmonic)
        weight = ties @ reached.astype(float)  # (m,)
        total = ties @ np.where(reached[:, None], self._harmonic, 0.0)  # (m, C)
        return np.divide(total, weight[:, None], out=np.full_like(total, np.nan), where=weight[:, None] > 0)

    def _chances(self, harmonic: Floats) -> Floats:
        """(m, C) the harmonic function scaled to the class prior, and what is predicted where no label reaches."""
        p = harmonic * self._factor
        p /= p.sum(axis=1, keepdims=True)
        lost = np.flatnonzero(~self._reached(p))
        if len(lost) and self.unreached == "error":
            raise LabelError(
                f"no label reaches {len(lost)} of {len(p)} points, the first in row {lost[0]}: label one in each "
                'component of the graph, tie more points to each other, or use unreached="uniform" or "missing".'
            )
        if self.unreached == "uniform":
            p[lost] = 1 / len(self.classes_)
        return p

    def _most_probable(self, chances: Floats) -> NDArray[Any]:
        reached = self._reached(chances)
        labels = self.classes_[largest(np.where(reached[:, None], chances, 0.0))]
        return with_missing(labels, ~reached, self.missing_label)

    @staticmethod
    def _reached(values: Floats) -> Flags:
        return ~np.isnan(values[:, 0])

    def _checked(self, X: Any, **options: Any) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        given = self.affinity == "precomputed"
        return {"pairwise": given, "requires_positive_X": given}
