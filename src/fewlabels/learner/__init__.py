"""ActiveLearner: ask, teach, predict. Each part has its own file; `learner` puts them together."""

from fewlabels.learner.answers import Answer
from fewlabels.learner.checks import Check, NextQuestion
from fewlabels.learner.estimate import ErrorEstimate
from fewlabels.learner.learner import ActiveLearner
from fewlabels.learner.outcomes import Outcome
from fewlabels.learner.suspects import Suspect
from fewlabels.learner.verdict import Verdict

__all__ = ["ActiveLearner", "Answer", "Check", "ErrorEstimate", "NextQuestion", "Outcome", "Suspect", "Verdict"]
