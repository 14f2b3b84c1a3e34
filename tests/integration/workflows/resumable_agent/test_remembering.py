"""A task remembers results and recalls them; memory modes are honoured; nothing waits for what is not critical."""

import unicodedata
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure import AgentTask, TaskResult
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.tenant_inventory import holdings
from perdure.values.entries import State
from perdure.values.jobs import Fate, Receipt
from perdure.values.tasks import MemoryMode
from tests.support.harness import Bench

LEARN = """
inputs: {names: list}
steps:
  - id: known
    recall: {lane: pattern, keys: "${inputs.names}", enough: 0}
  - for_each: "${inputs.names}"
    as: name
    steps:
      - id: look
        tool: look
        args: {name: "${name}"}
        when: "${!(name in steps.known.records)}"
        critical: true
        remember:
          - {lane: pattern, key: "${name}", payload: {licence: "${output.licence}", on: "${task.date}"}}
output: {known: "${steps.known.records}", looked: "${steps.name.done}", context: "${steps.known.context.size() > 0}"}
"""


@pytest.mark.slow
async def test_what_one_task_learned_the_next_one_knows(agents: Bench) -> None:
    skill, user = agents.skill(LEARN), uuid4().hex
    names = ["alpha", "beta"]

    def task(number: int, day: str) -> AgentTask:
        return AgentTask.model_validate(
            {"task_id": f"t{number}", "user_id": user, "skill": skill, "inputs": {"names": names}, "date": day}
        )

    first = await (await agents.start(task(1, "2026-01-02"))).result()
    assert (first.done, first.skipped, first.recalled) == (3, 0, 0)
    assert [receipt.count(Fate.SEARCHABLE) for receipt in first.receipts] == [1, 1]
    second = await (await agents.start(task(2, "2026-01-03"))).result()
    assert (second.done, second.skipped, second.recalled) == (1, 2, 2)
    assert isinstance(second.output, dict)
    assert second.output["known"] == {name: {"licence": "MIT", "on": "2026-01-02"} for name in names}
    assert second.output["looked"] == 0
    assert not second.recalls[0].degraded
    assert "2 exact" in second.recalls[0].why


@pytest.mark.slow
async def test_what_is_not_critical_is_handed_over_in_batches(agents: Bench) -> None:
    result = await agents.run(
        """
steps:
  - for_each: "${[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]}"
    as: n
    steps:
      - {id: a, tool: echo, args: {value: "${n}"}, remember: [{lane: pattern, key: "k${n}", payload: "${output}"}]}
  - id: b
    remember: [{memory: "The echo answers", type: fact}, {lane: pattern, key: "${''}", payload: 1}]
"""
    )
    assert result.status == "completed"
    assert len(result.jobs) == 2
    assert len(result.refused) == 1
    assert "b.remember[1].key" in result.refused[0]


async def test_memory_modes(agents: Bench) -> None:
    skill, user = agents.skill(LEARN), uuid4().hex
    for number, mode in enumerate((MemoryMode.READ, MemoryMode.OFF)):
        task = AgentTask(task_id=f"m{number}", user_id=user, skill=skill, inputs={"names": ["gamma"]}, memory=mode)
        result = await (await agents.start(task)).result()
        assert (result.receipts, result.jobs) == ((), ())
        assert len(result.recalls) == (1 if mode is MemoryMode.READ else 0)


@pytest.mark.parametrize("mode", [MemoryMode.READ, MemoryMode.ON], ids=["read", "control"])
@pytest.mark.slow
async def test_a_recall_of_a_task_that_only_reads_is_no_use(agents: Bench, mode: MemoryMode) -> None:
    user, services = uuid4().hex, agents.services
    learn = agents.skill('steps: [{id: a, remember: [{memory: "Kim leads the team."}], critical: true}]')
    look = agents.skill('steps: [{id: a, recall: {text: "Who leads the team?"}}]')
    await (await agents.start(AgentTask(task_id="a", user_id=user, skill=learn))).result()
    result = await (await agents.start(AgentTask(task_id="b", user_id=user, skill=look, memory=mode))).result()
    await services.recall.settled()
    noted = {tenant for tenant, _ in await Accesses(services.redis).tenants(10_000)}
    assert result.recalled == 1
    assert (services.tenant_key.tenant_of(user) in noted) is (mode is MemoryMode.ON)


