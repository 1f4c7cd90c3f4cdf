"""Labels as scikit-learn gives them: which are missing, which classes there are, and back."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from fewlabels.arrays import Flags, Ints
from fewlabels.errors import LabelError, SettingError, nearest
from fewlabels.learner.settings import as_array, checked_classes, quoted


def read_targets(y: Any, classes: Iterable[Hashable] | None, missing_label: Any) -> tuple[NDArray[Any], Ints]:
    """The classes, as an array, and (n,) the class number of every point, -1 where its label is missing."""
    y = column_or_1d(y, warn=True)
    missing = is_missing(y, missing_label)
    known = _of_one_kind(y[~missing])
    if len(known) == 0:
        raise LabelError(
            f"none of the {len(y)} points has a label, all are missing ({missing_label!r} or NaN): label at least one."
        )
    if known.dtype.kind == "f" and np.isinf(known).any():
        raise LabelError(
            f"y holds {known[np.isinf(known)][0]}, which is not a class: correct it, or give NaN for a missing label."
        )
    check_classification_targets(known)
    _refuse_marker_as_text(known, missing_label)
    number = np.full(len(y), -1)
    if classes is not None:
        named = checked_classes(classes)
        if any(bool(is_missing(as_array([c]), missing_label)[0]) for c in named):
            raise SettingError(
                f"missing_label is {missing_label!r}, which is also one of the classes: choose another missing_label."
            )
        number[~missing] = _places(known.tolist(), named)
        return as_array(named), number
    found, number[~missing] = np.unique(known, return_inverse=True)
    if len(found) == 1 and missing.any():
        warnings.warn(
            f"the only class in y is {found[0].item()!r}, besides missing labels: every point is predicted as it. "
            f"Name the others with classes=[...]; if {missing_label!r} is a class, give another missing_label.",
            stacklevel=3,
        )
    return found, number


def is_missing(y: NDArray[Any], missing_label: Any) -> Flags:
    """(n,) where y is missing_label, or (whatever that is) NaN, None or pandas.NA."""
    if y.dtype.kind == "f":
        absent = np.isnan(y)
    elif y.dtype.kind == "O":
        import pandas as pd

        absent = np.asarray(pd.isna(y))
    else:
        absent = np.zeros(len(y), dtype=bool)
    if y.dtype.kind == "O":
        marked = np.array([bool(v == missing_label) for v in y[~absent]], dtype=bool)
        absent[~absent] = marked
        return absent
    if _is_text(y) != isinstance(missing_label, str):
        return absent
    return absent | np.asarray(y == missing_label, dtype=bool)


def with_missing(labels: NDArray[Any], missing: Flags, missing_label: Any) -> NDArray[Any]:
    """(n,) the labels, missing_label where nothing is known; of the type of the labels if that can hold both."""
    if not missing.any():
        return labels
    marker = np.asarray(missing_label)
    alike = (labels.dtype.kind in "iuf" and marker.dtype.kind in "iuf") or (_is_text(labels) and _is_text(marker))
    filled = labels.astype(np.result_type(labels, marker.dtype) if alike else object)
    filled[missing] = missing_label
    return filled


def _of_one_kind(known: NDArray[Any]) -> NDArray[Any]:
    """Labels out of an array of objects as an array of text or numbers."""
    if known.dtype.kind != "O" or len(known) == 0:
        return known
    values = [v.item() if isinstance(v, np.generic) else v for v in known]
    odd = next((v for v in values if isinstance(v, str) != isinstance(values[0], str)), None)
    if odd is not None:
        raise LabelError(f"y holds both {values[0]!r} and {odd!r}, text and not text: give labels of one kind.")
    return np.array(values)


def _refuse_marker_as_text(known: NDArray[Any], missing_label: Any) -> None:
    """NumPy turns the -1 of ["cat", -1] into text, which would make it a class."""
    if _is_text(known) and not isinstance(missing_label, str) and (known == str(missing_label)).any():
        raise LabelError(
            f"y holds the text {str(missing_label)!r}, and missing_label is {missing_label!r}, which is not text: "
            f"give missing_label={str(missing_label)!r}, or None for labels that are missing."
        )


def _places(labels: list[Any], classes: list[Hashable]) -> list[int]:
    place = {c: k for k, c in enumerate(classes)}
    for label in labels:
        if label not in place:
            raise LabelError(
                f"y holds {label!r}, which is not one of the classes {quoted(classes)}.{nearest(label, classes)} "
                "Add it to classes, or correct y."
            )
    return [place[label] for label in labels]


def _is_text(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "UST"
