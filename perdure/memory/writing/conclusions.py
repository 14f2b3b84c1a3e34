"""What an agent or a tool concludes and offers itself, held to what may be believed of what is said. Pure."""

from datetime import datetime

from perdure.memory.extraction.belief import believable
from perdure.memory.write_policies import WritePolicy
from perdure.values.entries import MemoryType, Source
from perdure.values.items import MemoryItem, imported_id
from perdure.values.statements import Ground, Said, Voice

_BINDING = (Ground.INSTRUCTION, Ground.RECALLED, Ground.SENSITIVE, Ground.TRANSIENT, Ground.UNSTABLE)
"""Grounds that bind what is offered as a statement. The others help to find statements in what somebody said."""


def is_conclusion(item: MemoryItem) -> bool:
    """Return whether an item is what an agent or a tool makes of something: nobody has stated it, or exported it."""
    return item.source in (Source.LEARNED, Source.INFERRED) and not imported_id(item)


def objection_to(item: MemoryItem, policy: WritePolicy) -> str:
    """Return why a conclusion may not be believed; empty: it may.

    An outcome is what happened once, and what says when it ends is not recalled after that: neither is refused because
    it does not last.
    """
    lasts = item.memory_type is MemoryType.OUTCOME or item.valid_until is not None
    return objection(item.content, item.occurred_at, policy, lasts=lasts)


def objection(text: str, at: datetime, policy: WritePolicy, *, lasts: bool = False) -> str:
    """Return why what an agent or a tool says may not be believed; empty: it may.

    Args:
        text: What it says.
        at: When.
        policy: The write policy, which may believe what others do not.
        lasts: Whether it may be true for a moment alone.
    """
    said = Said(text=text, by=Voice.AGENT, at=at, occurrence="conclusion")
    believe = {*policy.believe, *((Ground.TRANSIENT,) if lasts else ())}
    left = {one.ground: one.reason for one in believable(said, policy.allow, believe).left}
    ground = next((one for one in _BINDING if one in left), None)
    return f"{left[ground]} (the write policy believes nothing {ground.value})" if ground else ""
