"""The recorded runs in which people step in: questions of any workflow, notices of them, pauses; and what is undone."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError

from perdure import Actor, ActorKind, AgentTask, Answer, Limits, PauseRequest
from perdure.names import ANSWER, END, FEEDBACK, PAUSE, QUESTIONS, RESUME, SAY
from perdure.values.chats import ChatEnding, ChatMessage, ChatReply
from perdure.values.entries import Memory
from perdure.values.feedback import LateFeedbackCall
from perdure.values.inbox import ASKED, PersonQuestion
from perdure.values.lessons import LESSON, LessonRequest
from perdure.values.questions import AnswerSpec, AnswerType
from perdure.values.steering import TaskFeedback
from perdure.values.tasks import Phase
from perdure.values.webhooks import Notice
from tests.replay.recorder import Recorder
from tests.support.waiting import progress_of, until
from worker.gateway.updates import sent_update

ADA = Actor(kind=ActorKind.PERSON, id="ada")

WORD = """
inputs: {word: string}
steps:
  - id: write
    tool: append
    args: {ledger: undone, line: "${inputs.word}"}
    compensate: {tool: append, args: {ledger: undone, line: "not ${output.line}"}}
output: "${steps.write.output.line}"
"""

NESTED = """
steps:
  - for_each: "${['a', 'b', 'c']}"
    as: word
    at_once: 2
    steps:
      - {id: run, skill: word, inputs: {word: "${word}"}, remember: [{memory: "The word is ${output}."}]}
  - {id: last, tool: echo, args: {value: 1}}
output: "${steps.word.done}"
"""

UNDOING = """
steps:
  - {id: run, skill: word, inputs: {word: d}}
  - {id: fails, tool: garbles, retry: 1}
