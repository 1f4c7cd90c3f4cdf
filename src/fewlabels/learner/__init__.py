"""ActiveLearner: ask, teach, predict. Each part has its own file; `learner` puts them together."""

from fewlabels.learner.answers import Answer
from fewlabels.learner.learner import ActiveLearner
from fewlabels.learner.outcomes import Outcome
from fewlabels.learner.suspects import Suspect

__all__ = ["ActiveLearner", "Answer", "Outcome", "Suspect"]
