"""Request bodies: Perdure's requests without the fields that the service sets itself, such as who asks and when.

The user may be left out, where a token is one user's. Each field means what it does in ``perdure.values.requests`` and
``perdure.values.updates``, where it is checked as well.
"""

import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from perdure.identity import OwnerId
from perdure.model import LONGEST_PATH, Instant, Model, Name, QueryText, ShallowJson, Text, Unit
from perdure.values.access_tokens import Caller
from perdure.values.entries import Label, Lane, MemoryType, Purpose, Relation
from perdure.values.events import EventName
from perdure.values.requests import LookupKey
from perdure.values.steering import LONGEST_GOAL, LONGEST_MESSAGE, MOST_CONSTRAINTS, Reason
from perdure.values.strategies import ProfileName, Strategy
from perdure.values.task_limits import Limits
from perdure.values.tasks import MemoryMode
from perdure.values.updates import Note

_USER = Field(default=None, max_length=500, description="Leave it out with a token of one user.")


class Body(Model):
    """A body that names for whom is asked."""

    # FastAPI hides a warning of pydantic's where it makes the type of a body, and not where that is put off.
    model_config = ConfigDict(defer_build=False)

    user_id: Annotated[str | None, _USER] = None

    def asked(self, caller: Caller, *without: str) -> dict[str, object]:
        """Return the fields that were sent, with the user for whom is asked.

        Raises:
            InvalidInput: It names no user, and the token is for anybody.
            UnknownThing: The token is another user's.
        """
        user = caller.user(self.user_id)
        sent = self.model_dump(mode="json", exclude_unset=True, exclude={"user_id", *without})
        return {**sent, "user_id": user}


class OwnedBody(Body):
    """A body that may name whose memory is meant as well."""

    of: Annotated[OwnerId | None, Field(examples=["team:ops"])] = None


class IngestBody(OwnedBody):
    """Items to remember."""

    key: Annotated[
        str | None,
        Field(
            min_length=1, max_length=300, description="The batch's own key; the header Idempotency-Key does the same."
        ),
    ] = None
    items: Annotated[
        tuple[JsonValue, ...],
        Field(
            min_length=1,
            max_length=100,
            examples=[[{"kind": "memory", "content": "Deploys happen on Tuesdays.", "occurrence": "meeting-12/3"}]],
        ),
    ]
    agent: Name | None = None
    policy: Name | None = None
    recorded: Annotated[
        tuple[Instant, ...],
        Field(
            max_length=100,
            description="When each was said or learned, if they waited since: what was forgotten or erased after that "
            "stays so.",
        ),
    ] = ()


class QueryBody(OwnedBody):
    """A question to memory."""

    text: Annotated[QueryText, Field(examples=["When do deploys happen?"])] = ""
    lane: Lane | None = None
    keys: Annotated[tuple[LookupKey, ...], Field(max_length=1_000)] = ()
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    session: Annotated[str, Field(max_length=300)] = ""
    strategy: Strategy = Strategy.BALANCED
    profile: ProfileName | None = None
    memory_types: Annotated[tuple[MemoryType, ...], Field(max_length=20)] = ()
    tags: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    scopes: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    since: Instant | None = None
    until: Instant | None = None
    task: Annotated[str, Field(max_length=300)] = ""
    min_confidence: Unit | None = None
    explain: bool = False


class TaskBody(Body):
    """A task to start."""

    task_id: Annotated[Name, Field(examples=["restock-1"])]
    skill: Annotated[str, Field(max_length=80, examples=["restock"])] = ""
    goal: Annotated[str, Field(max_length=LONGEST_GOAL)] = ""
    inputs: Annotated[dict[str, ShallowJson], Field(examples=[{"sku": "bolts"}])] = Field(
        default_factory=dict[str, ShallowJson]
    )
    session_id: Name | None = None
    agent: Name = "agent"
    date: datetime.date | None = None
    memory: MemoryMode = MemoryMode.ON
    limits: Limits = Limits()
    again: Annotated[bool, Field(description="Run a completed task once more; its effects are not repeated.")] = False


class AnswerBody(Body):
    """An answer to a question."""

    question_id: Annotated[str, Field(min_length=1, max_length=LONGEST_PATH, examples=["order"])]
    value: Annotated[ShallowJson, Field(examples=["yes"])]
    note: Note = ""


class EventBody(Body):
    """An event."""

    name: Annotated[EventName, Field(examples=["paid"])]
    value: Annotated[ShallowJson, Field(examples=[{"sum": 12}])] = None
    id: Annotated[str | None, Field(max_length=100, description="Its sender's own id: a task takes an id once.")] = None


class MessageBody(Body):
    """A message to a task's model."""

    text: Annotated[
        str, Field(min_length=1, max_length=LONGEST_MESSAGE, examples=["Only what has no licence matters."])
    ]


class RedirectBody(Body):
    """Another goal, or constraints."""

    goal: Annotated[str, Field(max_length=LONGEST_GOAL)] = ""
    constraints: Annotated[
        tuple[str, ...], Field(max_length=MOST_CONSTRAINTS, examples=[["Touch nothing below docs/."]])
    ] = ()
    because: Reason = ""


class PauseBody(Body):
    """Why a task pauses, goes on or stops."""

    because: Reason = ""


class ChangeBody(OwnedBody):
    """A change of a memory: why, and from which version."""

    note: Note = ""
    expected: Annotated[
        int | None,
        Field(ge=1, description="The version that it must still have: then the same change may be sent again."),
    ] = None


class CorrectBody(ChangeBody):
    """What a memory should say."""

    content: Annotated[Text | None, Field(examples=["Deploys happen on Fridays."])] = None
    memory_type: MemoryType | None = None
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] | None = None
    names: Annotated[tuple[Label, ...], Field(max_length=20)] | None = None
    relations: Annotated[tuple[Relation, ...], Field(max_length=20)] | None = None
    scopes: Annotated[tuple[Name, ...], Field(max_length=20)] | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    confidence: Unit | None = None


class PinBody(ChangeBody):
    """Whether a memory is in every context."""

    pinned: bool = True


class DecideBody(OwnedBody):
    """What is decided on a memory on hold."""

    approve: Annotated[bool, Field(examples=[True])]
    note: Note = ""
    text: Annotated[str, Field(max_length=8_000, description="What to remember instead.")] = ""


class ConsentBody(OwnedBody):
    """What a user consents to from now on."""

    grant: Annotated[tuple[Purpose, ...], Field(max_length=20, examples=[["extracted"]])] = ()
    withdraw: Annotated[tuple[Purpose, ...], Field(max_length=20)] = ()


class EraseBody(OwnedBody):
    """Whose memory is erased."""