"""

WAITING = "steps: [{id: time, wait: 1s}, {id: last, tool: echo, args: {value: 1}}]"


async def record_people(here: Recorder) -> None:
    """Record them all."""
    await _questions(here)
    await _notices(here)
    await _tasks(here, "people")
    await _chats(here, "talking")


async def _questions(here: Recorder) -> None:
    question = PersonQuestion(user_id="people", text="Go on?", answer=AnswerSpec(type=AnswerType.YES_NO))
    asking = await here.start("AskPerson", question)
    await _asked(asking)
    await sent_update(asking, ANSWER, Answer(question_id=ASKED, value="yes", by="ada"))
    assert (await asking.result())["value"] is True
    await here.keep("ask_person", asking)
    silent = await here.start("AskPerson", question.changed(within="1s", otherwise="no"))
    assert (await silent.result())["value"] is False
    await here.keep("ask_person_silent", silent)
    cancelled = await here.start("AskPerson", question)
    await _asked(cancelled)
    await cancelled.cancel()
    await here.keep_failed("ask_person_cancelled", cancelled)
    await here.keep_failed("ask_person_refused", await here.start("AskPerson", {"user_id": "people", "txt": "x"}))


async def _notices(here: Recorder) -> None:
    in_time, late = datetime.now(UTC) + timedelta(hours=1), datetime(1999, 1, 1, tzinfo=UTC)
    for name, end in (("deliver_notice", in_time), ("deliver_notice_late", late)):
        notice = Notice(event="e", body="{}", workflow_id="w", question_id="q", until=end)
        delivering = await here.start("DeliverNotice", notice)
        await delivering.result()
        await here.keep(name, delivering)
    await here.keep_failed("deliver_notice_refused", await here.start("DeliverNotice"))


async def _tasks(here: Recorder, user: str) -> None:
    here.skill("word", WORD)
    for name, queue in (("nested", ""), ("nested_continued", here.rolling)):
        nested = await _start(here, AgentTask(task_id=name, user_id=user, skill=here.skill("nested", NESTED)), queue)
        assert (await here.client.get_workflow_handle(nested.id).result())["output"] == 3
        await here.keep(f"agent_{name}", nested)
    undoing = await _start(here, AgentTask(task_id="undone", user_id=user, skill=here.skill("undoing", UNDOING)))
    await here.keep_failed("agent_undone", undoing)
    halted = await _start(here, AgentTask(task_id="halted", user_id=user, skill=here.skill("waiting", WAITING)))
    await sent_update(halted, PAUSE, PauseRequest(by=ADA, id="once"))
    await progress_of(halted, lambda one: one.phase is Phase.PAUSED)
    await sent_update(halted, FEEDBACK, TaskFeedback(passed=True, text="It waits as it should.", by=ADA, id="word"))
    await sent_update(halted, RESUME, PauseRequest(by=ADA))
    assert (await halted.result())["done"] == 2
    await here.keep("agent_halted", halted)
    run = str(halted.first_execution_run_id)
    word = LateFeedbackCall(workflow_id=halted.id, first_run=run, feedback=TaskFeedback(passed=False, by=ADA))
    judging = await here.start("JudgeTask", word)
    assert (await judging.result())["succeeded"] is False
    await here.keep("judge_task", judging)
    [lesson] = await _lessons(here, user, undoing)
    promoting = await here.start("SetLesson", LessonRequest(id=lesson, user_id=user, by=ADA))
    await promoting.result()
    await here.keep("set_lesson", promoting)
    await here.keep_failed("lesson_refused", await here.start("SetLesson", LessonRequest(id="mem_0", by=ADA)))
    await here.keep_failed("judge_refused", await here.start("JudgeTask", word.changed(first_run="another")))


async def _lessons(here: Recorder, user: str, failed: WorkflowHandle[Any, Any]) -> list[str]:
    """Return the ids of what a task has learned, once that is searchable."""
    for job in (await failed.query("memory"))["jobs"]:
        await here.client.get_workflow_handle(job).result()
    found = await here.services.longterm.everything(here.services.tenant_key.tenant_of(user), kinds=("memory",))
    return [one.id for one in found.values() if isinstance(one, Memory) and LESSON in one.tags]


async def _chats(here: Recorder, user: str) -> None:
    agent = here.agent("talking", "instructions: Be brief.\nmodel: openai:test\ntools: [echo]\n")
    chat = await _start(here, AgentTask(task_id="chat_continued", user_id=user, agent=agent, chat=True), here.rolling)
    latest = here.client.get_workflow_handle(chat.id)
    await asyncio.gather(*(_say(latest, f"Message {number}") for number in range(3)))
    assert (await _say(latest, "Message 0")).text == "Said: Message 0"
    await sent_update(latest, END, ChatEnding(by=ADA))
    assert (await latest.result())["status"] == Phase.COMPLETED
    await here.keep("agent_chat_continued", chat)
    limits = Limits(idle_hours=2 / 3_600)
    idle = await _start(here, AgentTask(task_id="idle", user_id=user, agent=agent, chat=True, limits=limits))
    assert (await _say(idle, "Hello")).text == "Said: Hello"
    assert (await idle.result())["status"] == Phase.COMPLETED
    await here.keep("agent_chat_idle", idle)
    careful = here.agent("careful", "model: openai:test\ntools: [append]\napprove: [append]\n")
    limits = Limits(answer_hours=1 / 3_600)
    silent = await _start(here, AgentTask(task_id="silent", user_id=user, agent=careful, chat=True, limits=limits))
    assert "nobody answered" in (await _say(silent, "Write it down")).text
    await sent_update(silent, END, ChatEnding(by=ADA))
    assert (await silent.result())["status"] == Phase.COMPLETED
    await here.keep("agent_chat_unanswered", silent)


async def _say(handle: WorkflowHandle[Any, Any], text: str) -> ChatReply:
    message = ChatMessage(text=text, id=text, by=ADA)
    while (reply := await sent_update(handle, SAY, message, ChatReply)).pending:
        pass
    return reply


async def _start(here: Recorder, task: AgentTask, queue: str = "") -> WorkflowHandle[Any, Any]:
    return await here.start("ResumableAgent", task, id_=task.workflow_id, queue=queue)


async def _asked(handle: WorkflowHandle[Any, Any]) -> None:
    """Wait until a workflow asks, and has a worker that says so."""

    async def questions() -> list[Any]:
        try:
            return await handle.query(QUESTIONS)
        except RPCError:
            return []

    await until(questions, bool)
