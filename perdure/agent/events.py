"""The events of one task: each is given to one step, in the order in which they came. Delivers nothing itself. Pure."""

import unicodedata
from collections.abc import Collection, Iterable

from perdure.documents import refuse_unknown
from perdure.errors import InvalidEvent
from perdure.model import Instant
from perdure.skills.shape import Skill
from perdure.skills.steps import EventStep
from perdure.suggestions import nearest
from perdure.tolerance import taken_back
from perdure.values.events import Event, EventBox, TakenEvent, require_small

MOST_KEPT = 100
"""Events that a task keeps until a step takes them; a choice."""

MOST_BYTES = 200_000
"""Bytes of their values together. A task carries them along with its skill (600 kB), its results (400 kB) and what it
is about to remember, and a rollover takes 1.8 MB."""

HANDLED_KEPT = 500
"""Ids of events that are recognised as duplicates: the last ones; a choice. ASCII ones take 50 kB at most."""


def awaited_by(skills: Iterable[Skill]) -> frozenset[str]:
    """Return the names of the events that the steps of skills wait for, or templates of them."""
    steps = (step for skill in skills for _, step, _ in skill.walk())
    return frozenset(step.wait.event for step in steps if isinstance(step, EventStep))


def require_awaited(name: str, awaited: Collection[str]) -> None:
    """Refuse an event that no step can wait for. A template is compared by the text before its first expression.

    Args:
        name: The event's name.
        awaited: What the steps wait for; see ``awaited_by``.

    Raises:
        InvalidEvent: With the nearest existing name.
    """
    if not awaited:
        raise InvalidEvent("name", "no step of the task waits for an event")
    for one in awaited:
        before, expression, _ = one.partition("${")
        if name == one or (expression and name.startswith(unicodedata.normalize("NFC", before))):
            return
    raise InvalidEvent("name", f"no step of the task waits for {name!r}", fix=nearest(name, awaited))


class Events:
    """Events that came, and branches that wait for one.

    No event is kept that a branch waits for.

    Args:
        box: What earlier runs left.
    """

    def __init__(self, box: EventBox) -> None:
        self._kept = list(box.kept)
        self._waiting = dict(box.waiting)
        self._handled = dict.fromkeys(box.handled)
        self._given: dict[str, TakenEvent] = {}
        self.delivered = 0
        """Deliveries in this run, of the same event as well."""
        self.delivered_bytes = 0

    @property
    def box(self) -> EventBox:
        """What the next run needs; without events that were given to a branch and not yet taken."""
        return EventBox(kept=tuple(self._kept), waiting=self._waiting, handled=tuple(self._handled))

    @property
    def kept(self) -> int:
        """How many came that no step has waited for yet."""
        return len(self._kept)

    @property
    def has_untaken(self) -> bool:
        """Whether a branch was given an event that it has not taken."""
        return bool(self._given)

    def check(self, event: Event, taken: Collection[TakenEvent] = ()) -> None:
        """Refuse an event that the task has no room for. A duplicate is accepted, and changes nothing.

        Args:
            event: The event.
            taken: Those that branches have taken, and whose steps have not ended.

        Raises:
            InvalidEvent: Naming the field, and what to do.
        """
        refuse_unknown(event, error=InvalidEvent)
        require_small(event)
        if event.id in self._handled:
            return
        # What is waited for is not kept, so that what nobody will take does not keep it out.
        kept = () if event.name in self._waiting.values() else self._kept
        held = (*kept, *self._given.values(), *taken)
        fix = "deliver it again once steps have taken some of them"
        if len(held) >= MOST_KEPT:
            raise InvalidEvent("name", f"the task has {len(held)} events that no step has taken", fix=fix)
        if (size := sum(one.size for one in held)) + event.size > MOST_BYTES:
            problem = f"would make more than {MOST_BYTES:,} bytes with the {size:,} of events that no step has taken"
            raise InvalidEvent("value", problem, fix=fix)

    def deliver(self, event: Event, at: Instant) -> None:
        """Hand an event to the first branch that waits for it, or keep it; a known id changes nothing.

        It does not check the event again, as a replay does not check it either.
        """
        self.delivered += 1
        self.delivered_bytes += event.size
        if event.id in self._handled:
            return
        if event.id:
            self._handled[event.id] = None
            for oldest in list(self._handled)[:-HANDLED_KEPT]:
                del self._handled[oldest]
        taken = taken_back(TakenEvent, {**event.model_dump(), "at": at})
        branch = next((branch for branch, name in self._waiting.items() if name == event.name), None)
        if branch is None:
            self._kept.append(taken)
        else:
            del self._waiting[branch]
            self._given[branch] = taken

    def drop(self, event: Event) -> None:
        """Drop the kept events of a name that no step can wait for."""
        self._kept = [one for one in self._kept if one.name != event.name]
        self._handled.pop(event.id, None)

    def wait(self, branch: str, name: str) -> None:
        """Let a branch wait for an event, after those that already wait; a kept event is given at once."""
        if branch in self._waiting or branch in self._given:
            return  # It began to wait in an earlier run.
        place = next((place for place, one in enumerate(self._kept) if one.name == name), None)
        if place is None:
            self._waiting[branch] = name
        else:
            self._given[branch] = self._kept.pop(place)

    def has_come(self, branch: str) -> bool:
        """Return whether the event that a branch waits for is there to be taken."""
        return branch in self._given

    def take(self, branch: str) -> TakenEvent | None:
        """Return the event that a branch was given, and stop its waiting; None: none came."""
        self._waiting.pop(branch, None)
        return self._given.pop(branch, None)
