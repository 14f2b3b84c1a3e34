"""Policies where they bind: in the activity that is about to act, whatever a skill or a model wants."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from structlog.testing import capture_logs
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from perdure import AgentTask, Answer
from perdure.agent.steps.enforcement import PolicyGate
from perdure.errors import InvalidPolicy
from perdure.identity import content_digest
from perdure.policies.library import PolicyLibrary
from perdure.policies.ruling import Ruling
from perdure.policies.shape import Outcome
from perdure.stores.redis import keys
from perdure.values.changes import Actor, ActorKind
from perdure.values.questions import Approval, QuestionKind
from perdure.values.tasks import Phase, TaskResult
from tests.conftest import Servers
from tests.deployment import deployment
from tests.integration.workflows.resumable_agent.test_goals import AGENT, goal, lines_of
from tests.support.guarding import Policies, ruled, rulings
from tests.support.harness import Bench, bench
from tests.support.turn_server import Asked, Call, Says, TurnServer
from tests.support.waiting import question_of, until_true


@pytest.fixture(scope="module")
def agents(guarded: Bench) -> Bench:
    return guarded


def appending(ledger: Path, line: str = "sent", more: str = "") -> str:
    return f"""
steps:
  - {{id: write, tool: append, args: {{ledger: "{ledger}", line: "{line}"}}{more}}}
output: "${{steps.write.status}}"
"""


def written(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []


async def failure_of(handle: WorkflowHandle[Any, TaskResult]) -> str:
    with pytest.raises(WorkflowFailureError) as raised:
        await handle.result()
    assert isinstance(raised.value.cause, ApplicationError)
    return raised.value.cause.message


async def claims_of(agents: Bench, task: AgentTask) -> list[str]:
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    redis: Any = agents.services.redis
    return [key async for key in redis.scan_iter(keys.claim(tenant, "*"))]


async def let_pass(self: PolicyGate) -> None:
    return None


SENDS = "tool == 'append' && arguments.line == 'sent'"


@pytest.mark.parametrize("is_enforced", [True, False], ids=["enforced", "control"])
async def test_a_hard_policy_blocks_an_effect_before_anything_is_claimed(
    agents: Bench, policies: Policies, monkeypatch: pytest.MonkeyPatch, is_enforced: bool
) -> None:
    if not is_enforced:
        monkeypatch.setattr(PolicyGate, "stopped", let_pass)
    policies.write("no-sending", when=SENDS)
    ledger = agents.ledger()
    task = agents.task(agents.skill(appending(ledger)))
    handle = await agents.start(task)
    if not is_enforced:
        assert (await handle.result()).output == "done"
        assert (written(ledger), len(await claims_of(agents, task))) == (["sent"], 1)
        return
    message = await failure_of(handle)
    await agents.replay(handle)
    assert message.startswith("step write: PRD305 write: append may not be called here, by policy no-sending (")
    assert message.endswith("): It is rule no-sending.")
    assert (written(ledger), await claims_of(agents, task)) == ([], [])
    failed = [
        one
        async for one in handle.fetch_history_events()
        if one.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED
    ]
    [failure] = [one.activity_task_failed_event_attributes.failure for one in failed]
    info = failure.application_failure_info
    assert (info.type, info.non_retryable, info.category) == ("Blocked", True, 1)
    [line] = ruled(agents.settings, task)
    assert line.by == Actor(kind=ActorKind.AGENT, id=handle.id)
    assert line.ruling is not None
    assert (line.ruling.outcome, line.ruling.tool, line.ruling.step) == (Outcome.BLOCK, "append", "write")
    assert line.ruling.arguments == content_digest(["append", {"ledger": str(ledger), "line": "sent"}])
    assert [one.policy for one in line.ruling.policies] == ["no-sending"]
    assert str(ledger) not in line.model_dump_json()


async def test_what_is_blocked_is_a_failure_that_the_skill_decides_about(agents: Bench, policies: Policies) -> None:
    policies.write("no-sending", when=SENDS)
    ledger = agents.ledger()
    result = await agents.run(appending(ledger, more=", on_failure: continue"))
    assert (result.output, result.failed, written(ledger)) == ("failed", 1, [])


async def test_what_is_blocked_uses_up_no_call_of_its_tools_minute(agents: Bench, policies: Policies) -> None:
    policies.write("no-sending", when="tool == 'paced' && arguments.line == 'sent'")
    ledger = agents.ledger()
    # The tool may be called three times a minute.
    skill = f"""
steps:
  - for_each: '${{["sent", "sent", "sent", "kept"]}}'
    as: line
    steps: [{{id: write, tool: paced, args: {{ledger: "{ledger}", line: "${{line}}"}}, on_failure: continue}}]
