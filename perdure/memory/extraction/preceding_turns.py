"""What was said right before something, whose question can make an answer private: "2958" after "your PIN?". Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from perdure.memory.extraction.grounds.short_answers import EARLIER, given_kind, leaves_open
from perdure.values.items import TurnItem
from perdure.values.statements import LONGEST_BEFORE, Said, Voice


class _PlacedTurn(NamedTuple):
    """A turn among items that may not have been checked yet."""

    place: int
    session: str
    position: int
    text: str
    by: str


def answering(said: Iterable[Said]) -> list[Said]:
    """Return what was said one after another in a session, where an answer that is private comes with the question.

    A statement that says itself what came before it is left as it is; so is one that answers with nothing private, as
    what came before it matters to more than screening.
    """
    said = tuple(said)
    return _with_questions(said, _before_each((one.text, one.by) for one in said))


def turns_said(items: Sequence[object]) -> list[Said]:
    """Return what the turns among items say, as ``answering`` does, each after the one before it in its own session."""
    turns = [
        (item, before) for item, before in zip(items, before_items(items), strict=True) if isinstance(item, TurnItem)
    ]
    said = [
        Said(text=turn.content, by=turn.by, at=turn.occurred_at, occurrence=turn.occurrence, speaker=turn.speaker)
        for turn, _ in turns
    ]
    return _with_questions(said, [before for _, before in turns])


def open_question(turns: Iterable[tuple[str, str]]) -> str:
    """Return what comes before whatever is said after these turns, each a text and who said it."""
    return _before_each([*turns, ("", "")])[-1]


def before_items(items: Sequence[object]) -> list[str]:
    """Return what was said before each item: of a turn, the one before it in its session; of all else, nothing.

    Args:
        items: Items, checked or as they were written.
    """
    found = [""] * len(items)
    sessions: dict[str, list[_PlacedTurn]] = {}
    for place, item in enumerate(items):
        if turn := _turn(place, item):
            sessions.setdefault(turn.session, []).append(turn)
    for turns in sessions.values():
        ordered = sorted(turns, key=lambda turn: (turn.position, turn.place))
        for turn, before in zip(ordered, _before_each((one.text, one.by) for one in ordered), strict=True):
            found[turn.place] = before
    return found


def _with_questions(said: Sequence[Said], before: Sequence[str]) -> list[Said]:
    return [
        one.changed(before=question) if not one.before and given_kind(one.text, question) else one
        for one, question in zip(said, before, strict=True)
    ]


def _before_each(turns: Iterable[tuple[str, str]]) -> list[str]:
    """Return what came before each text, of texts and who said them.

    A question stays open after what a tool says, after "One moment." of whoever was asked, and after "Take your time."
    of whoever asked; what comes before it is then kept too, behind what marks it as earlier. All else closes it.
    """
    found: list[str] = []
    before = asker = ""
    for text, by in turns:
        found.append(before)
        if before and (by == Voice.TOOL or leaves_open(text, by_asker=by == asker)):
            before = f"{before}{EARLIER}{text}"[-LONGEST_BEFORE:].strip()
        elif text.strip():
            before, asker = text, by
    return found


def _turn(place: int, item: object) -> _PlacedTurn | None:
    if isinstance(item, TurnItem):
        return _PlacedTurn(place, item.session, item.position, item.content, item.by)
    if not isinstance(item, Mapping):
        return None
    written = cast("Mapping[str, Any]", item)
    text, position = written.get("content"), written.get("position")
    if written.get("kind") != "turn" or not isinstance(text, str):
        return None
    position = position if isinstance(position, int) else 0
    return _PlacedTurn(place, str(written.get("session")), position, text, str(written.get("by", Voice.USER)))
