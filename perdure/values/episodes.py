"""Episodes: what happened in a session, and how important it is. Pure."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from perdure.model import Instant, OpenEnum, Stored, Unit
from perdure.values.entries import Purpose
from perdure.values.statements import Voice

LONGEST = 500
"""Characters of an episode's text: an insight, not a document."""

DRAFT = LONGEST + 200
"""Characters that are looked at before private data is taken out, and the text is cut."""

EPISODES_KEPT = 1_000
"""How many episodes a session keeps; the oldest go first."""

IDLE = timedelta(hours=1)
"""How long a session must be idle before its waiting episodes are promoted: it is then assumed to be over."""

LONGEST_WAIT = timedelta(hours=20)
"""How long anything waits to be promoted, before it is no longer read."""

NEARLY_FULL = 800
"""How many episodes a session holds when what waits is promoted at once: before some of it has to go."""

_SPREAD = 0.1
"""How much the speaker, and the confidence in what was said, change an episode's importance: a choice, so small that a
failure is always above a success."""


class EpisodeKind(OpenEnum):
    """What kind of thing happened. An unknown kind is shown as it is."""

    TURN = "turn"
    """Somebody said something."""
    TOOL = "tool"
    """A tool was called, and returned; or an event came that a step waited for."""
    DECISION = "decision"
    """A person answered, or approved."""
    ERROR = "error"
    """A step failed, or an attempt at it."""
    INSIGHT = "insight"
    """Something was learned that is to be remembered."""
    RESOLUTION = "resolution"
    """A step succeeded that had failed before."""


_BASE = {
    EpisodeKind.TOOL: 0.2,
    EpisodeKind.TURN: 0.4,
    EpisodeKind.INSIGHT: 0.6,
    EpisodeKind.ERROR: 0.7,
    EpisodeKind.DECISION: 0.8,
    EpisodeKind.RESOLUTION: 0.8,
}
"""The importance of each kind: a choice. Unknown kinds are in the middle."""

_VOICES = {Voice.USER: _SPREAD, Voice.AGENT: 0.0, Voice.TOOL: -_SPREAD}

_PROMOTED = frozenset({EpisodeKind.TURN, EpisodeKind.DECISION, EpisodeKind.INSIGHT, EpisodeKind.RESOLUTION})


def importance(kind: EpisodeKind, *, by: Voice = Voice.AGENT, weight: Unit = 0.5) -> Unit:
    """Return an episode's importance, by which a session's most important ones are read.

    Args:
        kind: What happened.
        by: Who said it, or decided.
        weight: How much what was learned is believed, or matters, if somebody judged that.

    >>> importance(EpisodeKind.DECISION, by=Voice.USER)
    0.9
    """
    score = _BASE.get(kind, 0.5) + _VOICES.get(by, -_SPREAD) + 2 * _SPREAD * (weight - 0.5)
    return round(min(1.0, max(0.0, score)), 3)


class Episode(Stored):
    """Something that happened in a session: what was learned from it, never the raw output."""

    id: Annotated[str, Field(min_length=1, max_length=300)]
    """Where it happened, so that a retry is the same episode."""
    kind: EpisodeKind
    text: Annotated[str, Field(min_length=1, max_length=DRAFT)]
    importance: Unit
    at: Instant
    step: str = ""
    """The path of the step that it belongs to, if any."""
    by: Voice | None = None
    """Who said it; None: a turn's or a decision's user, and otherwise the agent."""
    said: Annotated[str, Field(max_length=DRAFT)] = ""
    """What was said, if the text contains more than that."""
    before: Annotated[str, Field(max_length=DRAFT)] = ""
    """What was said before it, where that matters."""
    extracted: bool = False
    """Whether memory has already taken what it keeps of it, so that it is not promoted."""
    arguments: dict[str, str] = Field(default_factory=dict[str, str])
    """Digests of a failed call's arguments, by name, which show what was changed when it succeeds."""

    person: str = Field(default="", exclude_if=lambda person: not person)
    """The id of the person whom the text names behind what it tells: who answered, sent or delivered something."""

    def seen_by(self, user_id: str) -> "Episode":
        """Return the episode as a user may take it away: it names no other person."""
        if self.person in ("", user_id):
            return self
        for name in (f"person {self.person}", self.person):
            named = f" by {name} at "
            told, is_whole, rest = self.text.rpartition(named)
            # The text may have been cut within the name.
            cut = next((end for end in range(len(named), len(" by "), -1) if self.text.endswith(named[:end])), 0)
            if is_whole:
                return self.changed(text=f"{told} by another person at {rest}", person="")
            if cut:
                return self.changed(text=f"{self.text[:-cut]} by another person", person="")
        return self.changed(person="")

    @property
    def is_promotable(self) -> bool:
        """Whether memory may take something of it before it expires."""
        return not self.extracted and self.kind in _PROMOTED


def permitted(episodes: Iterable[Episode], withdrawn: Collection[Purpose]) -> list[Episode]:
    """Return what a session may keep and show.

    Nothing if what is given may not be kept; neither turns nor insights if what is extracted no longer may.

    Args:
        episodes: What happened.
        withdrawn: What the user does not consent to any more.
    """
    if Purpose.GIVEN in withdrawn:
        return []
    extracted = {EpisodeKind.TURN, EpisodeKind.INSIGHT} if Purpose.EXTRACTED in withdrawn else set[EpisodeKind]()
    return [one for one in episodes if one.kind not in extracted]


def said_to_people(voices: Sequence[Voice]) -> list[bool]:
    """Return which turns are kept in their session: a user's, and those that an agent addresses to the user.

    What an agent says before a tool or an agent goes on is how it comes to its answer. What a tool returns is raw
    output; so is what an unknown voice says.

    Args:
        voices: Who spoke, in the order of the turns.

    >>> said_to_people([Voice.USER, Voice.AGENT, Voice.TOOL, Voice.AGENT, Voice.USER])
    [True, False, False, True, True]
    """
    following = [*voices, Voice.USER][1:]
    return [
        voice is Voice.USER or (voice is Voice.AGENT and after is Voice.USER)
        for voice, after in zip(voices, following, strict=True)
    ]


def due_at(last: datetime, first: datetime, held: int) -> datetime:
    """Return when what waits in a session is to be promoted.

    Args:
        last: When the session's last episode happened.
        first: When the first of those happened that wait.
        held: How many episodes the session holds.
    """
    return first if held >= NEARLY_FULL else min(last + IDLE, first + LONGEST_WAIT)
