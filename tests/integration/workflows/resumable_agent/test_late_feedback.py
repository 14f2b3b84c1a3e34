"""What a person says of a task that has ended counts instead of how it ended, once, and the last word wins."""

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure import Actor, ActorKind, AgentTask, Answer, TaskFeedback
from perdure.agent.steps.task_calls import CreditCall, KeepCall, SkillTrial
from perdure.errors import InvalidInput, InvalidTask
from perdure.memory.writing.batch_checks import read_batch
from perdure.names import BINDING
from perdure.stores.redis.feedback import RedisFeedback
from perdure.stores.redis.recalls import TaskRecalls
from perdure.values.bindings import TaskBinding
from perdure.values.entries import Memory, Purpose
from perdure.values.episodes import EpisodeKind
from perdure.values.feedback import LateFeedback, LateVerdict
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch
from perdure.values.requests import RecallRequest
from perdure.values.steering import GivenFeedback
from perdure.values.trials import Trials
from tests.conftest import Servers
from tests.support.harness import Bench
from tests.support.waiting import question_of
from worker import audits
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

NOW = datetime.now(UTC)
"""What was recorded long ago, and not used since, is not believed enough to be recalled."""
KIM = Actor(kind=ActorKind.PERSON, id="kim")

RECALL = """
inputs: {passes: boolean}
steps:
  - {id: known, recall: {text: "what does Ada prefer?", limit: 1}}
output: "${inputs.passes}"
expect: "${output}"
"""


class Judged:
    """A task that has recalled a memory, and ended."""

    def __init__(
        self, agents: Bench, gateway: Gateway, memory: str, handle: WorkflowHandle[Any, Any], user: str
    ) -> None:
        self.agents, self.gateway, self.memory, self.handle, self.user = agents, gateway, memory, handle, user
        self.tenant = agents.services.tenant_key.tenant_of(user)

    async def feedback(self, passed: bool, step: str = "", identifier: str = "", text: str = "") -> LateVerdict:
        said = TaskFeedback(passed=passed, step=step, id=identifier, text=text)
        found = await self.gateway.feedback(self.handle.id, said, by=KIM)
        assert found is not None
        return found

    async def binding(self) -> TaskBinding:
        found = await (await self.handle.describe()).memo_value(BINDING, None, type_hint=TaskBinding)
        assert found is not None
        return found

    async def counts(self) -> tuple[int, int, Trials]:
        """Return the memory's trials and successes, and the skill's."""
        found = (await self.agents.services.longterm.get(self.tenant, [self.memory]))[self.memory]
        assert isinstance(found, Memory)
        version = (await self.binding()).version
        trials = (await self.agents.services.trials.of([version]))[version]
        return len(found.trials), len(found.successes), trials


@pytest.fixture
async def gateway(agents: Bench, servers: Servers) -> AsyncGenerator[Gateway]:
    async with Gateway(agents.settings, servers) as one:
        yield one


async def ended(agents: Bench, gateway: Gateway, *, passes: bool = True, task_id: str = "t") -> Judged:
    user = uuid4().hex
    items: list[JsonValue] = [
        {"kind": "memory", "content": "Ada prefers trains.", "occurrence": "o", "occurred_at": NOW.isoformat()}
    ]
    tenant = agents.services.tenant_key.tenant_of(user)
    batch = read_batch(tenant=tenant, key="setup", items=items)
    plan = await agents.services.writer.plan(batch, at=NOW)
    await agents.services.writer.apply(batch, plan, operation="setup")
    handle = await agents.start(
        AgentTask(task_id=task_id, user_id=user, skill=agents.skill(RECALL), inputs={"passes": passes})
    )
    await handle.result()
    await agents.client.get_workflow_handle(f"credit-{handle.first_execution_run_id}").result()
    return Judged(agents, gateway, plan.items[0].target, handle, user)


def trials(tasks: int, successes: int) -> Trials:
    return Trials(tasks=tasks, successes=successes)


