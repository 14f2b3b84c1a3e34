"""When the rules will forget an entry. Pure: which moment, and why; it forgets nothing itself."""

from datetime import datetime
from typing import TypeVar

from perdure.entries import Entry, Memory
from perdure.identity import digest
from perdure.model import Model, Unit

EntryT = TypeVar("EntryT", bound=Entry)


class RetentionRules(Model):
    """What is forgotten, and when."""

    minimum_confidence: Unit = 0.3
    """Below this a memory is not worth keeping (R33)."""

    @property
    def version(self) -> str:
        """A short id of the rules' content, kept with each date that they computed."""
        return digest("rules/1", self.model_dump(mode="json"))[:12]

    def date(self, entry: Entry) -> tuple[datetime | None, str]:
        """Return the moment from which the rules forget an entry, and the reason.

        Returns:
            ``(None, "")`` for an entry that they keep as things stand. A missing importance plays no
            part: it means that nobody judged the entry, not that it is worthless.
        """
        if entry.kept_at is not None or (isinstance(entry, Memory) and entry.pinned):
            return None, ""
        due: list[tuple[datetime, str]] = []
        if entry.valid_until is not None:
            due.append((entry.valid_until, "expired"))
        if entry.confidence < self.minimum_confidence:
            due.append((entry.last_seen, f"confidence below {self.minimum_confidence}"))
        return min(due) if due else (None, "")

    def dated(self, entry: EntryT) -> EntryT:
        """Return the entry with its date, its reason and the version of the rules that computed them."""
        moment, reason = self.date(entry)
        return entry.dated(moment, reason, self.version)
