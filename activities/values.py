"""Steps that only compute something from known values."""

from temporalio import activity

from activities.episodes import SessionWriter
from perdure.agent.steps.calls import Ended, LetCall, WaitCall, Waits
from perdure.agent.steps.event_steps import expecting, taken
from perdure.agent.steps.inner_skill_calls import EnterCall, LeaveCall
from perdure.agent.steps.inner_skills import entering, leaving
from perdure.agent.steps.let_steps import named
from perdure.agent.steps.values import Values
from perdure.agent.steps.wait_calls import ExpectCall, TakeCall
from perdure.agent.steps.wait_steps import waiting
from perdure.names import Activity


class ValueActivities:
    """Evaluates ``let`` steps, what a step waits for, and what the skill of a step is given and gives back.

    Args:
        values: Where large values are kept.
        session: Records that an event came.
    """

    def __init__(self, values: Values, session: SessionWriter) -> None:
        self._values = values
        self._session = session

    @activity.defn(name=Activity.LET_STEP)
    async def let_step(self, call: LetCall) -> Ended:
        """Return what a ``let`` names."""
        return await named(call, self._values)

    @activity.defn(name=Activity.WAIT_STEP)
    async def wait_step(self, call: WaitCall) -> Ended | Waits:
        """Return until when a step waits; that it is skipped, where its ``when`` is false."""
        return await waiting(call, self._values)

    @activity.defn(name=Activity.EXPECT_EVENT)
    async def expect_event(self, call: ExpectCall) -> Ended | Waits:
        """Return which event a step waits for, and until when; that it is skipped, where its ``when`` is false."""
        return await expecting(call, self._values)

    @activity.defn(name=Activity.TAKE_EVENT)
    async def take_event(self, call: TakeCall) -> Ended:
        """Return the outcome of a step whose event came, and write down who delivered it and when."""
        outcome = await taken(call, self._values)
        await self._session.delivered(call, activity.info().workflow_id or "")
        return outcome

    @activity.defn(name=Activity.ENTER_SKILL)
    async def enter_skill(self, call: EnterCall) -> Ended:
        """Return the inputs of the skill that a step runs; that it is skipped, where its ``when`` is false."""
        return await entering(call, self._values)

    @activity.defn(name=Activity.LEAVE_SKILL)
    async def leave_skill(self, call: LeaveCall) -> Ended:
        """Return the outcome of a step that runs a skill, all of whose steps have ended."""
        return await leaving(call, self._values)