async def test_the_last_word_counts_for_the_skill_and_for_what_was_recalled(agents: Bench, gateway: Gateway) -> None:
    one = await ended(agents, gateway)
    assert await one.counts() == (1, 1, trials(1, 1))
    found = await one.feedback(False, text="The licence is another one.")
    assert (found.succeeded, found.credited) == (False, 1)
    assert [(said.text, said.by) for said in found.feedback] == [("The licence is another one.", KIM)]
    assert await one.counts() == (1, 0, trials(1, 0))
    found = await one.feedback(True)
    assert (found.succeeded, [said.passed for said in found.feedback]) == (True, [False, True])
    assert await one.counts() == (1, 1, trials(1, 1))
    await agents.services.audit.written()
    lines = await audits.show(agents.settings, one.user, None, None, KIM)
    judged = [line for line in lines if line.by == KIM and one.handle.id in line.ids.get("task judged", ())]
    assert len(judged) == 2


TRAIN = "I always travel by train."

WAITS = """
steps:
  - {id: booked, tool: echo, args: {value: a flight}}
  - {id: last, tool: echo, args: {value: 1}, approve: "Go on?"}
"""


@pytest.mark.parametrize("over", [False, True], ids=["running", "ended"])
@pytest.mark.parametrize("memory", ["on", "read"])
async def test_what_a_person_says_of_a_task_is_recalled_in_its_session_and_promoted_once(
    agents: Bench, gateway: Gateway, memory: str, over: bool
) -> None:
    task, services = agents.task(agents.skill(WAITS), memory=memory, session_id="trips"), agents.services
    tenant = services.tenant_key.tenant_of(task.user_id)
    await services.consents.say(
        tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="consent", by=KIM, at=datetime.now(UTC)
    )
    handle = await agents.start(task)
    question = await question_of(handle)
    agree = Answer(question_id=question.id, value="yes", by="kim")
    if over:
        await handle.execute_update("answer", agree)
        await handle.result()
    said = TaskFeedback(passed=False, step="booked", text=TRAIN, id="word")
    for _ in range(2):
        await gateway.feedback(handle.id, said, by=KIM)
    if not over:
        await handle.execute_update("answer", agree)
        await handle.result()
        await agents.replay(handle)
    told = [one for one in await services.episodes.told(tenant, "trips", recent=100) if TRAIN in one.text]
    asked = RecallRequest(user_id=task.user_id, text="how does kim travel?", session="trips")
    recalled = await gateway.recall(asked, by=KIM)
    batches: list[Batch] = []

    async def submit(batch: Batch, _: str) -> None:
        batches.append(batch)

    later = datetime.now(UTC) + timedelta(hours=2)
    await services.promoter.promote(tenant, now=later, by=KIM, submit=submit)
    learned = [item.content for batch in batches for item in batch.items if isinstance(item, MemoryItem)]
    if memory == "read":
        assert (told, TRAIN in recalled.context, learned) == ([], False, [])
        return
    [word] = told
    assert word.text.startswith(f"booked did not pass: {TRAIN} (judged by kim at ")
    assert (word.kind, word.step, TRAIN in recalled.context) == (EpisodeKind.DECISION, "booked", True)
    assert len(learned) == 1
    assert "train" in learned[0]


async def test_a_failed_step_counts_until_that_is_taken_back(agents: Bench, gateway: Gateway) -> None:
    one = await ended(agents, gateway)
    assert (await one.feedback(False, "known")).succeeded is False
    assert await one.counts() == (1, 0, trials(1, 0))
    assert (await one.feedback(True, "known")).succeeded is True
    assert await one.counts() == (1, 1, trials(1, 1)), "as it ended itself"


async def test_a_task_that_failed_its_rule_is_a_success_if_a_person_says_so(agents: Bench, gateway: Gateway) -> None:
    one = await ended(agents, gateway, passes=False)
    assert await one.counts() == (1, 0, trials(1, 0))
    await one.feedback(True)
    assert await one.counts() == (1, 1, trials(1, 1))


