"""A durable labelling session: questions out, answers in, from any number of threads at once."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from fewlabels.errors import LabelError, SettingError
from fewlabels.session.assignments import ConflictError, Question
from fewlabels.session.changes import (
    check_change,
    check_class_name,
    check_known,
    check_name,
    check_note,
    check_number,
    check_undo,
    check_value,
)
from fewlabels.session.kept import Kept
from fewlabels.session.limits import MOST_AT_ONCE, MOST_TOGETHER
from fewlabels.session.listing import Listing, Wanted
from fewlabels.session.overview import Snapshot
from fewlabels.session.predictions import Explanation
from fewlabels.session.store import Event


class Session(Kept):
    """Questions out, answers in, from any number of threads at once; what there is to see is in `snapshot`.

    The aim is that at most `target` of the items are predicted wrongly, and to know it with this confidence: after the
    first answers, one question in `checks` is a check, an item drawn at random (0: none, and nobody is told to stop).

    A request that changes something carries a `key` of its own: if it is sent again, because its reply was lost, it is
    answered again but counts once.
    """

    _last: Snapshot | None = None
    _last_listing: tuple[Snapshot, Listing] | None = None

    # Asking

    def question(self, who: str, item: int | None = None, reason: str = "requested") -> Question | None:
        """A question for this person, lent to them for a minute; about `item` if given, for this `reason`.

        The question they already have comes first, then an item that needs a second opinion, then the learner's
        choice. None where nothing is left to ask them.
        """
        who = check_name(who)
        if item is not None:
            self.check_item(item)
        self.settle()
        while True:
            with self._lock:
                if item is not None:
                    return self._assignments.request(who, item, reason)
                found = self._assignments.without_the_learner(who)
                if found is not None:
                    return found
                closed = self._assignments.closed_to(who)
            chosen = self._learner.choose(closed)
            if chosen is None:
                return None
            if chosen.check and not self._keep_check(who, chosen.node):
                continue
            with self._lock:
                found = self._assignments.assign(who, chosen.node)
            if found is not None:  # else it has gone to someone else meanwhile
                return found

    def _keep_check(self, who: str, item: int) -> bool:
        """A check is on disk before anybody sees it: which items were drawn cannot depend on their answers. False where
        someone has answered it meanwhile, of their own accord.
        """
        with self._writing:
            if item in self._ledger.checks:  # it waits for its answer since an earlier draw
                return True
            if self._ledger.label(item) is not None:
                return False
            written = self._append([Event("check", who, f"check|{uuid.uuid4()}", item=item)])
            self._learner.submit(self._take(written), written[-1].id)
        return True

    def order(self) -> list[int]:
        """The items that may be asked about, in the order in which they are worth asking about now."""
        return self._learner.order()

    # Answering

    def answer(self, who: str, item: int, label: str, key: str) -> int:
        """Keep this person's answer, replacing one they gave before; returns the number of the event."""
        return self.accept(who, [(item, label)], key)

    def accept(self, who: str, answers: Sequence[tuple[int, str]], key: str) -> int:
        """Keep several answers, all or none."""
        return self._accept(who, answers, key, MOST_AT_ONCE)

    def label_together(self, who: str, items: Sequence[int], label: str, key: str) -> int:
        """Keep one and the same answer for many items, all or none."""
        return self._accept(who, [(item, label) for item in items], key, MOST_TOGETHER)

    def accept_listed(self, who: str, wanted: Wanted, checksum: str, key: str) -> int:
        """Give every item of a list that is only predicted the label predicted, all or none.

        `checksum` is of what the person was told: refused if items or predictions would be others by now.
        """
        who = check_name(who)
        self.settle()

        def events() -> list[Event]:
            listing = self.listing()
            found, _ = listing.acceptable(wanted)
            if not len(found) or listing.checksum(found) != checksum:
                fact = "The items, or what is predicted for them, have changed" if len(found) else "Nothing is left"
                raise ConflictError(f"{fact}: look at the list again, then accept.")
            names, number = self.snapshot().classes, listing.number
            return [Event("answer", who, key, item=item, label=names[number[item]]) for item in found.tolist()]

        return self._write(key, [Event("answer", who, key)], events)

    def _accept(self, who: str, answers: Sequence[tuple[int, str]], key: str, most: int) -> int:
        who = check_name(who)
        if not 1 <= len(answers) <= most:
            raise SettingError(f"{len(answers)} answers at once: give 1 to {most:,}.")
        for item, _ in answers:
            self.check_item(item)
        if len({item for item, _ in answers}) < len(answers):
            raise LabelError("an item is listed twice: give one answer for each.")
        asked = [Event("answer", who, key, item=item, label=label) for item, label in answers]

        def events() -> list[Event]:
            check_known(dict.fromkeys(label for _, label in answers), self._ledger.table)
            return asked

        return self._write(key, asked, events)

    def decide(self, who: str, item: int, label: str, key: str) -> int:
        """Settle what an item is, whatever was answered."""
        who = check_name(who)
        self.check_item(item)
        decision = [Event("decide", who, key, item=item, label=label)]

        def events() -> list[Event]:
            check_known([label], self._ledger.table)
            return decision

        return self._write(key, decision, events)

    def skip(self, who: str, item: int, key: str) -> int:
        """Nobody is asked about this item again."""
        return self._set_aside("skip", who, item, key)

    def unsure(self, who: str, item: int, key: str) -> int:
        """This person cannot tell: others may still be asked."""
        return self._set_aside("unsure", who, item, key)

    def _set_aside(self, do: str, who: str, item: int, key: str) -> int:
        who = check_name(who)
        self.check_item(item)

        def events() -> list[Event]:
            label = self._ledger.label(item)
            if do == "skip" and label is not None:
                raise ConflictError(f"{self.items.names[item]!r} is labelled {label!r}: there is no question to skip.")
            return asked

        asked = [Event(do, who, key, item=item)]
        return self._write(key, asked, events)

    def note(self, who: str, item: int, text: str, key: str) -> int:
        """Keep this person's note on an item, replacing one they wrote before; an empty one removes it."""
        who = check_name(who)
        self.check_item(item)
        noted = [Event("note", who, key, item=item, value=check_note(text))]
        return self._write(key, noted, lambda: noted)

    def undo(self, who: str, key: str, event: int | None = None, *, whole: bool = False) -> tuple[int, list[int]]:
        """Take back this event of theirs (`whole`: the request it was part of), or else their last request.

        Returns the number of the event that says so, and the items concerned.
        """
        who = check_name(who)

        def events() -> list[Event]:
            undone = self._ledger.to_undo(who, event, whole)
            if not undone:
                which = "nothing" if event is None else f"no answer {event} of yours"
                raise ConflictError(f"There is {which} to take back.")
            check_undo(undone, self._ledger.table)
            return [Event("undo", who, key, item=e.item, undone=e.id) for e in undone]

        number = self._write(key, [Event("undo", who, key, undone=event)], events)
        with self._lock:
            return number, self._ledger.items(self._ledger.requests[key])

    def add_class(self, who: str, label: str, key: str, *, sure: bool = True) -> int:
        """Add a class that items may belong to; one like another is refused unless the person is `sure`."""
        return self.add_classes(who, [label], key, sure=sure)

    def add_classes(self, who: str, labels: Sequence[str], key: str, *, sure: bool = True) -> int:
        """Add several classes, all or none."""
        who = check_name(who)
        asked = [Event("class", who, key, label=check_class_name(label)) for label in dict.fromkeys(labels)]

        def events() -> list[Event]:
            known = self._ledger.classes
            taken = next((event.label for event in asked if event.label in known), None)
            if taken is not None:
                raise ConflictError(f"there is already a class {taken!r}: choose another name.")
            check_number(len(known) + len(asked))
            like = None if sure else next(filter(None, (self._ledger.table.alike(e.label or "") for e in asked)), None)
            if like is not None:
                raise ConflictError(f"There is a class {like!r}: did you mean it?")
            return asked

        return self._write(key, asked, events)

    def change_class(self, who: str, do: str, label: str, value: str | None, key: str) -> int:
        """Rename a class, merge it into another, remove it, move it before another (None: to the end), or give it a
        colour, a key or a description.

        Answers follow a class that is renamed or merged; those of one that is removed count no longer, and what a
        person had said before does again. `undo` takes each of these back, with everything that followed from it.
        """
        who, label = check_name(who), label.strip()
        asked = [Event(do, who, key, label=label, value=check_value(do, value))]

        def events() -> list[Event]:
            check_change(asked[0], self._ledger.table)
            return asked

        return self._write(key, asked, events)

    # Looking

    def snapshot(self) -> Snapshot:
        """All that can be seen now; made once for each state, and shared by all who look at it."""
        with self._lock:
            predictions, last_event = self._learner.predictions, self._ledger.last_event
            last = self._last
            if last is None or last.predictions is not predictions or last.last_event != last_event:
                history, in_force = self._ledger.history.copy(), self._ledger.in_force.copy()
                checks = dict(self._ledger.checks)
                notes = self._ledger.notes.copy()
                last = self._last = Snapshot(
                    self.items, self.goal, predictions, history, checks, in_force, last_event, notes
                )
            return last

    def listing(self) -> Listing:
        """The items as they stand now, to be filtered and sorted."""
        shot, last = self.snapshot(), self._last_listing
        if last is None or last[0] is not shot:
            last = self._last_listing = (shot, Listing(shot))
        return last[1]

    def explain(self, item: int) -> Explanation:
        """What each answer to this item would change, in the order of the classes."""
        self.check_item(item)
        return self._learner.explain(item)

    def upcoming(self, item: int) -> Future[list[int]]:
        """The items that may be asked about after this one, when that has been worked out."""
        self.check_item(item)
        return self._learner.upcoming(item)

    def neighbours(self, item: int, most: int = 12) -> list[tuple[int, float]]:
        """The items tied to this one and the weights of the ties, the strongest first."""
        self.check_item(item)
        row = self.items.graph.weights[[item]]
        order = np.argsort(-row.data, kind="stable")[:most]
        return list(zip(row.indices[order].tolist(), row.data[order].tolist(), strict=True))
