"""The plan of a task that has a goal: what the model wants, within what its agent may do. Pure.

Retrieve, then turn by turn: reason, act, and repeat with the results of the calls, until a turn wants no call: its text
is the answer. All calls of a turn run at the same time, each in a branch of its own.
"""

from collections.abc import Sequence
from typing import Any

from perdure.agent.goal_calls import REPEATS_TOLD, TurnCalls, inline_limit_of, place_of
from perdure.agent.loops import repeated_with, repetitions
from perdure.agent.messages import hear
from perdure.agent.plan import Act, Action, ActionFailure, Finish, Move, Unanswered, beyond
from perdure.agent.preparation import PreparedTask
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.step_context import context_of
from perdure.agent.steps.calls import Ended, RecallCall, Scope, Value
from perdure.agent.steps.task_calls import EvaluateCall
from perdure.agent.tool_specs import MemoryTool
from perdure.agent.turns import (
    RESULT_SHOWN,
    CallKind,
    CompressCall,
    Compressed,
    Conversation,
    ModelTurn,
    ReasonCall,
    Reasoned,
    Returned,
    WantedCall,
)
from perdure.agent.working_memory import (
    SUMMARY_LIMIT,
    evicted,
    length_of,
    noted,
    shown,
    unnotable,
    without_evicted,
)
from perdure.model import LONGEST_QUESTION, Instant
from perdure.names import Activity
from perdure.skills.steps import RecallStep
from perdure.skills.templates import RecallTemplate
from perdure.tolerance import taken_back
from perdure.values.questions import TakenAnswer
from perdure.values.steering import TakenMessage
from perdure.values.tasks import StepStatus

MAIN = "main"
"""The branch of the model's turns."""

MISTAKES = 5
"""Turns in a row that could not be used, after which the task fails."""

REPEATS = 5
"""Repetitions of the same calls in a row after which the task fails."""

_NO_END = "Another answer is wanted. Check this one against the goal, and give your answer again."

_AGAIN = (
    "You have made these same calls {times} times in a row, with the same arguments: they will give nothing else. "
    "Do something different, or give your answer."
)


