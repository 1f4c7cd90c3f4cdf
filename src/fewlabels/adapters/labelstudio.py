"""Label Studio lives in `fewlabels.labelstudio`; its names are still available here."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(import_module("fewlabels.labelstudio"), name)
