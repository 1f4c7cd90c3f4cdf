"""A durable labelling session: people answer questions about items, and every answer is on disk before it counts.

The store's events are the truth. The ledger (what people said) and the learner thread (what follows from it) replay
them, so a session opened again is in the same state. What is shown of both is a snapshot.
"""

from fewlabels.session.assignments import ConflictError, Question
from fewlabels.session.changes import check_name
from fewlabels.session.overview import Snapshot, Standing
from fewlabels.session.session import Session
from fewlabels.session.settings import check_settings

__all__ = ["ConflictError", "Question", "Session", "Snapshot", "Standing", "check_name", "check_settings"]