class GoalPlan:
    """Works towards a goal.

    Args:
        task: The task.
        prepared: What it is pinned to: an agent.
    """

    unanswered = Unanswered.TASK_FAILS

    def __init__(self, task: TaskRun, prepared: PreparedTask) -> None:
        if prepared.agent is None:
            raise ValueError("the task has no agent for its goal")
        self._task = task
        self._prepared = prepared
        self._agent = prepared.agent.changed(model=prepared.agent.model or prepared.model)
        self._calls = TurnCalls(task, prepared, self._agent)

    def begin(self, state: TaskState) -> TaskState:
        """Return the state before the first turn, or where an earlier run of the task stood."""
        earlier = self._prepared.position
        conversation = taken_back(Conversation, earlier) if earlier is not None else Conversation()
        if (last := conversation.last) is not None and last.is_answer:
            # The run that gave this answer failed with it, or a person wants another one.
            turns = (*conversation.turns[:-1], last.changed(told=_NO_END))
            conversation = conversation.changed(turns=turns)
        # It was given up, or ended by somebody: counts of turns in a row start again.
        return positioned(state, conversation.changed(mistakes=0, repeated=(), exceeded=0))

    def next(self, state: TaskState, now: Instant) -> Move:
        """Return the model's next turn, the calls that it wants, or the end."""
        conversation = conversation_in(state)
        last = conversation.last
        if last is not None and last.is_open:
            return self._calls.of(state, conversation, last, now)
        if state.failure:
            return Finish(problem=state.failure)
        if state.branches[MAIN].path:
            return Act()
        if last is not None and last.is_answer:
            return Finish(evaluation=self._answer(last))
        problem, turn = self._exhausted(conversation, state.used.tokens), self._turn(conversation, now, state.earlier)
        if last is not None and last.stands and (problem or beyond(self._task.limits, turn, state)):
            return Finish(evaluation=self._answer(last))
        return Finish(problem=problem) if problem else Act(actions=(turn,))

    def ended(self, state: TaskState, branch: str, outcome: Ended) -> TaskState:
        """Return the state after a turn, a call or a summary."""
        conversation, parts = conversation_in(state), outcome.result.parts
        if branch != MAIN:
            state = _using(state, outcome.tokens)
            if "problem" in parts:
                return with_returned(state, branch, Returned(problem=str(parts["problem"].inline)))
            skipped = outcome.result.status is StepStatus.SKIPPED
            problem = "a person did not approve it" if skipped else "; ".join(outcome.refused)
            value = parts.get("context") or parts.get("output") or Value()
            if skipped:
                state = state.reported(branch, branch, StepStatus.SKIPPED, problem)
            return with_returned(state, branch, Returned(output=value, problem=problem)).counted(outcome.result.status)
        if "reasoned" in parts:
            return self._reasoned(state, conversation, taken_back(Reasoned, parts["reasoned"].inline))
        if "compressed" in parts:
            return positioned(state, _compressed(conversation, taken_back(Compressed, parts["compressed"].inline)))
        return positioned(state, conversation.changed(recalled=parts.get("context", Value(inline=""))))

    def failed(self, state: TaskState, branch: str, failure: ActionFailure) -> TaskState:
        """Return the state after a failure: a call's is reported to the model, a turn's fails the task."""
        if branch == MAIN:
            return state.changed(failure=f"turn {conversation_in(state).begun + 1}: {failure.problem}")
        state, lessons = _using(state, failure.tokens), state.branches[branch].lessons
        returned = Returned(problem=failure.problem, lessons=lessons, unfit=failure.unfit)
        conversation = conversation_in(state)
        last = conversation.last
        if last is not None and failure.acted and self._calls.acts(last.calls[place_of(branch)].tool):
            told = f"{failure.problem}; its effect may have happened: find out, and do not repeat it"
            returned = returned.changed(problem=told)
            uncertain = (*conversation.uncertain, last.calls[place_of(branch)].digest)
            state = positioned(state, conversation.changed(uncertain=uncertain))
        state = state.reported(branch, branch, StepStatus.FAILED, failure.problem, failure.attempt)
        return with_returned(state, branch, returned).counted(StepStatus.FAILED)

    def refused(self, state: TaskState, branch: str, problem: str) -> TaskState | None:
        """Return None: beyond its limits, a task with a goal fails."""
        return None

    def heard(self, state: TaskState, messages: Sequence[TakenMessage]) -> TaskState | None:
        """Return the state with messages in the conversation; None until the turn under way has ended, with its calls.

        Taken before, they would no longer count against what a task keeps for its model.
        """
        conversation = conversation_in(state)
        last = conversation.last
        if state.branches[MAIN].path or (last is not None and last.is_open):
            return None
        return positioned(state, hear(conversation, messages))

    def answered(self, state: TaskState, branch: str, answer: TakenAnswer) -> TaskState:
        """Never called: this plan asks no questions itself."""
        raise ValueError(f"{branch} asked nothing")

    def _exhausted(self, conversation: Conversation, tokens: int) -> str:
        """Return why the model gets no further turn, having used so many tokens; empty: it gets one."""
        agent = self._agent
        if conversation.mistakes >= MISTAKES:
            return f"the model made {MISTAKES} unusable turns in a row"
        if repetitions(conversation.repeated) >= REPEATS:
            return f"the model made the same calls {REPEATS + 1} times in a row"
        if conversation.exceeded > 2:
            return "what the model has to read is longer than it can, however much is left out"
        if conversation.begun - conversation.begun_before >= agent.turns:
            return f"the model took the {agent.turns} turns that agent {agent.name!r} may take (turns)"
        if tokens >= agent.tokens:
            used = f"the model used {tokens:,} tokens"
            return f"{used}, and agent {agent.name!r} may use {agent.tokens:,} (tokens)"
        return ""

    def _turn(self, conversation: Conversation, now: Instant, earlier: Instant | None) -> Action:
        """Return what the model's branch does next: recall, make a summary, or take a turn."""
        number, goal = conversation.begun + 1, conversation.goal or self._task.goal
        if conversation.recalled is None and self._task.memory.recalls:
            path = "retrieve" if not conversation.begun else f"turn[{number}].retrieve"
            step = RecallStep(id="retrieve", recall=RecallTemplate(text="${goal}"))
            # Memory is asked in at most as many characters; what a goal is about stands at its beginning.
            scope = Scope(elements={"goal": self._sought(conversation)[:LONGEST_QUESTION]})
            context = context_of(self._task, self._prepared, path, now, scope)
            asked = {"step": step, "now": now, "shows_ids": self._task.memory.remembers, "user_id": self._task.user_id}
            call = RecallCall.model_validate(context | asked)
            return Action(branch=MAIN, path=path, activity=Activity.RECALL_STEP, call=call, is_step=False)
        of = context_of(self._task, self._prepared, f"turn[{number}]", now) | {
            "agent": self._agent,
            "inline_limit": inline_limit_of(conversation),
        }
        if turns := evicted(conversation):
            first = conversation.begun - len(conversation.turns) + 1
            about = {"summary": conversation.summary, "first": first, "turns": turns, "limit": SUMMARY_LIMIT}
            summing = CompressCall.model_validate(of | about)
            path = f"turn[{number}].summary"
            how: dict[str, Any] = {"is_step": False, "requests": 1}
            return Action(branch=MAIN, path=path, activity=Activity.COMPRESS, call=summing, **how)
        about = {"goal": Value(inline=goal), "date": self._prepared.date}
        about |= {
            "offered": self._prepared.offered,
            "conversation": conversation,
            "shown": shown(conversation),
            "earlier": earlier,
        }
        reasoning = ReasonCall.model_validate(of | about)
        return Action(
            branch=MAIN, path=f"turn[{number}]", activity=Activity.REASON, call=reasoning, is_step=False, requests=1
        )

    def _sought(self, conversation: Conversation) -> str:
        """Return what memory is asked before the model's first turn."""
        return conversation.goal or self._task.goal

    def _reasoned(self, state: TaskState, conversation: Conversation, reasoned: Reasoned) -> TaskState:
        """Return the state after a turn of the model."""
        changed = conversation.changed(
            read=conversation.read + reasoned.read, written=conversation.written + reasoned.written
        )
        if reasoned.kind is CallKind.DECLINED:
            return positioned(state, changed).changed(failure="the model declines to go on")
        if reasoned.kind is CallKind.EXCEEDED:
            return positioned(state, changed.changed(exceeded=changed.exceeded + 1))
        turn = reasoned.turn
        if reasoned.kind is not CallKind.TURN:
            turn = ModelTurn(told="Nothing can be made of your turn here. Call a tool, or give your answer.")
        repeated = repeated_with(turn, conversation)
        if (times := repetitions(repeated)) >= REPEATS_TOLD:
            turn = turn.changed(told=_AGAIN.format(times=times + 1))
        turn = self._calls.checked(turn, conversation, times, positioned(state, changed))
        for place, wanted in enumerate(turn.calls):
            if wanted.tool == MemoryTool.NOTE and not wanted.problem:
                turn, changed = self._noted(turn, place, wanted, changed)
        changed = changed.changed(
            turns=(*changed.turns, turn),
            begun=changed.begun + 1,
            mistakes=_mistakes(changed, turn),
            repeated=repeated,
            exceeded=0,
        )
        return positioned(state, changed)

    def _noted(
        self, turn: ModelTurn, place: int, wanted: WantedCall, conversation: Conversation
    ) -> tuple[ModelTurn, Conversation]:
        """Record what the model notes, and end the call at once."""
        given: Any = wanted.arguments.inline if isinstance(wanted.arguments.inline, dict) else {}
        kind, text = str(given.get("kind", "")), str(given.get("text", ""))
        if problem := unnotable(conversation.notes, kind, text):
            told = Returned(problem=problem)
        else:
            conversation = conversation.changed(notes=noted(conversation.notes, kind, text))
            told = Returned(output=Value(inline="noted"))
        return turn.ended(place, told), conversation

    def _answer(self, turn: ModelTurn) -> EvaluateCall:
        """Return the action that turns the model's last turn into the task's output."""
        scope = Scope(inputs={"answer": turn.text})
        of: dict[str, Any] = {"tenant": self._prepared.tenant, "task_id": self._task.task_id, "scope": scope}
        return EvaluateCall(output="${inputs.answer}", expect=self._agent.expect, judge=self._agent.judged, **of)


