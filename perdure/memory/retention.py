"""When the rules will forget an entry, and how much it is believed until then. Pure: it forgets nothing itself."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, TypeVar

from pydantic import Field

from perdure.identity import digest
from perdure.model import Model, Unit
from perdure.plurals import counted
from perdure.values.decay import Decay, is_exempt
from perdure.values.entries import Entry, Memory, State

EntryT = TypeVar("EntryT", bound=Entry)

_Days = Annotated[float, Field(gt=0, le=36_500)]
_DAY = timedelta(days=1)


class RetentionRules(Model):
    """Which entries are forgotten, and when (R33)."""

    minimum_confidence: Unit = 0.3
    """Below this a memory is not worth keeping."""
    superseded_days: _Days = 90.0
    """How long a memory is kept after another one replaced it."""
    contradicted_days: _Days = 90.0
    """How long a memory is kept after another one replaced it by contradicting it."""
    fresh_days: Annotated[float, Field(ge=0, le=36_500)] = 30.0
    """For so many days after its last use or confirmation a memory is believed as much as it was: without them one of
    confidence .7, which recall asks for, would be left out on the day on which it was written. A choice."""
    half_life_days: _Days | None = 180.0
    """After so many more days a memory is believed half as much; None: for ever as much. With 180, recall leaves out
    one that was certain after 123 days without use, and it is forgotten after 343; one of confidence .7 after 30 and
    250. A choice."""
    unused_days: _Days | None = 365.0
    """How long an entry is kept after its last use or confirmation; None: for ever."""

    @property
    def version(self) -> str:
        """A short id of the rules' content, kept with each date that they computed."""
        return digest("rules/4", self.model_dump(mode="json"))[:12]

    def date(self, entry: Entry) -> tuple[datetime | None, str]:
        """Return the moment from which the rules forget an entry, and the reason: the earliest that any rule names.

        Pinned memories and constraints end only when they expire, and what was restored where its end came after that.

        Returns:
            ``(None, "")`` for an entry that they keep as things stand. A missing importance plays no
            part: it means that nobody judged the entry, not that it is worthless.
        """
        due: list[tuple[datetime, str]] = []
        if entry.valid_until is not None and not _is_to_be_replaced(entry):
            due.append((entry.valid_until, "expired"))
        if entry.kept_at is not None:
            due = [one for one in due if one[0] > entry.kept_at]
        elif not is_exempt(entry):
            due += [*self._replaced(entry), *self._faded(entry), *self._unused(entry)]
        return min(due, default=(None, ""))

    @property
    def decay(self) -> Decay:
        """How belief in memories decays."""
        return Decay(half_life_days=self.half_life_days, fresh_days=self.fresh_days)

    def believed(self, entry: Entry, now: datetime) -> float:
        """Return how much an entry is believed at a moment; it is computed whenever it is needed, and never stored."""
        return self.decay.believed(entry, now)

    def dated(self, entry: EntryT) -> EntryT:
        """Return the entry with its date, its reason and the version of the rules that computed them."""
        moment, reason = self.date(entry)
        return entry.dated(moment, reason, self.version)

    def restored(self, entry: EntryT, at: datetime, *, on_request: bool) -> EntryT:
        """Return a forgotten entry as it was before; what the rules forgot, or would at once, is kept from now on.

        Undoing states that the entry still holds, so an end that it has reached meanwhile no longer applies.

        Args:
            entry: The forgotten entry.
            at: When forgetting it is undone.
            on_request: Whether somebody had it forgotten, and no rule.
        """
        ended = entry.valid_until is not None and entry.valid_until <= at
        replaced = isinstance(entry, Memory) and entry.superseded_by and (ended or not _is_replaced_at_its_end(entry))
        back = entry.changed(
            state=State.SUPERSEDED if replaced else State.CURRENT,
            purge_after=None,
            on_request=False,
            valid_until=None if ended else entry.valid_until,
        )
        due, _ = self.date(back)
        kept = not on_request or ended or (due is not None and due <= at)
        return back.changed(kept_at=at) if kept else back

    def _replaced(self, entry: Entry) -> list[tuple[datetime, str]]:
        if not isinstance(entry, Memory) or not _is_replaced(entry):
            return []
        how, days = (
            ("contradicted", self.contradicted_days) if entry.contradicted else ("superseded", self.superseded_days)
        )
        return _after(entry.superseded_at or entry.used_at, days, f"{how} for {counted(days, 'day')}")

    def _faded(self, entry: Entry) -> list[tuple[datetime, str]]:
        least = self.minimum_confidence
        if entry.confidence < least:
            return [(entry.last_seen, f"confidence below {least:g}")]
        days = self.decay.days_until(least, entry)
        return [] if days is None else _after(entry.used_at, days, f"decayed below {least:g}")

    def _unused(self, entry: Entry) -> list[tuple[datetime, str]]:
        if self.unused_days is None:
            return []
        return _after(entry.used_at, self.unused_days, f"not used or confirmed for {counted(self.unused_days, 'day')}")


def earliest_due(entries: Iterable[Entry]) -> datetime | None:
    """Return the moment at which the first of these entries is due to be forgotten, or purged; None: none ever is."""
    dates = (entry.purge_after if entry.state is State.FORGOTTEN else entry.forget_after for entry in entries)
    return min((date for date in dates if date is not None), default=None)


def _is_replaced(entry: Entry) -> bool:
    return entry.state is State.SUPERSEDED or _is_to_be_replaced(entry)


def _is_to_be_replaced(entry: Entry) -> bool:
    """Return whether an entry ends because another memory replaces it from then on; it is then kept for a while."""
    if not isinstance(entry, Memory) or entry.state is not State.CURRENT:
        return False
    return bool(entry.superseded_by) and entry.valid_until is not None


def _is_replaced_at_its_end(memory: Memory) -> bool:
    """Return whether a memory is believed until another one replaces it, and not replaced at once."""
    if memory.valid_until is None or memory.superseded_at is None:
        return False
    return memory.superseded_at >= memory.valid_until


def _after(start: datetime, days: float, reason: str) -> list[tuple[datetime, str]]:
    try:
        return [(start + days * _DAY, reason)]
    except OverflowError:
        return []  # Later than any date.
