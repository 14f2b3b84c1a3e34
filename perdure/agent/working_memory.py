"""How much of its own work a model is shown: bounded, the newest verbatim, the goal always. Pure.

Working memory holds 8,000 tokens, and 20 turns (R16). At 80 % of its tokens, or with the twentieth turn, all turns but
the newest five give way to a summary. These stay verbatim as far as they fit: where they do not, their longest parts
are shown by beginning and end. Tokens are counted as four characters each, which is what English text comes to; the
provider's own count goes into the budget.
"""

from perdure.agent.steps.calls import Value
from perdure.agent.turns import RESULT_SHOWN, Conversation, ModelTurn, Notes

LIMIT = 8_000
"""Tokens."""

COMPRESSED_AT = 0.8
"""The part of ``LIMIT`` from which on older turns give way."""

TURNS = 20
"""Turns with which older ones give way, however short they are."""

VERBATIM = 5
"""The newest turns, which no summary replaces."""

CHARACTERS = 4
"""Characters that count as one token."""

NOTES_KEPT = 20
"""Notes of each kind that are kept, the newest ones; of constraints there are no more, since none is dropped."""

LONGEST_NOTE = 500
"""Characters of one note."""

NOTES_LIMIT = int(LIMIT * CHARACTERS * 0.3)
"""Characters of all notes together; the oldest of those that are no constraints give way."""

CONSTRAINTS_LIMIT = NOTES_LIMIT // 2
"""Characters of the constraints that are noted."""

_SUMMARY_PART = 0.2
"""The part of ``LIMIT`` that a summary may take."""

SUMMARY_LIMIT = int(LIMIT * CHARACTERS * _SUMMARY_PART)
"""Characters that a summary may have."""

_SHORTEST = 200
"""Characters of each part that are shown where the others have little room, unless there are very many."""

_MARK = 50
"""Characters that say how much of a part is left out, at most."""


def size(conversation: Conversation) -> int:
    """Return how many tokens a conversation takes when the model reads it."""
    notes = _length_of_notes(conversation.notes) + sum(len(one.text) for one in conversation.constraints)
    notes += len(conversation.answering.text) if conversation.answering else 0
    turns = sum(turn.size for turn in conversation.turns)
    return (notes + conversation.summary_size + turns) // CHARACTERS


def evicted(conversation: Conversation) -> tuple[ModelTurn, ...]:
    """Return the turns that have to give way to a summary before the next one: none while there is room."""
    is_full = size(conversation) >= LIMIT * COMPRESSED_AT or len(conversation.turns) >= TURNS
    kept = VERBATIM if conversation.exceeded < 2 else 1
    return conversation.turns[:-kept] if is_full or conversation.exceeded else ()


def without_evicted(conversation: Conversation) -> Conversation:
    """Return a conversation without the turns that have to give way.

    The message that is being answered stands behind the turn before it, and leaves it with that turn.
    """
    left = evicted(conversation)
    answering = conversation.answering
    if conversation.message:
        said = (one for turn in left for one in turn.heard if one.id == conversation.message)
        answering = next(said, answering)
    return conversation.changed(turns=conversation.turns[len(left) :], answering=answering)


def shown(conversation: Conversation) -> int:
    """Return how many characters of each part of a turn the model is shown, so that all stay within the limit."""
    room = (LIMIT - size(conversation.changed(turns=()))) * CHARACTERS
    parts = sorted(part for turn in conversation.turns for part in _parts(turn))
    least = max(2, min(_SHORTEST, room // max(1, len(parts)) - _MARK))
    for place, part in enumerate(parts):
        share = room // (len(parts) - place)
        if part > share:
            return max(least, min(RESULT_SHOWN, share - _MARK))
        room -= part
    return RESULT_SHOWN


def _parts(turn: ModelTurn) -> list[int]:
    """Return the sizes, in characters, of all that is shortened of a turn where it does not fit, and of problems."""
    values = [turn.text, *(call.arguments for call in turn.calls), *(gave.output for gave in turn.returned.values())]
    problems = [len(gave.problem) for gave in turn.returned.values()]
    # What is little longer than what is shown is shown whole.
    most, messages = RESULT_SHOWN + _MARK, [len(one.text) for one in turn.heard]
    return [min(most, length) for length in (*map(length_of, values), *messages)] + problems


def length_of(value: Value) -> int:
    """Return about how many characters a value takes as text."""
    return value.size or len(str(value.inline))


def shortened(text: str, limit: int) -> str:
    """Return a text's beginning and end, with how much is left out between them, where it is shorter so."""
    if len(text) <= limit + _MARK:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def unnotable(notes: Notes, kind: str, text: str) -> str:
    """Return why something cannot be noted; empty: it can. See ``noted``."""
    if kind not in Notes.model_fields or not text.strip():
        return f"write kind ({', '.join(Notes.model_fields)}) and text"
    if len(text.strip()) > LONGEST_NOTE:
        return f"a note has at most {LONGEST_NOTE} characters: put it shorter, or in two"
    if kind == "constraints" and text.strip() not in notes.constraints:
        if len(notes.constraints) >= NOTES_KEPT:
            return f"there are {NOTES_KEPT} constraints, and none is ever dropped: no further one can be noted"
        if sum(map(len, notes.constraints)) + len(text.strip()) > CONSTRAINTS_LIMIT:
            return f"constraints have {CONSTRAINTS_LIMIT:,} characters together, and none is ever dropped"
    return ""


def noted(notes: Notes, kind: str, text: str) -> Notes:
    """Return the notes with one added; a duplicate keeps its place.

    Args:
        notes: Those that there are.
        kind: The field it belongs to. One that is done is no longer to come.
        text: The note.
    """
    text = text.strip()
    before: tuple[str, ...] = getattr(notes, kind)
    if text in before:
        return notes
    changed = notes.changed(**{kind: (*before, text)[-NOTES_KEPT:]})
    if kind == "done":
        changed = changed.changed(next=tuple(one for one in changed.next if one != text))
    while _length_of_notes(changed) > NOTES_LIMIT:
        longest = max(("done", "decisions", "next"), key=lambda name: sum(map(len, getattr(changed, name))))
        changed = changed.changed(**{longest: getattr(changed, longest)[1:]})
    return changed


def _length_of_notes(notes: Notes) -> int:
    return sum(len(note) for kind in Notes.model_fields for note in getattr(notes, kind))