async def test_what_is_sent_again_is_taken_once(agents: Bench, gateway: Gateway) -> None:
    one = await ended(agents, gateway)
    first = await one.feedback(False, identifier="word")
    await one.feedback(True)
    assert await one.feedback(False, identifier="word") == first, "the answer to the first"
    assert await one.counts() == (1, 1, trials(1, 1))


async def test_a_credit_that_comes_late_does_not_undo_a_persons_word(agents: Bench, gateway: Gateway) -> None:
    one = await ended(agents, gateway)
    await one.feedback(False)
    run, services = str(one.handle.first_execution_run_id), agents.services
    recalls, version = TaskRecalls(services.redis, services.bindings.ttl), (await one.binding()).version

    async def late(run: str) -> None:
        """End the task once more, as it did at its end."""
        await recalls.add(one.tenant, "t", [one.memory])
        credit = CreditCall(tenant=one.tenant, task_id="t", task=one.handle.id, first_run=run, succeeded=True)
        await agents.execute("CreditMemories", credit)
        trial = SkillTrial(version=version, first_run=run, succeeded=True)
        await agents.execute("KeepClaims", KeepCall(tenant=one.tenant, task_id="t", trial=trial))

    await late(run)
    assert await one.counts() == (1, 0, trials(1, 0))
    await late("another run")
    assert await one.counts() == (1, 1, trials(1, 1)), "of a later run nothing was said"


@pytest.mark.parametrize("moment", [2, 4], ids=["for the skill", "for what was recalled"])
async def test_a_word_that_comes_while_another_is_counted_is_counted_last(
    agents: Bench, gateway: Gateway, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    one = await ended(agents, gateway)
    of, looked = RedisFeedback.of, list[int]()

    async def interrupted(self: RedisFeedback, tenant: str, task_id: str, run: str) -> Sequence[Any]:
        found = await of(self, tenant, task_id, run)
        looked.append(len(found))
        if len(looked) == moment:
            await one.feedback(True)
        return found

    monkeypatch.setattr(RedisFeedback, "of", interrupted)
    await one.feedback(False)
    assert await one.counts() == (1, 1, trials(1, 1))
    assert max(looked) == 2


async def test_feedback_is_refused_with_the_reason(agents: Bench, gateway: Gateway) -> None:
    one = await ended(agents, gateway)
    agent = Actor(kind=ActorKind.AGENT, id="a")
    with pytest.raises(InvalidInput, match="is of the kind 'agent'"):
        await gateway.feedback(one.handle.id, TaskFeedback(passed=True), by=agent)
    with pytest.raises(InvalidTask, match="there is none with the id"):
        await gateway.feedback("task-nobody", TaskFeedback(passed=True), by=KIM)
    unprepared = await agents.start(agents.task("no-such-skill"))
    with pytest.raises(WorkflowFailureError):
        await unprepared.result()
    with pytest.raises(InvalidTask, match="nothing to judge"):
        await gateway.feedback(unprepared.id, TaskFeedback(passed=True), by=KIM)
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr("perdure.stores.redis.feedback.MOST_LATE", 1)
        await one.feedback(True)
        with pytest.raises(InvalidTask, match="has been judged 1 time "):
            await one.feedback(True)
        # Its next end was judged by nobody yet.
        word = LateFeedback(id="w", first_run="the next", given=GivenFeedback(passed=True, by=KIM, at=NOW))
        await RedisFeedback(agents.services.redis, timedelta(hours=1)).add(one.tenant, "t", word)


async def test_an_open_task_takes_feedback_itself(agents: Bench, gateway: Gateway) -> None:
    handle = await agents.start(agents.task(agents.skill("steps: [{id: paid, wait: {event: paid}}]")))
    assert await gateway.feedback(handle.id, TaskFeedback(passed=False), by=KIM) is None
    await handle.cancel()
