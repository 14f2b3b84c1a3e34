"""Whether a store has lost what was written to it: compares the marks that the stores report. Pure.

Every process that writes memory counts the operations that it has begun, and those that are done. The journal records
that one has begun before a store is written, the stores record both counts once it is done, and the journal records
last that it is done. So whenever a process dies, and however many operations it had under way:

- a store with fewer done operations than the journal lacks what one of them wrote;
- a journal with fewer begun operations than a store lacks what one of them wrote.

Claims on effects are only in Redis. After each claim Redis records how many a process has made, and then the journal
does, before the effect: a Redis with fewer claims than the journal lacks one of them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from perdure.model import OpenEnum


class Store(OpenEnum):
    """A store that can lose data independently. The loss of an unknown store is left to a worker that knows it."""

    JOURNAL = "journal"
    REDIS = "redis"
    WEAVIATE = "weaviate"


MARK_FORMAT = 1
"""The form of a mark, its last word wherever one is kept; a build reads the words that it knows of any form."""


class Mark(NamedTuple):
    """How far a process has come, as one store knows it."""

    begun: int = 0
    done: int = 0
    claimed: int = 0
    """How many claims on effects it has made; Weaviate does not know."""

    def __str__(self) -> str:
        """Return the operations that it has begun and done, which are the same in all stores, and the form of this."""
        return f"{self.begun} {self.done} {MARK_FORMAT}"

    @classmethod
    def read(cls, text: str) -> "Mark":
        """Read what ``str`` wrote; words that a later build adds are ignored."""
        begun, done = text.split(" ")[:2]
        return cls(int(begun), int(done))


class Told(NamedTuple):
    """What a store reports of itself."""

    journal: str | None
    """The id of the journal that it belongs to; None: it is new, or has lost it."""
    marks: Mapping[str, Mark]
    """By process."""
    gone: Mapping[str, Mark] = MappingProxyType({})
    """Those that the journal keeps of processes which no store has to know any more, however many there were."""

    def of(self, writer: str) -> Mark:
        """Return the mark of a process."""
        return self.marks.get(writer) or self.gone.get(writer, Mark())


class LossKind(OpenEnum):
    """How a store lost data. An unknown kind is reported, and repaired, like the loss of all of it."""

    LOST = "lost"
    """All of it."""
    OLDER = "older"
    """It is an older copy of itself."""

    @property
    def told(self) -> str:
        """The loss in words for a person."""
        return "an older copy, without what was written since" if self is LossKind.OLDER else "all of it was lost"


class Loss(NamedTuple):
    """A store that lost data."""

    store: Store
    kind: LossKind


def losses(told: Mapping[Store, Told]) -> tuple[Loss, ...]:
    """Return the stores that lost data, judged by those that answered."""
    written = any(one.marks or one.gone for one in told.values())
    known = any(one.journal for one in told.values())
    journal = told.get(Store.JOURNAL)
    found: list[Loss] = []
    for store, one in told.items():
        if one.journal is None:
            # A store is new until something was written. The journal is created before the others record it.
            if written or (store is Store.JOURNAL and known):
                found.append(Loss(store, LossKind.LOST))
        elif journal is not None and journal.journal is not None and _is_older(store, one, journal, told):
            found.append(Loss(store, LossKind.OLDER))
    return tuple(found)


def seen_around(before: Told, after: Told) -> Told:
    """Return the journal's report while the stores were asked, from its reports before and after.

    Processes go on meanwhile: operations that were done before have to be in the stores, and operations in the stores
    have to have begun by the end.
    """
    none = Mark()
    writers = before.marks.keys() | after.marks.keys()
    pairs = {writer: (before.marks.get(writer, none), after.marks.get(writer, none)) for writer in writers}
    marks = {
        name: Mark(max(one.begun, two.begun), min(one.done, two.done), min(one.claimed, two.claimed))
        for name, (one, two) in pairs.items()
    }
    return Told(after.journal, marks, after.gone)


def restored(told: Mapping[Store, Told], lost: Store) -> dict[str, Mark]:
    """Return the marks of a store that has been rebuilt from the others."""
    if lost is not Store.JOURNAL:
        return dict(told[Store.JOURNAL].marks)
    others = [one for store, one in told.items() if store is not Store.JOURNAL and one.journal is not None]
    writers = {writer for one in told.values() for writer in one.marks}
    return {
        writer: Mark(
            begun=max(one.of(writer).begun for one in told.values()),
            done=min((one.marks.get(writer, Mark()).done for one in others), default=0),
            claimed=max(one.marks.get(writer, Mark()).claimed for one in told.values()),
        )
        for writer in writers
    }


def _is_older(store: Store, one: Told, journal: Told, told: Mapping[Store, Told]) -> bool:
    if store is not Store.JOURNAL:
        known = [(one.marks.get(writer, Mark()), mark) for writer, mark in journal.marks.items()]
        claims = store is Store.REDIS and any(here.claimed < there.claimed for here, there in known)
        return claims or any(here.done < there.done for here, there in known)
    others = [other for place, other in told.items() if place is not Store.JOURNAL]
    return any(journal.of(writer).begun < mark.begun for other in others for writer, mark in other.marks.items())