def conversation_of(state: TaskState, unread: Sequence[TakenMessage] = ()) -> Conversation | None:
    """Return the turns that a task's model has taken, and what it was told; None for a task without a goal.

    Args:
        state: The task's state.
        unread: Messages that its model has not seen yet: a later run of the task goes on with them.
    """
    is_goal = state.prepared.agent is not None and MAIN in state.branches
    return hear(conversation_in(state), unread) if is_goal else None


def conversation_in(state: TaskState) -> Conversation:
    """Return the conversation of a task whose plan is this."""
    # After a rollover it has been through JSON; otherwise this returns it as it is.
    return taken_back(Conversation, state.branches[MAIN].position)


def positioned(state: TaskState, conversation: Conversation) -> TaskState:
    """Return the state with a conversation."""
    return state.branch(MAIN, position=conversation).changed(tokens=conversation.tokens)


def _using(state: TaskState, tokens: int) -> TaskState:
    """Return the state once a skill that its model called has used some tokens."""
    conversation = conversation_in(state)
    return positioned(state, conversation.changed(inside=conversation.inside + tokens)) if tokens else state


def _mistakes(conversation: Conversation, turn: ModelTurn) -> int:
    """Return how many turns in a row could not be used, with a turn that counts once its calls have ended."""
    if turn.is_open:
        return conversation.mistakes
    return conversation.mistakes + 1 if turn.is_mistake else 0


def with_returned(state: TaskState, branch: str, returned: Returned) -> TaskState:
    """Return the state with a call's result, and without its branch."""
    conversation = conversation_in(state)
    [*before, turn] = conversation.turns
    place = place_of(branch)
    size = (
        turn.size
        + min(RESULT_SHOWN, len(returned.problem) + length_of(returned.output))
        + sum(map(len, returned.lessons))
    )
    turn = turn.ended(place, returned).changed(size=size)
    mistakes = _mistakes(conversation, turn)
    state = positioned(state, conversation.changed(turns=(*before, turn), mistakes=mistakes))
    return state.changed(branches={name: one for name, one in state.branches.items() if name != branch})


def _compressed(conversation: Conversation, made: Compressed) -> Conversation:
    return without_evicted(conversation).changed(
        summary=made.summary,
        summary_size=made.size,
        read=conversation.read + made.read,
        written=conversation.written + made.written,
    )