output: ["${{steps.line.failed}}", "${{steps.line.done}}"]
"""
    async with asyncio.timeout(30):
        assert (await agents.run(skill)).output == [3, 1]
    assert written(ledger) == ["kept"]


async def test_a_soft_policy_warns_and_the_step_goes_on(agents: Bench, policies: Policies) -> None:
    policies.write("mind", when=SENDS, level="soft")
    ledger = agents.ledger()
    task = agents.task(agents.skill(appending(ledger)))
    handle = await agents.start(task)
    result = await handle.result()
    assert (result.status, written(ledger), result.warned) == (Phase.COMPLETED, ["sent"], 1)
    assert result.warnings[0].startswith("write: policy mind (")
    assert result.warnings[0].endswith("It is rule mind.")
    assert [one.outcome for one in rulings(agents.settings, task)] == [Outcome.WARN]
    await agents.replay(handle)


async def test_a_warning_survives_a_question_about_the_result(agents: Bench, policies: Policies) -> None:
    policies.write("mind", when=SENDS, level="soft")
    more = ', expect: "${output.line == \'other\'}", ask: "What then?"'
    handle = await agents.start(agents.task(agents.skill(appending(agents.ledger(), more=more))))
    question = await question_of(handle)
    assert question.kind is QuestionKind.INPUT
    await handle.execute_update("answer", Answer(question_id=question.id, value="fine"))
    assert (await handle.result()).warned == 1


async def test_what_only_the_call_can_show_blocks_where_it_is_missing(agents: Bench, policies: Policies) -> None:
    policies.write("sure", when="tool == 'append' && arguments.cents > 5")
    ledger = agents.ledger()
    message = await failure_of(await agents.start(agents.task(agents.skill(appending(ledger)))))
    assert "it cannot tell" in message
    assert written(ledger) == []


@pytest.mark.parametrize(
    ("when", "stops"),
    [
        ("user.startsWith('user ')", True),
        ("user == 'somebody'", False),
        ("agent == 'agent' && state.effect == 'once' && state.done == 0 && state.memory == 'on'", True),
        ("state.step == 'write' && state.skill.startsWith('s') && state.task.startsWith('t')", True),
        ("state.date < '2000-01-01'", False),
    ],
)
async def test_a_condition_sees_who_acts_and_where_the_task_is(
    agents: Bench, policies: Policies, when: str, stops: bool
) -> None:
    policies.write("seeing", when=when)
    result = await agents.run(appending(agents.ledger(), more=", on_failure: continue"))
    assert result.output == ("failed" if stops else "done")


@pytest.mark.slow
async def test_a_policy_on_a_skill_holds_where_another_one_runs_it_as_a_step(agents: Bench, policies: Policies) -> None:
    ledger = agents.ledger()
    inner = agents.skill(appending(ledger))
    policies.write("not-by-this-skill", when=f"tool == 'append' && state.skill == '{inner}'")
    outer = agents.skill(f"steps: [{{id: run, skill: {inner}}}]")
    message = await failure_of(await agents.start(agents.task(outer)))
    assert "PRD305 run.write: append may not be called here, by policy not-by-this-skill" in message
    policies.write("not-by-this-skill", when=f"tool == 'append' && state.task_skill == '{inner}'")
    await (await agents.start(agents.task(outer))).result()
    assert written(ledger) == ["sent"]


async def test_an_exception_lets_its_own_policy_be_silent(agents: Bench, policies: Policies) -> None:
    policies.write("no-sending", when=SENDS, unless="state.effect == 'once'")
    assert (await agents.run(appending(agents.ledger()))).output == "done"


@pytest.mark.slow
async def test_reads_are_asked_about_as_well(agents: Bench, policies: Policies) -> None:
    policies.write("no-looking", when="tool == 'echo' && arguments.value == 'secret'")
    text = "steps: [{id: look, tool: echo, args: {value: %s}}]"
    assert "PRD305" in await failure_of(await agents.start(agents.task(agents.skill(text % "secret"))))
    task = agents.task(agents.skill(text % "open"))
    await (await agents.start(task)).result()
    await agents.services.audit.written()
    assert [one.outcome for one in rulings(agents.settings, task)] == [Outcome.PASS]


@pytest.mark.slow
@pytest.mark.parametrize(("value", "output", "lines"), [("yes", "done", ["sent"]), ("no", "skipped", [])])
async def test_a_person_is_asked_and_the_answer_is_audited(
    agents: Bench, policies: Policies, value: str, output: str, lines: list[str]
) -> None:
    policies.write("ask-first", when=SENDS, approve="May it be sent?")
    ledger = agents.ledger()
    task = agents.task(agents.skill(appending(ledger)))
    handle = await agents.start(task)
    question = await question_of(handle)
    assert (question.kind, question.choices) == (QuestionKind.APPROVAL, ("yes", "no"))
    assert question.text.startswith("May it be sent?\n(policy ask-first (")
    assert question.about is not None
    assert (question.about.tool, str(ledger) in question.about.arguments) == ("append", True)
    assert (written(ledger), await claims_of(agents, task)) == ([], [])
    await handle.execute_update("answer", Answer(question_id=question.id, value=value, by="anna"))
    result = await handle.result()
    assert (result.output, result.warned, written(ledger)) == (output, 0, lines)
    await agents.replay(handle)
    asked, answered = ruled(agents.settings, task)
    assert asked.ruling is not None
    assert answered.ruling == asked.ruling.changed(answer=Approval(value))
    assert (asked.by, answered.by) == (
        Actor(kind=ActorKind.AGENT, id=handle.id),
        Actor(kind=ActorKind.PERSON, id=agents.services.tenant_key.tenant_of("anna")),
    )


@pytest.mark.parametrize(("number", "asked"), [(3, True), (5, False)])
async def test_a_person_reads_every_question_that_they_say_yes_to(
    agents: Bench, policies: Policies, number: int, asked: bool
) -> None:
    for one in range(number):
        policies.write(f"p{one}", when=f"{SENDS} && {one} == {one}", approve=f"{one}? ".ljust(499, "x"))
    handle = await agents.start(agents.task(agents.skill(appending(agents.ledger()))))
    if asked:
        text = (await question_of(handle)).text
        assert [f"{one}? " in text for one in range(number)] == [True] * number
        await handle.terminate()
    else:
        assert "5 policies ask, too many for a question" in await failure_of(handle)


async def test_the_questions_of_several_policies_are_one_and_another_warns(agents: Bench, policies: Policies) -> None:
    policies.write("first", when=SENDS, approve="May it?")
    policies.write("second", when="tool == 'append'", level="soft", approve="Really?")
    policies.write("third", when="state.effect == 'once'", level="soft")
    handle = await agents.start(agents.task(agents.skill(appending(agents.ledger()))))
    question = await question_of(handle)
    said = [line.partition(" (")[0] for line in question.text.splitlines()]
    assert said == ["May it?", "Really?", "(policy first", "(policy second"]
    await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
    assert [one.partition(" (")[0] for one in (await handle.result()).warnings] == ["write: policy third"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "is_bound"),
    [
        pytest.param("policy", True, id="policy"),
        pytest.param("another", True, id="another"),
        pytest.param("block", True, id="block"),
        pytest.param("gone", True, id="gone"),
        pytest.param("policy", False, id="policy-control", marks=pytest.mark.slow),
        pytest.param("another", False, id="another-control", marks=pytest.mark.slow),
    ],
)
async def test_a_yes_is_for_the_policies_as_they_were(
    agents: Bench, policies: Policies, monkeypatch: pytest.MonkeyPatch, change: str, is_bound: bool
) -> None:
    policies.write("ask-first", when=SENDS, approve="May it be sent?")
    ledger = agents.ledger()
    task = agents.task(agents.skill(appending(ledger)))
    handle = await agents.start(task)
    first = await question_of(handle)
    match change:
        case "policy":
            policies.write("ask-first", when=SENDS, approve="May it be sent today?")
        case "another":
            policies.write("ask-more", when="state.effect == 'once'", approve="And this?")
        case "block":
            policies.write("stop", when="state.effect == 'once'")
        case _:
            policies.clear()
    if not is_bound:
        monkeypatch.setattr(Ruling, "binding", "anything")
    await handle.execute_update("answer", Answer(question_id=first.id, value="yes", by="anna"))
    if not is_bound or change == "gone":
        assert (await handle.result()).output == "done"
        return
    if change == "block":
        assert "by policy stop" in await failure_of(handle)
        assert (written(ledger), await claims_of(agents, task)) == ([], [])
        return
    second = await question_of(handle, "write#2")
    assert ("today" in second.text) is (change == "policy")
    assert ("And this?" in second.text) is (change == "another")
    assert written(ledger) == []
    await handle.execute_update("answer", Answer(question_id=second.id, value="yes", by="anna"))
    assert (await handle.result()).output == "done"
    assert written(ledger) == ["sent"]
    await agents.replay(handle)


async def test_a_skills_own_approval_excuses_from_no_policy(agents: Bench, policies: Policies) -> None:
    policies.write("ask-first", when=SENDS, approve="May it be sent?")
    ledger = agents.ledger()
    handle = await agents.start(agents.task(agents.skill(appending(ledger, more=', approve: "Now?"'))))
    for identifier, text in (("write", "Now?"), ("write#2", "May it be sent?")):
        question = await question_of(handle, identifier)
        assert question.text.startswith(text)
        assert written(ledger) == []
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
    assert (await handle.result()).output == "done"


@pytest.mark.slow
async def test_the_control_of_the_next_test_is_pinned_to_the_policies_before(
    agents: Bench, policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(self: PolicyLibrary) -> dict[Path, str]:
        return {}

    monkeypatch.setattr(PolicyLibrary, "_texts", none)
    policies.write("no-sending", when=SENDS)
    assert (await agents.run(appending(agents.ledger(), more=", on_failure: continue"))).output == "done"


@pytest.mark.slow
async def test_a_changed_file_counts_at_once_and_a_broken_one_leaves_what_was(
    agents: Bench, policies: Policies
) -> None:
    path = policies.folder / "no-sending.yaml"

    async def output() -> object:
        return (await agents.run(appending(agents.ledger(), more=", on_failure: continue"))).output

    assert await output() == "done"
    policies.write("no-sending", when=SENDS)
    assert await output() == "failed"
    with capture_logs() as logs:
        path.write_text("name: no-sending\nlevel: [\n", encoding="utf-8")
        assert [await output(), await output()] == ["failed", "failed"]
    told = [log["problem"] for log in logs if log["event"].startswith("policies cannot be used")]
    assert len(told) == 1
    assert str(path) in told[0]
    assert ".yaml:3: is not YAML" in told[0]
    policies.write("no-sending", when="tool == 'other'")
    assert await output() == "done"


async def test_a_worker_does_not_start_with_a_policy_that_cannot_be_read(servers: Servers, tmp_path: Path) -> None:
    folder = tmp_path / "policies"
    Policies(folder).write("no-sending", when="tol == 'append'")
    with pytest.raises(InvalidPolicy, match=r"no-sending.yaml:4: when: there is no name 'tol'"):
        async with deployment(servers, tmp_path / "home", settings={"policies": (folder,)}):
            pass


@pytest.mark.slow
async def test_a_call_that_cannot_be_audited_is_not_made(
    agents: Bench, policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies.write("mind", when=SENDS, level="soft")
    ledger = agents.ledger()
    task = agents.task(agents.skill(appending(ledger)))
    chain = agents.services.audit._chain  # pyright: ignore[reportPrivateUsage]
    handle_of_disk = chain._append  # pyright: ignore[reportPrivateUsage]
    refused: list[int] = []

    def full(*arguments: Any, **more: Any) -> Any:
        refused.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(chain, "_append", full)
    handle = await agents.start(task)
    await until_true(lambda: len(refused) >= 2)
    assert (written(ledger), await claims_of(agents, task)) == ([], [])
    monkeypatch.setattr(chain, "_append", handle_of_disk)
    assert (await handle.result()).output == "done"
    assert written(ledger) == ["sent"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_enforced", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["enforced", "control"]
)
async def test_a_model_whose_call_is_blocked_is_told_so(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, is_enforced: bool
) -> None:
    if not is_enforced:
        monkeypatch.setattr(PolicyGate, "stopped", let_pass)

    def script(asked: Asked) -> Says:
        match asked.turns:
            case 0:
                return Says(calls=(Call("append", {"ledger": ledger, "line": "sent"}),))
            case 1:
                return Says(calls=(Call("append", {"ledger": ledger, "line": "kept"}),))
            case _:
                return Says(" | ".join(asked.outputs))

    server, folder = TurnServer(httpserver, script), tmp_path / "agents"
    folder.mkdir()
    (folder / "worker.yaml").write_text(AGENT, encoding="utf-8")
    guarding = Policies(tmp_path / "policies")
    guarding.write("no-sending", when=SENDS)
    model = {"agents": (folder,), "openai_api_key": "k", "openai_base_url": server.url}
    async with bench(servers, tmp_path, more={**model, "policies": (guarding.folder,)}) as one:
        ledger = str(one.ledger())
        handle = await one.start(goal())
        result = await handle.result()
        await one.replay(handle)
    if not is_enforced:
        assert lines_of(ledger) == ["sent", "kept"]
        return
    first, second = str(result.output).split(" | ")
    assert "append may not be called here, by policy no-sending" in first
    assert "its effect may have happened" not in first
    assert ("kept" in second, lines_of(ledger), result.failed) == (True, ["kept"], 1)
