"""Class mass normalisation: classes are scaled to the shares known beforehand (Zhu, Ghahramani & Lafferty 2003)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewlabels.arrays import Floats, Ints
from fewlabels.errors import SettingError

ROUNDING = 1e-6  # how far from 1 the shares may sum


def class_factors(harmonic: Floats, number: Ints, prior: Any) -> Floats:
    """(C,) what each column of the harmonic function is multiplied by: the wanted share over the share it has.

    The share it has is over the points that labels reach and that have none themselves. A class that has no share there
    keeps its column as it is.
    """
    C = harmonic.shape[1]
    if prior is None:
        return np.ones(C)
    wanted = _shares(prior, number, C)
    mass = np.nansum(harmonic[number < 0], axis=0)  # (C,)
    return np.divide(wanted * mass.sum(), mass, out=np.ones(C), where=mass > 0)


def _shares(prior: Any, number: Ints, C: int) -> Floats:
    if isinstance(prior, str):
        if prior != "labels":
            raise SettingError(f'class_prior is {prior!r}: give "labels", a share for every class, or None.')
        counts = np.bincount(number[number >= 0], minlength=C)
        return counts / counts.sum()
    try:
        shares = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        raise SettingError(f'class_prior is {prior!r}: give "labels", a share for every class, or None.') from None
    if shares.shape != (C,):
        raise SettingError(f"class_prior has shape {shares.shape} for {C} classes: give one share for every class.")
    if not (shares > 0).all() or not abs(shares.sum() - 1) <= ROUNDING:
        raise SettingError(f"class_prior is {shares.tolist()}: give shares above 0 that sum to 1.")
    return shares
