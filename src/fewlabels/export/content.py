"""What goes into an export: which items, as what, and what is to be said about it first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fewlabels.session import Session, Snapshot

Which = Literal["all", "labelled"]


@dataclass(frozen=True)
class Choice:
    """Which items: all, or only those labelled; of those predicted, the ones with at least this chance."""

    which: Which = "all"
    at_least: float = 0.0


@dataclass(frozen=True, eq=False)
class Content:
    """The items of an export, and what each of them is."""

    session: Session
    shot: Snapshot
    items: Sequence[int]  # those that are in it
    labels: Sequence[str | None]  # of these: as given, or else as predicted; None where nothing is known
    labelled: int  # of these
    predicted: int
    left_out: int  # of all

    @property
    def said(self) -> str:
        """What is in it, in a sentence."""
        rest = len(self.items) - self.labelled - self.predicted
        parts = [f"{self.labelled:,} labelled", f"{self.predicted:,} predicted"]
        parts += [f"{rest:,} of which nothing is known"] if rest else []
        parts += [f"{self.left_out:,} left out"] if self.left_out else []
        return f"{len(self.items):,} item{'' if len(self.items) == 1 else 's'}: {', '.join(parts)}."


def choose(session: Session, choice: Choice, *, by_class: bool) -> Content:
    """The content of an export now. `by_class`: items without a class have no place in it."""
    session.settle()
    shot = session.snapshot()
    everything = choice == Choice() and not by_class
    items: list[int] = []
    labels: list[str | None] = []
    labelled = predicted = 0
    for item in range(len(shot.items.names)):
        label, prediction = shot.label(item), shot.prediction(item)
        sure = prediction is not None and choice.which == "all" and prediction[1] >= choice.at_least
        if prediction is not None and (item in shot.history and shot.history[item].disputed):
            sure = False  # people differ, and nobody has decided
        if label is None and not sure and not everything:
            continue
        items.append(item)
        labels.append(label if label is not None else prediction[0] if sure and prediction else None)
        labelled += label is not None
        predicted += label is None and sure
    return Content(session, shot, items, labels, labelled, predicted, len(shot.items.names) - len(items))
