"""The settings of a session, checked before anything is read."""

from __future__ import annotations

from fewlabels.errors import SettingError
from fewlabels.learner.checks import EVERY
from fewlabels.learner.estimate import CONFIDENCE, TARGET, require_share
from fewlabels.strategies import make_strategy


def check_settings(
    strategy: str, target: float, overlap: int, confidence: float = CONFIDENCE, checks: int = EVERY
) -> None:
    """Refuse settings that no session can be opened with."""
    make_strategy(strategy)
    require_share("target", target, 0.0, TARGET)
    require_share("confidence", confidence, 0.5, CONFIDENCE)
    if checks < 0:
        raise SettingError(f"checks is {checks}: one question in so many is a check, such as {EVERY}; 0 for none.")
    if overlap < 1:
        raise SettingError(f"overlap is {overlap}: at least 1 person must label each item.")
