"""Which memories a person has to approve before they are believed, as data of a write policy. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from perdure.durations import duration_of
from perdure.identity import canonical_json
from perdure.memory.extraction.findings.finding import Kind
from perdure.model import Model, Name, Unit
from perdure.values.changes import ActorKind
from perdure.values.entries import MemoryType, Source
from perdure.values.holds import Hold, Silence, hold_id
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch


def _duration(value: object) -> object:
    return duration_of(value) if isinstance(value, str) else value


class HoldRule(Model):
    """Memories that wait for a person: those that meet every condition that is given."""

    types: tuple[MemoryType, ...] = ()
    sources: tuple[Source, ...] = ()
    by: tuple[ActorKind, ...] = ()
    """What kind of actor offers it: a task is an agent."""
    tags: tuple[Name, ...] = ()
    """It has one of these tags; a label of sensitivity is a tag."""
    private: tuple[Kind, ...] = ()
    """Private data or a secret of one of these kinds was taken out of it."""
    below: Unit | None = None
    """It is offered with less confidence."""

    @model_validator(mode="after")
    def _has_a_condition(self) -> Self:
        if not any((self.types, self.sources, self.by, self.tags, self.private, self.below is not None)):
            raise ValueError("has no condition (name types, sources, by, tags, private or below)")
        return self

    def reason(self, item: MemoryItem, by: ActorKind) -> str | None:
        """Return why a memory has to wait, in words without content; None: a condition is not met."""
        said = item.content + canonical_json(item.metadata_json).decode()
        given: dict[str, tuple[Sequence[str], Sequence[str]]] = {
            "type": (self.types, [item.memory_type]),
            "source": (self.sources, [item.source]),
            "offered by": (self.by, [by]),
            "tag": (self.tags, item.tags),
            # A finding is replaced by a word in brackets.
            "private data": (self.private, [kind for kind in Kind if f"[{kind}]" in said]),
        }
        met = {name: [one for one in wanted if one in found] for name, (wanted, found) in given.items() if wanted}
        if self.below is not None:
            met["confidence below"] = [str(self.below)] if item.confidence < self.below else []
        return ", ".join(f"{name} {found[0]}" for name, found in met.items()) if all(met.values()) else None


class HoldPolicy(Model):
    """Which memories wait for a person, for how long, and what silence means."""

    rules: Annotated[tuple[HoldRule, ...], Field(max_length=100)] = ()
    """A memory that meets one of them waits. Whatever is in doubt waits anyway."""
    deadline: Annotated[timedelta, BeforeValidator(_duration), Field(gt=timedelta(0), le=timedelta(days=3_650))] = (
        timedelta(days=7)
    )
    on_silence: Silence = Silence.REJECT
    """What happens if nobody answers by the deadline. A memory that contradicts something is always rejected then."""

    def reason(self, item: MemoryItem, by: ActorKind) -> str | None:
        """Return why a memory has to wait, in words without content; None: it need not."""
        found = (rule.reason(item, by) for rule in self.rules)
        return next((f"the write policy holds it: {reason}" for reason in found if reason is not None), None)

    def hold(
        self, batch: Batch, index: int, item: MemoryItem, reason: str, *, job: str, at: datetime, doubt: bool
    ) -> Hold:
        """Return a memory on hold.

        Args:
            batch: The batch that it is in.
            index: Its place there.
            item: The memory.
            reason: Why it has to wait.
            job: The id of the batch's job.
            at: The moment from which the deadline counts.
            doubt: Whether it contradicts what is believed.
        """
        alone = batch.changed(key=hold_id(batch.tenant, job, index), items=(item,), approved=None)
        alone = alone.changed(recorded=batch.recorded[index : index + 1])
        silence = Silence.REJECT if doubt else self.on_silence
        return Hold(batch=alone, reason=reason, until=at + self.deadline, silence=silence, doubt=doubt)