@pytest.mark.parametrize("mode", [MemoryMode.OFF, MemoryMode.ON], ids=["off", "control"])
async def test_off_leaves_nothing_in_any_store_of_memory(agents: Bench, mode: MemoryMode) -> None:
    user, services = uuid4().hex, agents.services
    task = AgentTask(task_id="m", user_id=user, skill=agents.skill(LEARN), inputs={"names": ["delta"]}, memory=mode)
    await (await agents.start(task)).result()
    tenant = services.tenant_key.tenant_of(user)
    held = (await holdings(services.redis, tenant)).keys
    touched = {
        "weaviate": tenant in await services.longterm.tenants(),
        "journal": tenant in await services.journal.tenants(),
        "episodes": any("episodes" in key for key in held),
        "spool": bool((await services.spool.read(tenant)).episodes),
    }
    assert set(touched.values()) - {False} == ({True} if mode is MemoryMode.ON else set())
    assert touched["weaviate"] is touched["journal"] is touched["episodes"] is (mode is MemoryMode.ON)


@pytest.mark.slow
async def test_what_a_later_task_says_of_the_same_replaces_it(agents: Bench) -> None:
    user = uuid4().hex
    lesson = "inputs: {day: string}\nsteps: [{id: a, remember: [{memory: 'Deploys happen on ${inputs.day}.'}]}]"
    skill, ids = agents.skill(lesson), list[str]()
    for number, day in enumerate(("Tuesdays", "Wednesdays")):
        task = AgentTask(task_id=f"t{number}", user_id=user, skill=skill, inputs={"day": day})
        result = await (await agents.start(task)).result()
        [receipt] = [await agents.client.get_workflow_handle(job, result_type=Receipt).result() for job in result.jobs]
        ids += [item.id for item in receipt.items]
    stored = await agents.services.longterm.get(agents.services.tenant_key.tenant_of(user), ids)
    assert [(stored[one].text, stored[one].state) for one in ids] == [
        ("Deploys happen on Tuesdays.", State.SUPERSEDED),
        ("Deploys happen on Wednesdays.", State.CURRENT),
    ]


TELL = """
inputs: {names: list, value: integer}
steps:
  - for_each: "${inputs.names}"
    as: name
    steps:
      - id: tell
        tool: echo
        args: {value: "${inputs.value}"}
        remember: [{lane: pattern, key: "${name}", payload: {value: "${output}"}}]
  - {id: last, remember: [{lane: pattern, key: told, payload: 1}], critical: true}
"""

ASK = """
inputs: {names: list}
steps:
  - {id: known, recall: {lane: pattern, keys: "${inputs.names}", enough: 0}}
output: {known: "${steps.known.records}"}
"""


@pytest.mark.slow
async def test_of_two_tasks_about_one_day_the_later_one_has_the_last_word(agents: Bench) -> None:
    tell, ask, user = agents.skill(TELL), agents.skill(ASK), uuid4().hex
    names: list[JsonValue] = [*(f"n{number}" for number in range(12)), unicodedata.normalize("NFD", "café")]

    async def run(number: int, skill: str, **inputs: JsonValue) -> TaskResult:
        task = AgentTask.model_validate(
            {"task_id": f"t{number}", "user_id": user, "skill": skill, "inputs": inputs, "date": "2026-01-02"}
        )
        result = await (await agents.start(task)).result()
        for job in result.jobs:
            await agents.client.get_workflow_handle(job).result()
        return result

    for value in (1, 2):
        await run(value, tell, names=names, value=value)
    known = (await run(3, ask, names=names)).output
    assert isinstance(known, dict)
    assert known["known"] == {str(name): {"value": 2} for name in (*names, unicodedata.normalize("NFC", "café"))}


STRATEGIES = """
steps:
  - {id: say, remember: [{memory: "The echo answers twice", tags: [echo]}], critical: true}
  - {id: tagged, recall: {strategy: structured, tags: [echo], since: "${task.date}T00:00:00Z"}}
  - {id: earlier, recall: {strategy: structured, tags: [echo], until: "${task.date}T00:00:00Z"}}
  - {id: named, recall: {text: "how often does the echo answer?", strategy: precise}}
  - {id: other, recall: {text: "how often does the bell ring?", strategy: precise}}
output:
  tagged: "${steps.tagged.items.map(one, one.text)}"
  named: "${steps.named.items.map(one, one.text)}"
  others: "${steps.earlier.items + steps.other.items}"
"""


@pytest.mark.slow
async def test_a_step_recalls_by_strategy_and_filters(agents: Bench) -> None:
    task = {"task_id": "t", "user_id": uuid4().hex, "skill": agents.skill(STRATEGIES), "date": "2026-01-02"}
    result = await (await agents.start(AgentTask.model_validate(task))).result()
    told = ["The echo answers twice"]
    assert result.output == {"tagged": told, "named": told, "others": []}
