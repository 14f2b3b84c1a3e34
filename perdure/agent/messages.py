"""What people and programs say to a model between its turns, as it reads it. Pure.

What was said stands in the conversation behind the turn that it followed, and gives way to a summary with that turn. A
goal and constraints that were given stay for the task's life, and the message that is being answered until it is
answered.
"""

from collections.abc import Sequence

from perdure.agent.turns import Conversation, ModelTurn
from perdure.values.changes import Actor, ActorKind
from perdure.values.steering import GivenConstraint, Heard, TakenMessage

HEARD_KEPT = 500
"""Ids of messages that a later run of the task recognises: the last ones; a choice."""

UNANSWERED_KEPT = 5
"""Messages of a conversation that got no answer and still stand before the next one: a choice. Without a model that
can be asked, nothing would ever make a summary of them."""

_WHO = {ActorKind.PERSON: "a person", ActorKind.AGENT: "an agent"}


def hear(conversation: Conversation, messages: Sequence[TakenMessage]) -> Conversation:
    """Return a conversation with messages in it, which the model reads before its next turn.

    One that the conversation of an earlier run has already changes nothing.

    Args:
        conversation: The conversation.
        messages: In the order in which they came.
    """
    new = [one for one in messages if not one.id or one.id not in conversation.messages]
    if not new:
        return conversation
    said = tuple(Heard(id=one.id, text=_told(one), by=one.by, at=one.at, sets_aim=not one.text) for one in new)
    # Before its first turn there is none that they could stand behind.
    *before, last = conversation.turns or (ModelTurn(),)
    last = last.changed(heard=(*last.heard, *said), size=last.size + sum(len(one.text) for one in said))
    given = [GivenConstraint(text=text, by=one.by, at=one.at) for one in new for text in one.constraints]
    ids = (*conversation.messages, *(one.id for one in new if one.id))
    conversation = conversation.changed(
        turns=(*before, last),
        constraints=(*conversation.constraints, *given),
        messages=ids[-HEARD_KEPT:],
        # What it does from now on may be the same for another reason.
        mistakes=0,
        repeated=(),
    )
    goals = [one.goal for one in new if one.goal]
    # Memory is asked again, for the new goal.
    return conversation.changed(goal=goals[-1], recalled=None) if goals else conversation


def said(conversation: Conversation, message: TakenMessage) -> Conversation:
    """Return a conversation with what somebody who converses said, which the model is to answer.

    The turns that the model may take count from here on, and memory is asked again. Of what was said before and got no
    answer, the last messages stay.
    """
    heard = Heard(id=message.id, text=message.text, by=message.by, at=message.at, sets_aim=True)
    *before, last = conversation.turns or (ModelTurn(),)
    kept = (*last.heard[-UNANSWERED_KEPT:], heard)
    size = last.size + sum(len(one.text) for one in kept) - sum(len(one.text) for one in last.heard)
    last = last.changed(heard=kept, size=size)
    return conversation.changed(
        turns=(*before, last),
        message=message.id,
        answering=None,
        begun_before=conversation.begun,
        recalled=None,
        mistakes=0,
        repeated=(),
        exceeded=0,
    )


def _told(message: TakenMessage) -> str:
    when = f"{_who(message.by)} at {message.at:%Y-%m-%d %H:%M} UTC"
    if message.text:
        return f"A message from {when}:\n{message.text}"
    lines = [f"Redirected by {when}."]
    if message.goal:
        lines.append("Your goal is another one from now on: the one that is given first.")
    lines += [f"From now on this has to hold: {text}" for text in message.constraints]
    return "\n".join(lines)


def _who(by: Actor) -> str:
    """Return who said it, without a name: the model's provider need not know whose task it is."""
    return _WHO.get(by.kind, "a program")
