"""Each skill that the documentation shows is run: on the real servers, or, where it would wait for hours or for the
workers of others, on what its steps return.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import JsonValue

from perdure import Actor, ActorKind, AgentTask, Answer, Event, MemberRequest
from perdure.agent.rehearsal import differences, rehearsed
from perdure.documents import validated
from perdure.errors import InvalidSkill
from perdure.skills.cases import SkillCase
from perdure.skills.library import read_skill
from perdure.skills.shape import Skill
from perdure.toolbox import Toolbox
from perdure.values.jobs import Fate, Receipt
from tests.conftest import Servers
from tests.support import shown_tools
from tests.support.harness import Bench, bench
from tests.support.pages import blocks
from tests.support.waiting import question_of
from worker.gateway import Gateway

PACK = """
name: pack
inputs: {what: string, fragile: boolean}
steps: [{id: count, tool: count_boxes, args: {what: "${inputs.what}", fragile: "${inputs.fragile}"}}]
output: "${steps.count.output}"
"""
"""What a skill of the documentation runs, and its reader has."""

ME = Actor(kind=ActorKind.PERSON, id="ada")


def shown() -> Iterator[tuple[str, str]]:
    for page in sorted(Path("docs").glob("*.md")):
        # The quickstarts and the page about tests are played as a whole.
        if page.stem.startswith("quickstart") or page.stem == "testing":
            continue
        for block in blocks(page):
            if block.language == "yaml" and "\nsteps:" in block.text:
                yield f"{page.stem}/{read_skill(block.text).name}", block.text


SKILLS = dict(shown())


class Run(NamedTuple):
    """A task with one of them."""

    inputs: Mapping[str, JsonValue]
    output: JsonValue
    acted: tuple[str, ...] = ()
    """The tools that changed something, in their order where the skill has one."""
    answers: Mapping[str, str] = {}
    events: Mapping[str, JsonValue] = {}
    remembers: int = 0
    """How many memories and records it accepts for writing at least."""


RUN = {
    "skills/reorder": Run(
        {"sku": "bolts"},
        {"accepted": True, "number": "o-1", "supplier": "north"},
        ("order",),
        {"order": "yes"},
    ),
    "skills/greeting": Run({"customer": "Kim"}, None, ("greet",), remembers=2),
    "skills/shop-check": Run({"shops": ["north", "south"]}, 4, ("report", "report")),
    "skills/invoice": Run(
        {"order": {"country": "de", "customer": "Kim", "lines": [{"price": 2}, {"price": 0}]}},
        "Kim: 1",
        ("bill",),
        {"line[0].bill": "yes"},
    ),
    "skills/notify": Run({"who": "kim"}, "done", ("tell",)),
    "skills/journey": Run({"city": "Bonn", "card": "c"}, "11 A", ("book_room", "book_train", "pay")),
    "skills/payment": Run(
        {"order": "7", "address": "kim"}, {"amount": 20}, ("book",), events={"paid 7": {"amount": 20}}
    ),
    "skills/offer": Run({"part": "bolt"}, "bolt of north | bolt of south | a price for bolt in stock"),
    "skills/dispatch": Run({"orders": [{"shop": "north", "what": "glass", "paid": True}]}, 2, ("tell",)),
    "questions/budgets": Run(
        {"teams": ["ops", "it"]},
        None,
        ("book", "book"),
        {"team[0].book": "yes", "team[1].budget": "7", "team[1].book": "yes"},
    ),
    "memory/release-notes": Run({}, None, remembers=2),
}

REHEARSED: dict[str, Mapping[str, Any]] = {
    "skills/release-notes": {
        "inputs": {"repository": "/srv/site", "tag": "v1.2.0"},
        "results": {"merged": ["a change"], "notes": "One change."},
        "expect": "${output == 'One change.'}",
    },
    "skills/reminder": {
        "inputs": {"who": "kim", "at": "2026-01-02T09:00:00Z"},
        "results": {"remind": {"sent": True}, "look": "seen"},
        "expect": "${output == 'seen' && called.size() == 2}",
    },
    "skills/licence": {
        "inputs": {"file": "LICENSE"},
        "results": {"read": "MIT License", "licence": {"spdx": "MIT", "sure": True}},
        "expect": "${remembered[0].content == 'LICENSE is under MIT.'}",
    },
    "skills/licences": {
        "inputs": {"files": ["a", "b"]},
        "results": {"read": "text", "file[0].ask": {"spdx": "MIT"}, "file[1].ask": {"spdx": ""}},
        "expect": "${remembered.size() == 1}",
    },
    "skills/summary": {
        "inputs": {"report": "Kim sold bolts."},
        "results": {"sum_up": "Bolts were sold by Kim."},
        "judged": False,
        "expect": "${passed == false}",
    },
    "skills/purchase": {
        "inputs": {"order": {"card": "c", "cents": 5}},
        "results": {"charge": {"receipt": "r-1"}, "rate": 1.1},
        "failures": {"shipped": "no ship"},
        "answers": {"charge": "yes"},
        "expect": "${output == 'failed' && asked == ['charge']}",
    },
}


def test_none_is_left_out() -> None:
    assert RUN.keys() | REHEARSED.keys() == SKILLS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
async def test_it_does_what_its_page_says(
    name: str, servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RUN[name]
    called: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(shown_tools, "CALLED", called)
    skill = read_skill(SKILLS[name])
    async with bench(servers, tmp_path, more={"tools": ("tests.support.shown_tools",)}) as agents:
        for text in (SKILLS[name], PACK):
            (tmp_path / "skills" / f"{read_skill(text).name}.yaml").write_text(text, encoding="utf-8")
        task = agents.task(skill.name, inputs=dict(run.inputs))
        result = await follow(agents, servers, task, run)
        remembered = [line for job in result.jobs for line in (await receipt_of(agents, job)).items]
    assert (result.status, result.problem) == ("completed", "")
    assert tuple(tool for tool, _ in called) == run.acted
    assert [line.fate for line in remembered if line.fate is not Fate.SEARCHABLE] == []
    assert len(remembered) >= run.remembers
    if run.output is not None:
        assert result.output == run.output


async def receipt_of(agents: Bench, job: str) -> Receipt:
    receipt: Receipt = await agents.client.get_workflow_handle(job, result_type=Receipt).result()
    return receipt


async def follow(agents: Bench, servers: Servers, task: AgentTask, run: Run) -> Any:
    async with Gateway(agents.settings, servers) as gateway:
        await gateway.set_member(MemberRequest(of="team:ops", user_id=task.user_id, belongs=True), by=ME)
        await gateway.start(task, by=ME)
        handle = agents.client.get_workflow_handle(task.workflow_id)
        for step, value in run.answers.items():
            question = await question_of(handle)
            assert question.id == step
            await gateway.answer(task.workflow_id, Answer(question_id=step, value=value), by=ME)
        for event, value in run.events.items():
            await gateway.deliver(task.workflow_id, Event(name=event, value=value, id="one"), by=ME)
        return await gateway.result(task.workflow_id, by=ME)


@pytest.mark.parametrize("name", REHEARSED)
async def test_it_ends_as_its_page_says(name: str) -> None:
    case = validated(SkillCase, dict(REHEARSED[name]), "", InvalidSkill)
    skill: Skill = read_skill(SKILLS[name])
    assert differences(case, await rehearsed(skill, case, Toolbox.load(["tests.support.shown_tools"]))) == []
