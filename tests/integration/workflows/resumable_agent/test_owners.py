"""A task reads and writes a team's memory while its user belongs to the team, asked anew with each step."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import WorkflowFailureError

from perdure import Actor, ActorKind, Answer
from perdure.errors import UnknownOwner
from perdure.identity import author_id
from perdure.stores.journal.lines import Accepted
from perdure.testing import TESTER
from perdure.values.entries import State
from perdure.values.jobs import Receipt
from perdure.values.requests import EraseRequest
from perdure.values.updates import MemoryUpdate, Removal
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import question_of, until_true
from worker.gateway import Gateway

ADMIN = Actor(kind=ActorKind.PERSON, id="admin")
FACT = "The release train leaves on Thursday."

SKILL = """
steps:
  - id: learn
    remember:
      - {{memory: "{fact}", of: {team}}}
      - {{memory: "Ada likes marzipan.", type: preference}}
    critical: true
  - id: known
    recall: {{of: {team}, text: "When does the release train leave?"}}
  - {{id: wait, tool: echo, args: {{value: 1}}, approve: "Go on?"}}
  - id: again
    recall: {{of: {team}, text: "When does the release train leave?"}}
output: "${{[steps.known.items[0].text, steps.again.items[0].text]}}"
"""


async def enrol(agents: Bench, team: str, user: str, *, belongs: bool) -> None:
    await agents.services.members.say(
        team, user, belongs=belongs, operation=uuid4().hex, by=ADMIN, at=datetime.now(UTC)
    )


@pytest.mark.slow
@pytest.mark.parametrize("removed", [True, False], ids=["removed", "control"])
async def test_who_is_removed_while_their_task_runs_passes_no_more_in_its_next_run(
    servers: Servers, tmp_path: Path, removed: bool
) -> None:
    team = f"team:{uuid4().hex[:12]}"
    async with bench(servers, tmp_path, continue_after=1) as agents:
        task = agents.task(agents.skill(SKILL.format(team=team, fact=FACT)))
        await enrol(agents, team, task.user_id, belongs=True)
        started = await agents.start(task)
        handle = agents.client.get_workflow_handle(started.id)
        await question_of(handle, "wait")
        assert (await handle.describe()).run_id != started.first_execution_run_id, "another run than the first"
        key = agents.services.tenant_key
        theirs = await agents.services.longterm.everything(key.tenant_of_owner(team))
        own = await agents.services.longterm.everything(key.tenant_of(task.user_id))
        assert [entry.text for entry in theirs.values()] == [FACT]
        # Who has it written is named as where they say something themselves, and not by the tenant of their own.
        lines = await agents.services.journal.read(key.tenant_of_owner(team))
        [accepted] = [line for line in lines if isinstance(line, Accepted)]
        assert accepted.stated_by == author_id(key.tenant_of_owner(team), key.tenant_of(task.user_id))
        assert [entry.text for entry in own.values()] == ["Ada likes marzipan."]
        async with Gateway(agents.settings, servers) as gateway:
            explained = await gateway.explain(started.id, by=TESTER)
            assert set(explained.texts.values()) == {FACT, "Ada likes marzipan."}
            if removed:
                await enrol(agents, team, task.user_id, belongs=False)
                explained = await gateway.explain(started.id, by=TESTER)
                assert set(explained.texts.values()) == {"Ada likes marzipan."}
        await handle.execute_update("answer", Answer(question_id="wait", value="yes"))
        if not removed:
            assert (await handle.result())["output"] == [FACT, FACT]
            return
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert f"step again: {UnknownOwner.code} of: this user belongs to no {team!r}" in str(caught.value.cause)


async def test_what_is_for_a_team_that_one_does_not_belong_to_is_refused_and_the_rest_remembered(
    agents: Bench,
) -> None:
    team = f"team:{uuid4().hex[:12]}"
    text = f"""
steps:
  - id: learn
    remember: [{{memory: "{FACT}", of: {team}}}, {{memory: "Ada likes marzipan."}}]
"""
    result = await agents.run(text)
    [refused] = result.refused
    assert refused.startswith("1 item: PRD107 of: ")
    assert len(result.jobs) == 1
    tenant = agents.services.tenant_key.tenant_of_owner(team)
    assert await agents.services.longterm.everything(tenant) == {}


LATE = """
steps:
  - id: learn
    remember:
      - {{memory: "{fact}", of: {team}}}
      - {{memory: "Ada likes marzipan.", type: preference}}
  - {{id: work, tool: wait_in_a_thread, args: {{word: x, begun: "{begun}", go: "{go}"}}}}
"""
BEFORE = 'steps: [{id: learn, remember: [{memory: "Ada likes marzipan.", type: preference}], critical: true}]'


@pytest.mark.slow
async def test_what_a_task_learned_before_an_erasure_or_a_removal_is_not_written_after_it(
    servers: Servers, tmp_path: Path
) -> None:
    team, begun, go = f"team:{uuid4().hex[:12]}", tmp_path / "begun", tmp_path / "go"
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        task = agents.task(agents.skill(LATE.format(team=team, fact=FACT, begun=begun, go=go)))
        key, everything = agents.services.tenant_key, agents.services.longterm.everything
        own, theirs = key.tenant_of(task.user_id), key.tenant_of_owner(team)
        before = agents.task(agents.skill(BEFORE)).changed(user_id=task.user_id)
        await (await agents.start(before)).result()
        await enrol(agents, team, task.user_id, belongs=True)
        handle = await agents.start(task)
        await until_true(begun.exists)
        receipt = await gateway.erase(EraseRequest(user_id=task.user_id, of=team), by=ADMIN)
        assert receipt.proved
        await enrol(agents, team, task.user_id, belongs=True)
        [memory] = (await everything(own)).values()
        removal = MemoryUpdate(id=memory.id, update=Removal(), by=ADMIN)
        await agents.services.updater.update(own, removal, operation=uuid4().hex, at=datetime.now(UTC))
        go.touch()
        jobs = (await handle.result()).jobs
        told = [(await agents.client.get_workflow_handle(job, result_type=Receipt).result()).items for job in jobs]
        assert sorted(" ".join(item.reason.split()[:4]) for items in told for item in items) == [
            "it was forgotten on",
            "the memory was erased",
        ]
        assert await everything(theirs) == {}
        assert [one.state for one in (await everything(own)).values()] == [State.FORGOTTEN]
