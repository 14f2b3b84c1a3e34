"""A task remembers results and recalls them; memory modes are honoured; nothing waits for what is not critical."""

from uuid import uuid4

from perdure import AgentTask
from perdure.jobs import Fate
from perdure.tasks import MemoryMode
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


async def test_what_is_not_critical_is_handed_over_in_batches(agents: Bench) -> None:
    result = await agents.run(
        """
steps:
  - for_each: "${[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]}"
    as: n
    steps:
      - {id: a, tool: echo, args: {value: "${n}"}, remember: [{lane: feedback, key: "k${n}", payload: "${output}"}]}
  - id: b
    remember: [{memory: "The echo answers", type: fact}, {lane: feedback, key: "${''}", payload: 1}]
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
