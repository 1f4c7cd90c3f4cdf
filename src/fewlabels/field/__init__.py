"""The field: what the answers so far say about every other node.

`front_page` has the whole computation in plain NumPy. A `FieldSpec` resolves to a `Recipe`, which builds a `Covariance`
where an engine keeps it (`links`); `Conditioned` on the `Answers` it is the field.
"""

from fewlabels.field.answers import Answers
from fewlabels.field.conditioned import Conditioned
from fewlabels.field.costs import Costs, Screening
from fewlabels.field.spec import ENGINES, FieldSpec, Recipe, choose_engine

__all__ = ["ENGINES", "Answers", "Conditioned", "Costs", "FieldSpec", "Recipe", "Screening", "choose_engine"]
