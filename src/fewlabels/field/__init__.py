"""The field: what the answers so far say about every other node.

`front_page` has the whole computation in plain NumPy. A `FieldSpec` resolves to a `Recipe`, which builds a `Covariance`
where an engine keeps it (`links`); `Conditioned` on the `Answers` it is the field.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fewlabels.field.costs import Costs, Screening

if TYPE_CHECKING:
    from fewlabels.field.answers import Answers
    from fewlabels.field.conditioned import Conditioned
    from fewlabels.field.spec import ENGINES, FieldSpec, Recipe, choose_engine

__all__ = ["ENGINES", "Answers", "Conditioned", "Costs", "FieldSpec", "Recipe", "Screening", "choose_engine"]

_HOME = {"Answers": "answers", "Conditioned": "conditioned"}  # all others are in `spec`


def __getattr__(name: str) -> Any:
    """SciPy, which all of these need, is loaded when one is first used: completion in the shell does without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_HOME.get(name, 'spec')}"), name)
    return found
