"""What a task had to do with memory is told afterwards: what it recalled, wrote and left, and why."""

from pathlib import Path

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError, RPCStatusCode

from perdure import Actor, ActorKind
from perdure.names import Workflow
from perdure.values.explanations import NotListed
from perdure.values.filters import Omission
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import until
from worker.cli.explain import show
from worker.gateway import Gateway

TESTER = Actor(kind=ActorKind.PERSON, id="tester")

SKILL = """
steps:
  - id: learn
    tool: echo
    args: {value: "Kim leads the team."}
    remember:
      - {memory: "${output}"}
      - {memory: "Sam feeds the cat.", confidence: 0.2}
      - {lane: pattern, key: "lead", payload: {name: Kim}}
    critical: true
  - id: look
    recall: {text: "Who leads the team?"}
"""


@pytest.mark.slow
async def test_a_task_says_what_it_recalled_wrote_and_ignored_and_why(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(SKILL))
        await (await agents.start(task)).result()
        async with Gateway(agents.settings, servers) as gateway:
            found = await gateway.explain(task.workflow_id, by=TESTER)
    [receipt] = found.receipts
    assert [(item.decision.value, bool(item.reason)) for item in receipt.items] == [
        ("insert", False),
        ("reject", True),
        ("insert", False),
    ]
    assert "is below 0.7" in receipt.items[1].reason
    [recall] = found.recalls
    assert "Kim leads the team." in {found.texts[identifier] for identifier in recall.ids}


THREE_JOBS = """
steps:
  - {id: a, remember: [{memory: "Kim leads the team."}, {memory: "Sam is tall.", confidence: 0.2}], critical: true}
  - {id: b, remember: [{memory: "Lee keeps the books."}], critical: true}
  - {id: c, remember: [{memory: "Sam runs the shop."}], critical: true}
"""


@pytest.mark.slow
async def test_jobs_that_failed_or_are_gone_are_named_and_the_journal_tells_what_they_did(
    servers: Servers, tmp_path: Path
) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(THREE_JOBS))
        jobs = (await (await agents.start(task)).result()).jobs
        for job in jobs[:2]:
            request = DeleteWorkflowExecutionRequest(
                namespace="default", workflow_execution=WorkflowExecution(workflow_id=job)
            )
            await agents.client.workflow_service.delete_workflow_execution(request)
        for job in jobs[:2]:
            await until(lambda job=job: known(agents.client, job), lambda there: not there, 90)
        failing = await agents.client.start_workflow(Workflow.INGEST_MEMORY, id=jobs[1], task_queue=agents.queue)
        with pytest.raises(WorkflowFailureError):
            await failing.result()
        settings = agents.settings
        async with Gateway(settings, servers) as gateway:
            found = await gateway.explain(task.workflow_id, by=TESTER)
        async with Gateway(settings.model_copy(update={"home": tmp_path / "none"}), servers) as gateway:
            blind = await gateway.explain(task.workflow_id, by=TESTER)
    assert [receipt.job_id for receipt in found.receipts] == [jobs[2]]
    [failed] = found.failed.items()
    assert failed[0] == jobs[1]
    assert "input: is missing" in failed[1]
    [settled] = found.settled
    assert settled.job == jobs[0]
    assert [found.texts[identifier] for identifier in settled.ids] == ["Kim leads the team."]
    assert [(one.index, "is below 0.7" in one.reason) for one in settled.refused] == [(1, True)]
    assert (found.gone, blind.settled, blind.gone) == ((), (), (jobs[0],))


async def known(client: Client, workflow_id: str) -> bool:
    try:
        await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        return error.status is not RPCStatusCode.NOT_FOUND
    return True


MANY = f"""
steps:
  - for_each: "${{[{", ".join(map(str, range(12)))}]}}"
    as: n
    steps:
      - {{id: no, remember: [{{lane: pattern, key: "${{''}}", payload: 1}}]}}
  - {{id: learn, remember: [{{memory: "Rooms are blue."}}, {{memory: "Doors are blue."}}], critical: true}}
  - {{id: look, recall: {{text: "What is blue?", limit: 1, strategy: similarity}}}}
"""


@pytest.mark.slow
async def test_what_came_before_the_last_ones_and_what_a_recall_left_out_is_counted(
    servers: Servers, tmp_path: Path
) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(MANY))
        await (await agents.start(task)).result()
        async with Gateway(agents.settings, servers) as gateway:
            found = await gateway.explain(task.workflow_id, by=TESTER)
    assert (len(found.refused), found.not_listed) == (10, NotListed(refused=2))
    [recall] = found.recalls
    assert (recall.recalled, recall.left_out) == (1, {Omission.LIMIT: 1})


@pytest.mark.slow
async def test_it_is_printed_for_a_person(servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(SKILL))
        await (await agents.start(task)).result()
        async with Gateway(agents.settings, servers) as gateway:
            show(await gateway.explain(task.workflow_id, by=TESTER))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("look recalled") for line in lines)
    assert any(line.startswith("wrote (insert)") and "Kim leads the team." in line for line in lines)
    assert any(line.startswith("ignored (reject)") and "is below 0.7" in line for line in lines)
