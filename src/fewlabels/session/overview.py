"""What the ledger and the view say together: how far we are, what to review, what to take away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fewlabels.items import Items
from fewlabels.session.agreement import kappa
from fewlabels.session.ledger import TABLE, Ledger
from fewlabels.session.mind import View
from fewlabels.session.progress import Point, answers_to_go, thinned

EARLY = 5  # answers for each class after which one that was never heard may well have no items


@dataclass(frozen=True)
class Standing:
    """How far the labelling is."""

    version: int
    labelled: int
    skipped: int
    unsure: int
    left: int  # items that are neither labelled nor skipped
    unreached: int  # items of which nothing is known: no label reaches them
    expected_error: float
    curve: Sequence[Point]
    target: float
    reached: bool
    more: int | None  # about how many answers to the target
    counts: list[int]  # items of each class, labelled or predicted
    to_review: list[int]  # of these, predicted only
    people: dict[str, int]  # who -> answers
    disagreements: int  # not decided yet
    kappa: float | None
    shared: int  # items answered by two people or more


def standing(ledger: Ledger, view: View, target: float) -> Standing:
    """How far we are. While a class has not been heard the expected error is too hopeful to say when to stop."""
    labelled, skipped, unsure, open_disputes = 0, 0, 0, 0
    shared = []
    heard: set[str] = set()
    for said in ledger.said.values():
        label = said.label
        labelled += label is not None
        skipped += label is None and said.skip is not None
        unsure += label is None and bool(said.unsure)
        open_disputes += said.disputed and said.decision is None
        if label is not None:
            heard.add(label)
        if len(said.votes) > 1 and len(votes := said.by_people) > 1:
            shared.append({who: str(vote.label) for who, vote in votes.items()})
    early = len(heard) < view.n_classes and labelled < EARLY * view.n_classes
    settled = view.n_classes > 1 and not early
    open_ = ~view.unreached
    open_[[item for item, said in ledger.said.items() if said.label is not None]] = False
    people = Counter(e.who for e in ledger.standing.values() if e.do in ("answer", "decide") and e.who != TABLE)
    return Standing(
        version=view.version,
        labelled=labelled,
        skipped=skipped,
        unsure=unsure,
        left=len(view.predicted) - labelled - skipped,
        unreached=int(view.unreached.sum()),
        expected_error=view.expected_error,
        curve=thinned(view.curve),
        target=target,
        reached=settled and view.expected_error <= target,
        more=answers_to_go(view.curve, target) if settled else None,
        counts=np.bincount(view.predicted[~view.unreached], minlength=view.n_classes).tolist(),
        to_review=np.bincount(view.predicted[open_], minlength=view.n_classes).tolist(),
        people=dict(people),
        disagreements=open_disputes,
        kappa=kappa(shared),
        shared=len(shared),
    )


def doubtful(ledger: Ledger, view: View, class_number: int) -> list[int]:
    """The items predicted as this class that nobody has labelled, the most doubtful first."""
    found = np.flatnonzero(view.predicted == class_number)
    order = found[np.argsort(view.confidence[found], kind="stable")]
    return [item for item in order.tolist() if ledger.label(item) is None]


def rows(items: Items, ledger: Ledger, view: View) -> Iterator[dict[str, str | int | float | None]]:
    """One row for every item: its label or prediction, the chance of each class, who said so and when.

    The status is labelled, predicted, disputed (people differ and nobody has decided) or unknown (no label reaches it).
    Where several people answered, `answers` says what each of them did.
    """
    confidence = view.confidence
    classes = ledger.classes[: view.n_classes]
    for item, name in enumerate(items.names):
        said = ledger.said.get(item)
        source = said.source if said else None
        votes = said.by_people if said else {}
        predicted = int(view.predicted[item])
        guess = classes[predicted] if predicted >= 0 else None
        status = "labelled" if source else "disputed" if said and said.disputed else "predicted" if guess else "unknown"
        row: dict[str, str | int | float | None] = {
            "item": item,
            "name": name,
            "label": source.label if source else None if status == "disputed" else guess,
            "status": status,
            "chance": round(float(confidence[item]), 6) if guess else None,
            "who": (source.who or "table") if source else None,
            "when": source.at if source else None,
            "answers": "; ".join(f"{who}: {vote.label}" for who, vote in votes.items()) if len(votes) > 1 else None,
            "aside": "skipped" if said and said.skip else "unsure" if said and said.unsure else None,
        }
        chances = view.chance[item].tolist() if guess else [None] * len(classes)
        yield row | {f"p_{label}": c if c is None else round(c, 6) for label, c in zip(classes, chances, strict=True)}
