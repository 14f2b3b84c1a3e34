"""What an agent or a tool concludes and offers itself, held to what may be believed of what is said. Pure."""

from perdure.memory.extraction.belief import believable
from perdure.memory.write_policies import WritePolicy
from perdure.values.entries import MemoryType
from perdure.values.items import MemoryItem
from perdure.values.statements import Ground, Said, Voice

_WHY = {
    Ground.INSTRUCTION: "it reads like an order to an AI: say it as a fact",
    Ground.RECALLED: "it quotes a block of memory: say only what is new",
    Ground.SENSITIVE: "it is about somebody's identity, health, beliefs or means: only that person has it remembered",
    Ground.TRANSIENT: "it is true only for a moment: say what will still hold in weeks, or until when it holds",
    Ground.UNSTABLE: "it is hedged: say it once it is sure",
}
"""The grounds that bind what is offered as a statement, with what to do. The others help to find statements in what
somebody said."""

_OF_SPEECH = frozenset({Ground.RECALLED})
"""What an agent says in a conversation ("you prefer tabs") may quote its memory; offered as a statement, it is one."""


def objection_to(item: MemoryItem, policy: WritePolicy) -> str:
    """Return why a conclusion may not be believed, and what to do; empty: it may.

    An outcome is what happened once, and what says when it ends is not recalled after that: neither is refused because
    it does not last.
    """
    said = Said(text=item.content, by=Voice.AGENT, at=item.occurred_at, occurrence=item.occurrence)
    lasts = item.memory_type is MemoryType.OUTCOME or item.valid_until is not None
    believe = {*policy.believe, *_OF_SPEECH, *((Ground.TRANSIENT,) if lasts else ())}
    left = {one.ground for one in believable(said, policy.allow, believe).left}
    ground = next((one for one in _WHY if one in left), None)
    return f"{_WHY[ground]} ({ground.value}: the write policy may believe it)" if ground else ""
