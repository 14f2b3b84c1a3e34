"""Tools and resources of tasks: starting one, seeing where it is, and having its user answer what it asks."""

import json
import secrets
from typing import Annotated, Any, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field, JsonValue, create_model

from perdure.documents import validated
from perdure.errors import InvalidAnswer, InvalidTask, WorkerUnavailable
from perdure.values.access_tokens import TokenScope
from perdure.values.questions import Answer, AnswerType, Question
from perdure.values.task_status import StartedTask, TaskStanding
from perdure.values.tasks import AgentTask
from worker.mcp.call_context import McpCalls, told
from worker.mcp.memories import DATA

_ASKED_BY_ANSWER = "2026-07-28"
"""The version of the protocol since which a client is asked by the answer to its own call, for which it needs no way
back."""

Id = Annotated[str, Field(description="The task's workflow_id, as start_task returned it.")]


class GivenAnswer(BaseModel):
    """What a person answers; each question has its own form of it."""

    answer: str | int | float | bool


def offer(server: MCPServer[Any], asking: McpCalls) -> None:
    """Offer a client's model tasks."""
    gateway = asking.gateway

    @server.tool(annotations=ToolAnnotations(destructive_hint=True))
    @told()
    async def start_task(
        ctx: Context[Any, Any],
        *,
        goal: Annotated[str, Field(description="What an agent should achieve, in words. Or name a skill.")] = "",
        skill: Annotated[str, Field(description="The skill to run. Or give a goal.")] = "",
        inputs: Annotated[dict[str, JsonValue] | None, Field(description="Those of the skill.")] = None,
        agent: Annotated[str, Field(description="Who works on a goal, of the agents there are.")] = "agent",
        task_id: Annotated[str, Field(description="Your own id: the same one again is the same task.")] = "",
    ) -> StartedTask:
        """Start a durable task: it goes on through crashes and restarts, and does nothing twice. It runs on its own."""
        caller = asking.caller(ctx)
        caller.require(TokenScope.TASKS)
        asked = {
            "task_id": task_id or f"mcp-{secrets.token_hex(6)}",
            "user_id": asking.user(ctx),
            "goal": goal,
            "skill": skill,
            "inputs": inputs or {},
            "agent": agent,
        }
        return await gateway.start(validated(AgentTask, asked, "", InvalidTask), by=asking.agent(ctx))

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    @told()
    async def task_progress(workflow_id: Id, ctx: Context[Any, Any]) -> TaskStanding:
        """Say where a task is, which questions it asks, and how it ended."""
        await require_own(ctx, workflow_id)
        return await gateway.task_state(workflow_id, by=asking.agent(ctx))

    @told()
    async def asked_of_user(workflow_id: str, question_id: str, ctx: Context[Any, Any]) -> Elicit[GivenAnswer]:
        asking.caller(ctx).require_person()
        question = await open_question(ctx, workflow_id, question_id)
        if not (ctx.session.can_send_request or is_version_at_least(ctx.protocol_version or "", _ASKED_BY_ANSWER)):
            problem = f"cannot be put to the user over HTTP: the client speaks a version before {_ASKED_BY_ANSWER}"
            raise InvalidAnswer("question_id", problem, fix="the user answers by perdure inbox")
        return elicited(question)

    @server.tool(annotations=ToolAnnotations(destructive_hint=True))
    @told()
    async def answer_question(
        workflow_id: Id,
        question_id: Annotated[str, Field(description="The id of the question, as task_progress shows it.")],
        answer: Annotated[ElicitationResult[GivenAnswer], Resolve(asked_of_user)],
        ctx: Context[Any, Any],
    ) -> str:
        """Have the user answer a question of a task: your client shows it to them. You cannot answer it yourself."""
        caller = asking.caller(ctx)
        if not isinstance(answer, AcceptedElicitation):
            return "The user did not answer. The task goes on waiting."
        given = {"question_id": question_id, "value": answer.data.answer}
        await gateway.answer(workflow_id, validated(Answer, given, "", InvalidAnswer), by=caller.actor)
        return "The answer was taken."

    async def require_own(ctx: Context[Any, Any], workflow_id: str) -> None:
        caller = asking.caller(ctx)
        caller.require(TokenScope.TASKS)
        await gateway.require_task_of(asking.user(ctx), workflow_id, by=asking.agent(ctx))

    async def open_question(ctx: Context[Any, Any], workflow_id: str, question_id: str) -> Question:
        await require_own(ctx, workflow_id)
        progress = (await gateway.task_state(workflow_id, by=asking.agent(ctx))).progress
        if progress is None:
            raise WorkerUnavailable("no worker says what the task asks: try again in some seconds")
        for question in progress.questions:
            if question.id == question_id:
                return question
        open_ones = ", ".join(question.id for question in progress.questions) or "none"
        raise InvalidAnswer("question_id", f"{question_id!r} is not open", fix=f"open questions: {open_ones}")

    @server.resource(
        "perdure://tasks/{workflow_id}/explanation",
        name="explanation",
        description="What a task recalled and why, what it wrote, and what was ignored and why.",
        mime_type="application/json",
    )
    @told(ResourceError)
    async def explanation(workflow_id: str, ctx: Context[Any, Any]) -> str:
        await require_own(ctx, workflow_id)
        found = await gateway.explain(workflow_id, by=asking.agent(ctx))
        return json.dumps({"notice": DATA, **found.model_dump(mode="json")}, ensure_ascii=False)


def elicited(question: Question) -> Elicit[GivenAnswer]:
    """Return how a client is to ask its user a question: with what it is about, and a form of the answer's type."""
    lines = question.about.lines if question.about else []
    forms: dict[AnswerType, Any] = {AnswerType.INTEGER: int, AnswerType.NUMBER: float}
    form: Any = Literal[question.choices] if question.choices else forms.get(question.answer.type, str)
    schema: type[GivenAnswer] = create_model(
        "GivenAnswer", __base__=GivenAnswer, answer=(form, Field(description=question.text[:200]))
    )
    return Elicit("\n".join([question.text, *lines]), schema)
