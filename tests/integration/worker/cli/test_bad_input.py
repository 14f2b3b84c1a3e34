"""What is wrong is said in one line that names the field and the fix, with an exit status for scripts."""

import json
from uuid import uuid4

import pytest
from temporalio.client import Client

from tests.conftest import Servers
from tests.integration.worker.cli.installation import Installation

WHO = "task_id: {id}\nuser_id: ada\n"

TASKS = {
    "not YAML": ("task_id: t\nskill: [\n", "is not YAML: expected the node content", ".yaml:3: "),
    "an unknown skill": (
        WHO + "skill: dependency-audi\n",
        "no skill 'dependency-audi'",
        "did you mean 'dependency-audit'",
    ),
    "a day that nothing can be dated to": (
        WHO + "skill: dependency-audit\ndate: 1960-01-01\n",
        "date: is before 1970",
        "give the day that the task is about",
    ),
    "an unknown input": (
        WHO + "skill: dependency-audit\ninputs: {{lok: x, report: y}}\n",
        "inputs.lok: skill 'dependency-audit' has no such input",
        "did you mean 'lock'?",
    ),
}

SKILLS = {
    "an unknown tool": ("  - {{id: a, tool: read_lok, args: {{path: x}}}}", "read_lok", "did you mean 'read_lock'?"),
    "an unknown field": ("  - {{id: a, tool: read_lock, arg: {{path: x}}}}", "steps[0].arg", "did you mean 'args'?"),
    "an argument of the wrong type": (
        "  - {{id: a, tool: read_lock, args: {{path: 7}}}}",
        "path: is a number",
        "in quotes",
    ),
    "CEL that does not parse": ('  - {{id: a, tool: read_lock, args: {{path: "${{1 +}}"}}}}', "steps[0].args.path", ""),
    "CEL that names a missing thing": (
        '  - {{id: a, tool: read_lock, args: {{path: "${{steps.b.output}}"}}}}',
        "steps[0].args",
        "there is no step before this one 'b'",
    ),
}

