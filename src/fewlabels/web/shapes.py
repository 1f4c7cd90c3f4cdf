"""What the server tells the page, as JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fewlabels.session.limits import LONGEST_CLASS, LONGEST_NAME

Who = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="The name of the person.")]
Label = Annotated[str, Field(min_length=1, max_length=LONGEST_CLASS, description="The name of a class.")]
ItemId = Annotated[int, Field(ge=0, le=2**31 - 1, description="The number of an item.")]
Key = Annotated[
    str,
    Field(
        min_length=8,
        max_length=64,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="A fresh random string for each request; the same request sent again counts once.",
    ),
]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(Shape):
    """Why a request was refused, in a sentence."""

    detail: str
    offer: str | None = Field(
        None, description="What can be done about it: new-store, where POST /api/store writes all answers anew."
    )


class Class(Shape):
    id: int = Field(description="Stays when the class is renamed.")
    name: str
    colour: int = Field(description="Number in the page's palette.")
    key: str | None = Field(description="The key on the keyboard that answers with this class.")
    description: str = Field("", description="What belongs to it.")


class Chance(Shape):
    name: str = Field(description="Of a class.")
    chance: float


class Note(Shape):
    who: str
    text: str
    at: str


class Item(Shape):
    id: int
    name: str
    image: str | None = Field(None, description="Where its picture is, from the page's own address.")
    thumbnail: str | None = None
    text: str | None = None
    attributes: dict[str, str] | None = None
    notes: list[Note] = Field([], description="What people wrote about it.")
    unusual: list[str] = Field([], description="Of many attributes those with the most unusual values, to show first.")
    label: str | None = Field(None, description="As given by people, or with the data.")
    prediction: str | None = Field(None, description="The class predicted; none where no label reaches the item.")
    chance: float | None = Field(None, description="Of the class predicted.")
    who: str | None = Field(None, description="Who gave the label; empty for one that came with the data.")
    at: str | None = Field(None, description="When it was given, in UTC.")
    check: bool = Field(False, description="Whether it was drawn at random, and has been answered.")
    aside: str | None = Field(None, description="unsure or skipped, where it has no label.")
    model_label: str | None = Field(None, description="What a model thinks it is.")


class Question(Shape):
    item: Item
    reason: str = Field(description="chosen, check, requested, second opinion, or again.")
    blind: bool = Field(description="Whether nothing is shown that was predicted or said of it.")
    chances: list[Chance] = Field(description="Of every class, in their order; empty where nothing is known.")


class Estimate(Shape):
    """The share of all items that are predicted wrongly, by the checks."""

    value: float
    low: float
    high: float
    confidence: float = Field(description="That the truth is between low and high.")
    checks: int = Field(description="Items drawn at random and answered.")
    wrong: int = Field(description="Of these, predicted wrongly by all other answers.")
    expected: float = Field(description="What the model says by itself.")
    skipped: int = Field(description="Checks nobody could answer: wrong in high, right in low.")
    waiting: int = Field(description="Checks without an answer, drawn before one that has one: the same.")


class Person(Shape):
    name: str
    answers: int


class Standing(Shape):
    version: int
    labelled: int
    skipped: int
    unsure: int
    left: int
    unreached: int
    expected_error: float
    settled: bool = Field(description="Whether the expected error means anything: not before the classes were heard.")
    curve: list[tuple[int, float]]
    target: float
    state: str = Field(
        description="learning, probable, checked or above the target; unchecked where no checks are asked."
    )
    verdict: str = Field(description="The same in a sentence.")
    estimate: Estimate
    shown: float | None = Field(description="The share of wrong items to show large; none while it is too early.")
    suggestions: tuple[int, int] = Field(
        description="How often an answer was what had been predicted, and of how many."
    )
    reached: bool = Field(description="Whether people can stop: the checks say so.")
    more: int | None = Field(description="About how many more answers until the expected error is at the target.")
    forecast: str = Field(description="How many answers a verdict takes, in a sentence.")
    counts: list[int] = Field(description="Items of each class, labelled or predicted.")
    to_review: list[int] = Field(description="Of these, predicted only.")
    people: list[Person]
    disagreements: int
    kappa: float | None
    shared: int
    classes_version: int = Field(description="Another number: the classes were changed.")


class Limits(Shape):
    keys: int = Field(description="How many classes can have a key on the keyboard.")
    answers: int = Field(description="Most answers in one request.")
    together: int = Field(description="Most items that get one label in one request.")
    name: int = Field(description="Most characters in a person's name.")
    class_name: int = Field(description="Most characters in the name of a class.")
    note: int = Field(description="Most characters in a note.")
    description: int = Field(description="Most characters in the description of a class.")


class About(Shape):
    title: str
    kind: str
    n_items: int
    fingerprint: str = Field(description="What tells these items from any others.")
    classes: list[Class]
    classes_version: int
    strategy: str
    target: float
    confidence: float
    checks: int = Field(description="After the first answers one question in so many is a check; 0: none.")
    by: str = Field(description="What photos or texts are compared by; empty for other items.")
    field: str = Field(description="How the learner spreads answers over the graph, and why so.")
    overlap: int
    several: bool
    signed_in: bool = Field(description="Whether a token was needed to get in.")
    named: bool = Field(description="Whether people have links of their own, and cannot choose their names.")
    person: str
    opinions: bool = Field(description="Whether a model has said what the items are.")
    guidelines: bool = Field(description="Whether there is something to read on how to label.")
    store: str
    version: str
    limits: Limits


class Changed(Shape):
    item: Item
    becomes: str = Field(description="The class that would be predicted.")


class Outcome(Shape):
    label: str
    chance: float
    expected_error: float
    changes: int
    examples: list[Changed] = Field(description="Some of the items whose prediction would change.")


class Neighbour(Shape):
    item: Item
    weight: float
    values: list[tuple[str, str, str]] = Field(
        description="Columns in which the rows agree: name, value here, value there."
    )
    common: int | None = Field(description="How many nodes are linked to both; none where the items are not a graph.")
    words: list[str] = Field(description="Words that both texts hold, the most telling first.")


class Why(Shape):
    item: int
    expected_error: float
    gain: float | None = Field(description="Drop in the expected error that asking promises; none without outcomes.")
    outcomes: list[Outcome]
    missing: str | None = Field(description="Why there are no outcomes: labelled, classes (too few) or check.")
    neighbours: list[Neighbour]


class Upcoming(Shape):
    items: list[Item] = Field(
        description="One for each answer that was foreseen; fewer where several answers lead to the same."
    )


class Map(Shape):
    positions: list[float] = Field(description="x and y of every item in turn, each from 0 to 1.")


class Predictions(Shape):
    version: int
    predicted: list[int] = Field(description="Class number of every item, -1 where nothing is known.")
    chance: list[int] = Field(description="Chance of the predicted class, in percent.")
    labelled: list[int]
    skipped: list[int]


class Aside(Shape):
    unsure: list[Item]
    skipped: list[Item]


class Answer(Shape):
    event: int
    do: str
    item: Item
    label: str | None
    who: str
    at: str


class Recent(Shape):
    answers: list[Answer]


class Vote(Shape):
    who: str
    label: str
    at: str


class Disagreement(Shape):
    item: Item
    votes: list[Vote]
    decided: str | None


class Disagreements(Shape):
    items: list[Disagreement]


class Asked(Shape):
    question: Question | None
    standing: Standing


class Kept(Shape):
    """The request is on disk."""

    event: int
    question: Question | None
    standing: Standing


class Classes(Shape):
    classes: list[Class]
    version: int = Field(description="Another number whenever they change.")


class ClassAnswers(Shape):
    """What is called so, by people or with the data."""

    name: str
    total: int = Field(description="How many items.")
    people: list[Person]
    items: list[Item] = Field(description="Some of them.")


class Noted(Shape):
    event: int
    item: Item


class PersonReport(Shape):
    """What one person has done."""

    name: str
    answers: int
    skipped: int
    unsure: int
    notes: int
    seconds: float | None = Field(description="From one answer to the next, in the middle, pauses left out.")
    last: str | None = Field(description="When they last said something.")
    with_others: tuple[int, int] = Field(description="Same label as somebody else's answer to the item, of how many.")
    with_model: tuple[int, int] = Field(description="Same label as predicted before, of how many.")
    blind: tuple[int, int] = Field(description="The same on checks, where no prediction is shown.")


class People(Shape):
    people: list[PersonReport]


class Guidelines(Shape):
    text: str = Field(description="Markdown, as it was written.")


class SignedOut(Shape):
    everyone: bool


class Written(Shape):
    """All events are on disk, in this file."""

    store: str
    events: int
