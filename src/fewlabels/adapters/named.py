"""Strategies by name, including those of other packages: tsa, skactiveml:CoreSet, graphlearning:var_opt."""

from __future__ import annotations

from typing import Any

from fewlabels.adapters.coordinates import spectral_coordinates
from fewlabels.adapters.graphlearning import FromGraphLearning
from fewlabels.adapters.graphlearning import named as acquisition_named
from fewlabels.arrays import Floats
from fewlabels.errors import SettingError, nearest
from fewlabels.graph import Graph
from fewlabels.strategies import Strategy, make_strategy

PACKAGES = ("skactiveml", "graphlearning")
SEEDS = 2**32  # the seeds that scikit-activeml takes


def check_name(name: str, n_classes: int | None = None) -> None:
    """Refuse, in a sentence, a name that no strategy has, or one from a package that is not installed."""
    package, colon, own = name.partition(":")
    if not colon:
        make_strategy(name)
    elif package == "skactiveml":
        from fewlabels.adapters.skactiveml.strategies import BINARY

        _skactiveml(own)
        if own in BINARY and n_classes not in (None, 2):
            raise SettingError(f"{name} is for two classes, and there are {n_classes}: leave it out.")
    elif package == "graphlearning":
        acquisition_named(own)
    else:
        raise SettingError(
            f"there is no package {package!r} to take {own!r} from: write {' or '.join(f'{p}:NAME' for p in PACKAGES)}."
            f"{nearest(package, PACKAGES)}"
        )


def strategy_named(name: str, graph: Graph, features: Floats | None, n_classes: int, seed: int) -> str | Strategy:
    """What to pass to a learner on this graph. A name on the menu stays a name.

    scikit-activeml's strategies see the features (n, d); for a graph without any, its spectral coordinates.
    """
    check_name(name, n_classes)
    package, _, own = name.partition(":")
    if package == "skactiveml":
        from fewlabels.adapters.skactiveml.strategies import FromSkactiveml, made

        X = spectral_coordinates(graph) if features is None else features
        return FromSkactiveml(made(_skactiveml(own), n_classes, seed % SEEDS), X)
    if package == "graphlearning":
        return FromGraphLearning(own)
    return name


def _skactiveml(own: str) -> Any:
    try:
        from fewlabels.adapters.skactiveml.strategies import offered

        known = offered()
    except ImportError as error:
        raise SettingError(f"skactiveml:{own} needs scikit-activeml ({error}): pip install scikit-activeml.") from None
    if own not in known:
        raise SettingError(
            f"scikit-activeml has no strategy {own!r} for labels: choose one of "
            f"{', '.join(known)}.{nearest(own, known)}"
        )
    return known[own]