COMMANDS = {
    "no such task": (
        ("status", "task-nothing"),
        "there is none with the id task-nothing (give the id that 'run' printed",
    ),
    "no usable item": (
        ("remember", "--user", "u", "--file", "unusable.json"),
        "items[0].kind: is neither",
    ),
    "an item far ahead": (
        ("remember", "--user", "u", "--file", "ahead.json"),
        "items[0].occurred_at: 2199-01-01 is more than a day ahead (give the moment at which it was observed)",
    ),
    "no id at all": (("cancel", ""), "task: is empty (give the id that 'run' printed"),
    "an answerer with too long a name": (
        ("answer", "{task}", "q", "yes", "--by", "x" * 300),
        "by: has 300 characters (write at most 200)",
    ),
    "an unknown sweep": (("forget", "--undo", "--sweep", "r"), "forgot nothing that can still be undone"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
async def test_a_task_is_refused(installed: Installation, name: str) -> None:
    text, problem, fix = TASKS[name]
    file = installed.write("bad.yaml", text.format(id=f"t{uuid4().hex[:10]}"))

    ran = await installed.perdure("run", file)

    assert ran.status == 2, ran.err
    assert problem in ran.complaint
    assert fix in ran.complaint


PLACED = {
    "an input of another type": ("skill: greeting\ninputs: {{shops: North}}\n", "4", "inputs.shops", "is text"),
    "no input": ("skill: greeting\n", "1", "inputs.shops", "is missing"),
    "an unknown input": ("skill: greeting\ninputs:\n  shops: []\n  shop: x\n", "6", "inputs.shop", "no such input"),
    "an unknown skill": ("skill: greetin\n", "3", "skill", "there is no skill"),
    "an unknown agent": ("goal: Tidy up.\nagent: nobody\n", "4", "agent", "there is no agent"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACED)
async def test_what_a_worker_refuses_about_a_task_is_named_with_file_and_line(
    installed: Installation, name: str
) -> None:
    text, line, field, problem = PLACED[name]
    installed.write("skills/greeting.yaml", "name: greeting\ninputs: {shops: list}\nsteps: [{id: a, wait: 1s}]\n")
    file = installed.write("placed.yaml", WHO.format(id=f"t{uuid4().hex[:10]}") + text.format())

    ran = await installed.perdure("run", file)
    told = await installed.perdure("run", file, "--json")

    assert ran.status == 2, ran.err
    assert f" placed.yaml:{line}: {field}: " in ran.complaint
    assert problem in ran.complaint
    error = json.loads(told.out)["error"]
    assert (told.status, error["place"], error["field"]) == (2, f"placed.yaml:{line}", field)


@pytest.mark.slow
@pytest.mark.parametrize("name", SKILLS)
async def test_a_skill_is_refused(installed: Installation, name: str) -> None:
    step, problem, fix = SKILLS[name]
    skill = f"s{uuid4().hex[:10]}"
    installed.write(f"skills/{skill}.yaml", f"name: {skill}\nsteps:\n{step.format()}\n")
    file = installed.write("bad.yaml", f"{WHO.format(id=skill)}skill: {skill}\n")

    ran = await installed.perdure("run", file)

    assert ran.status == 2, ran.err
    assert problem in ran.complaint
    assert fix in ran.complaint


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("gpt", "PRD102 {place}: steps[1].model: there is no model 'gpt' (write openai:<model>"),
        ("openai:gpt-5", "PRD100 {place}: steps[1].model: openai:gpt-5 needs a key (set OPENAI_API_KEY)"),
    ],
)
async def test_a_model_that_cannot_be_used_is_named_with_skill_and_step(
    installed: Installation, model: str, told: str
) -> None:
    skill = f"s{uuid4().hex[:10]}"
    steps = f"  - {{id: a, wait: 1s}}\n  - id: b\n    prompt: Sum up.\n    model: {model}\n"
    path = installed.write(f"skills/{skill}.yaml", f"name: {skill}\nsteps:\n{steps}")
    file = installed.write("asks.yaml", f"{WHO.format(id=skill)}skill: {skill}\n")

    ran = await installed.perdure("run", file)

    assert ran.status == 2, ran.err
    assert f"error: {told.format(place=f'{path}:6')}" in ran.complaint


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_is_refused(installed: Installation, name: str) -> None:
    arguments, problem = COMMANDS[name]
    installed.write("unusable.json", '[{"kind": "thing"}]')
    installed.write("ahead.json", '[{"kind": "memory", "content": "x", "occurred_at": "2199-01-01T00:00:00Z"}]')

    if "{task}" in arguments:
        file, _ = installed.audit("rich==15.0.0")
        await installed.perdure("run", file, "--detach", PERDURE_TASK_QUEUE="nobody-here")
        arguments = tuple(file if argument == "{task}" else argument for argument in arguments)

    ran = await installed.perdure(*arguments)

    assert ran.status == 2, ran.err
    assert problem in ran.complaint


@pytest.mark.slow
async def test_too_large_a_result_is_refused_by_its_step(installed: Installation) -> None:
    file, _ = installed.audit(*(f"{'p' * 3_000}{number}==1.0" for number in range(700)))

    ran = await installed.perdure("run", file)

    assert ran.status == 1
    assert "step lock: PRD110" in ran.complaint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("ForgetMemory", "a sweep (ForgetMemory), and not a task"),
        ("ReconcileMemory", "a reconciliation of the stores (ReconcileMemory), and not a task"),
        ("Restocking", "another workflow (Restocking), and not a task"),
    ],
)
async def test_the_status_of_what_is_no_task_says_what_it_is(
    servers: Servers, installed: Installation, kind: str, told: str
) -> None:
    client = await Client.connect(servers.temporal)
    other = await client.start_workflow(kind, id=f"other-{uuid4().hex}", task_queue="nobody-serves-it")
    try:
        ran = await installed.perdure("status", other.id)
    finally:
        await other.terminate()
    assert (ran.status, ran.out, f"{other.id} is {told}" in ran.complaint) == (2, "", True), ran.err
