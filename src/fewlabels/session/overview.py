"""What is shown of a session: one snapshot of what people said and of what the learner makes of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from fewlabels.items import Items
from fewlabels.learner.estimate import ErrorEstimate, percent
from fewlabels.learner.verdict import SOME, counted, verdict
from fewlabels.session.agreement import kappa
from fewlabels.session.forecast import Point, answers_to_go, forecast, thinned
from fewlabels.session.ledger import TABLE, ItemHistory
from fewlabels.session.predictions import Goal, Predictions
from fewlabels.session.store import Event

Row = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Standing:
    """How far the labelling has come."""

    version: int
    labelled: int
    skipped: int
    unsure: int
    left: int  # items that are neither labelled nor skipped
    unreached: int  # items about which nothing is known: no label reaches them
    expected_error: float
    settled: bool  # whether that means anything: not before the classes were heard
    curve: Sequence[Point]
    target: float
    state: str  # learning, probable, checked or above; unchecked where no checks are wanted
    verdict: str  # the same in a sentence
    estimate: ErrorEstimate
    shown: float | None  # the share to show large: by some checks, or, without any, as expected; None: too early
    suggestions: tuple[int, int]  # right, and all
    reached: bool  # whether people can stop
    more: int | None  # about how many answers until the expected error is at the target
    forecast: str  # how many answers a verdict takes, in a sentence
    counts: list[int]  # items of each class, labelled or predicted
    to_review: list[int]  # of these, predicted only
    people: dict[str, int]  # who -> answers
    disagreements: int  # not decided yet
    kappa: float | None
    shared: int  # items answered by two people or more
    classes_version: int  # another one: the classes are no longer what they were


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything about one moment; it never changes. Classes, chances and counts belong to the predictions' version."""

    items: Items
    goal: Goal
    predictions: Predictions
    history: Mapping[int, ItemHistory]  # item -> what was said about it
    checks: Mapping[int, None]  # the items drawn at random, in the order drawn
    in_force: dict[int, Event]  # number -> event not taken back, in order
    last_event: int  # the newest in `history` and `in_force`; the predictions may be a moment behind
    notes: Mapping[int, Mapping[str, Event]] = field(default_factory=dict)  # item -> who -> their note

    @property
    def classes(self) -> Sequence[str]:
        return self.predictions.classes

    def label(self, item: int) -> str | None:
        """The label people or the data gave this item."""
        history = self.history.get(item)
        return history.label if history else None

    def prediction(self, item: int) -> tuple[str, float] | None:
        """The class predicted for this item and its chance; None where no label reaches it."""
        number = int(self.predictions.predicted[item])
        if not 0 <= number < len(self.classes):
            return None
        return self.classes[number], float(self.predictions.chance[item, number])

    def waiting(self, item: int) -> bool:
        """Whether this is a check without an answer: nobody is to see what is predicted for it."""
        return item in self.checks and self.label(item) is None

    def labelled(self) -> list[int]:
        return [item for item, history in self.history.items() if history.source is not None]

    def labelled_as(self, label: str) -> list[int]:
        """The items that some person's answer, or a decision, calls so."""
        return [item for item, history in self.history.items() if any(e.label == label for e in said_of(history))]

    def recent(self, most: int, who: str | None = None) -> list[Event]:
        """The last answers, skips and decisions of people that were not taken back, the newest first."""
        mine = (e for e in reversed(self.in_force.values()) if e.who != TABLE and who in (None, e.who))
        return list(islice(mine, most))

    def aside(self) -> tuple[list[int], list[int]]:
        """The items someone is unsure of, and those skipped; without those that have a label by now."""
        open_ = [(item, history) for item, history in self.history.items() if history.label is None]
        return [k for k, history in open_ if history.unsure], [k for k, history in open_ if history.skip]

    def disagreements(self) -> list[tuple[int, ItemHistory]]:
        """The items people answer differently, those without a decision first."""
        found = [(item, history) for item, history in self.history.items() if history.disputed]
        return sorted(found, key=lambda pair: pair[1].decision is not None)

    @cached_property
    def standing(self) -> Standing:
        """How far we are. Early on, while a class is missing, the expected error is too low to say when to stop."""
        predictions, n_classes = self.predictions, len(self.classes)
        known, others = self.labelled(), [history for history in self.history.values() if history.source is None]
        labelled = len(known)
        skipped = sum(history.skip is not None for history in others)
        unsure = sum(bool(history.unsure) for history in others)
        open_disputes = sum(history.disputed and history.decision is None for history in self.history.values())
        several = [history.by_people for history in self.history.values() if len(history.votes) > 1]
        shared = [{who: str(e.label) for who, e in votes.items()} for votes in several if len(votes) > 1]
        settled = predictions.settled
        target, confidence, every = self.goal.target, self.goal.confidence, self.goal.every
        audit, more = predictions.audit, answers_to_go(predictions.curve, target) if settled else None
        found = verdict(audit, target, confidence, settled)
        shown = found.estimate.value if found.estimate.checks >= SOME else None
        said = str(found)
        if not every:
            shown = predictions.expected_error
            said = f"Nobody can be sure: about {percent(shown)} are expected to be wrong, and checks are switched off."
            if found.estimate.checks:
                said = f"Checks are switched off: {found.estimate}, by {counted(found.estimate)}."
            elif not settled:
                said = "Nobody can be sure: it is too early to tell, and checks are switched off."
        open_ = ~predictions.unreached
        open_[[*known, *filter(self.waiting, self.checks)]] = False
        people = Counter(e.who for e in self.in_force.values() if e.do in ("answer", "decide") and e.who != TABLE)
        return Standing(
            version=predictions.version,
            labelled=labelled,
            skipped=skipped,
            unsure=unsure,
            left=len(predictions.predicted) - labelled - skipped,
            unreached=int(predictions.unreached.sum()),
            expected_error=predictions.expected_error,
            settled=settled,
            curve=thinned(predictions.curve),
            target=target,
            state=found.state if every else "unchecked",
            verdict=said,
            estimate=found.estimate,
            shown=shown if settled else None,
            suggestions=predictions.suggestions,
            reached=bool(every) and found.can_stop,
            more=more,
            forecast=forecast(audit, labelled, more, target, confidence, every) if every else "",
            counts=np.bincount(predictions.predicted[~predictions.unreached], minlength=n_classes).tolist(),
            to_review=np.bincount(predictions.predicted[open_], minlength=n_classes).tolist(),
            people=dict(people),
            disagreements=open_disputes,
            kappa=kappa(shared),
            shared=len(shared),
            classes_version=predictions.table_version,
        )

    def rows(self) -> Iterator[Row]:
        """Everything to export, a row for every item: its label as given, what is predicted, who said so and when; the
        checks numbered in the order drawn; and in every row what is known of the error of the predictions.

        The status is labelled, predicted, disputed (people differ and nobody has decided) or unknown (no label reaches
        it). Where several people answered, `answers` says what each of them gave.
        """
        drawn = {item: number for number, item in enumerate(self.checks, start=1)}
        said = self.standing.verdict
        for item, name in enumerate(self.items.names):
            history = self.history.get(item, ItemHistory())
            source, votes, prediction = history.source, history.by_people, self.prediction(item)
            status = "labelled" if source else "predicted" if prediction else "unknown"
            row: Row = {
                "item": item,
                "name": name,
                "label": source.label if source else None,
                "prediction": prediction[0] if prediction else None,
                "chance": round(prediction[1], 6) if prediction else None,
                "status": "disputed" if history.disputed and not source else status,
                "who": (source.who or "table") if source else None,
                "when": source.at if source else None,
                "answers": _told({who: vote.label for who, vote in votes.items()}) if len(votes) > 1 else None,
                "aside": "skipped" if history.skip else "unsure" if history.unsure else None,
                "check": drawn.get(item),
                "notes": _told({who: note.value for who, note in self.notes.get(item, {}).items()}) or None,
                "verdict": said,
            }
            if self.items.model_labels is not None:
                row["model_label"] = self.items.model_labels[item]
            chances = self.predictions.chance[item].tolist() if prediction else [None] * len(self.classes)
            named = zip(self.classes, chances, strict=True)
            yield row | {f"p_{label}": chance if chance is None else round(chance, 6) for label, chance in named}


def said_of(history: ItemHistory) -> list[Event]:
    """The answers to an item, the last of each person, and the decision on it."""
    return [*history.votes.values(), *([history.decision] if history.decision else [])]


def _told(votes: Mapping[str, str | None]) -> str:
    """Who said what; names and classes that could be taken for more than one are quoted.

    >>> _told({"ann": "cat", "bob: dog; cid": "eel"})
    'ann: cat; "bob: dog; cid": eel'
    """
    return "; ".join(f"{_quoted(who)}: {_quoted(str(label))}" for who, label in votes.items())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if set(text) & set(';:"') else text
