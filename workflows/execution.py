"""The activities of one task's actions: a quick one inside the worker, every other one by Temporal. Decides nothing."""

from dataclasses import replace
from datetime import timedelta
from typing import cast

from temporalio import workflow
from temporalio.exceptions import ActivityError, FailureError, is_cancelled_exception

from perdure.agent.plan import Action
from perdure.agent.quick_steps import QuickSteps
from perdure.agent.steps.calls import Acts, Asks, Calls, Ended, StepCall, StepOutcome, Waits
from perdure.history import History
from perdure.names import Activity
from workflows import options
from workflows.failures import asks_of, delay_of, is_final, is_of_tool
from workflows.running_task import RunningTask
from workflows.unknown_effects import doubt

_OUTCOME = cast("type[Ended | Asks | Acts | Waits | Calls]", StepOutcome)


class Execution:
    """Runs the activities of one task's actions.

    Args:
        running: The task.
        history: What each of them makes longer.
    """

    def __init__(self, running: RunningTask, history: History) -> None:
        self._running = running
        self._history = history
        self._quick = QuickSteps()

    async def outcome(self, action: Action, size: int) -> Ended | Asks | Waits | Calls:
        """Return the outcome of an action; of a step whose tool is not called, without an activity of the tool's name.

        Args:
            action: The action.
            size: Bytes of its input.

        Raises:
            FailureError: It failed.
        """
        try:
            outcome: Ended | Asks | Acts | Waits | Calls = Acts()
            if action.is_undecided:
                outcome = await self._decision(action, size)
            if isinstance(outcome, Acts):
                # What was not decided here, whoever calls the tool decides.
                outcome = await self._acted(action.decided if action.is_undecided else action, size)
        except FailureError as error:
            if (asks := asks_of(error)) is None:
                raise
            return asks
        if isinstance(outcome, Acts):
            raise TypeError(f"{action.path} was decided, and nothing came of it")
        return outcome

    async def _decision(self, action: Action, size: int) -> Ended | Asks | Acts | Waits | Calls:
        """Return whether a step's tool is called: found out inside the worker, if it is alone and its turn not over."""
        how = options.of_step(self._running.state.prepared.heartbeat)
        summary = f"{action.told}: whether {action.activity} is called"
        if action.is_alone and self._quick.begin():
            try:
                return await self._locally(Activity.DECIDE_STEP, action, summary)
            except FailureError as error:
                if is_cancelled_exception(error) or is_final(error):
                    raise
                await self._delayed(action, error)
        return await self._remotely(Activity.DECIDE_STEP, action, size, summary, how)

    async def _acted(self, action: Action, size: int) -> Ended | Asks | Acts | Waits | Calls:
        """Return what came of an action: a quick one runs inside the worker, unless its turn is over or it fails."""
        if action.is_alone and action.is_quick and self._quick.begin():
            try:
                # One for all tools: a worker that has not registered a local activity could not replay what it did.
                return await self._locally(Activity.QUICK_STEP, action, f"{action.activity} at {action.told}")
            except FailureError as error:
                if is_cancelled_exception(error) or is_final(error):
                    raise
                action = await self._after_failure(action, error)
        prepared = self._running.state.prepared
        how = options.of_step(prepared.heartbeat)
        if action.tool:
            how = options.of_tool(action.tool, prepared.heartbeat)
        elif action.requests:
            how = options.of_model(prepared.model_timeout, prepared.heartbeat, action.requests)
        try:
            return await self._remotely(action.activity, action, size, action.told, how)
        except ActivityError as error:
            if asks_of(error) is None:
                doubt(self._running, action, error)
            raise

    async def _locally(self, activity: str, action: Action, summary: str) -> Ended | Asks | Acts | Waits | Calls:
        outcome: Ended | Asks | Acts | Waits | Calls = await workflow.execute_local_activity(
            activity, action.call, result_type=_OUTCOME, summary=summary, **options.of_quick()
        )
        # Its input is not in the history.
        size = len(outcome.model_dump_json())
        self._quick.ended(size, outcome.seconds if isinstance(outcome, Ended | Acts) else 0.0)
        self._history.grow(size=size)
        return outcome

    async def _after_failure(self, action: Action, error: FailureError) -> Action:
        """Return the ordinary action that replaces a failed quick step, after the delay that the failure asks for."""
        await self._delayed(action, error)
        if not isinstance(action.call, StepCall):
            return action
        failed = is_of_tool(error, counts_not_done=action.call.step.retry is not None)
        return replace(action, call=action.call.changed(tried=1, failed=int(failed)))

    async def _delayed(self, action: Action, error: FailureError) -> None:
        """Wait as long as a failed local activity asks for."""
        self._history.grow()
        if (delay := delay_of(error)) > timedelta():
            self._history.grow()
            await workflow.sleep(delay, summary=f"{action.place} runs again")

    async def _remotely(
        self, activity: str, action: Action, size: int, summary: str, how: options.Options
    ) -> Ended | Asks | Acts | Waits | Calls:
        try:
            outcome = await workflow.execute_activity(
                activity, action.call, result_type=_OUTCOME, summary=summary, **how
            )
        except ActivityError:
            self._history.grow(1, size)
            raise
        finally:
            self._quick.reset()
        size += len(outcome.model_dump_json())
        # What it has to remember is submitted by an activity of its own, sooner or later.
        self._history.grow(2 if isinstance(outcome, Ended) and outcome.items else 1, size)
        return outcome
