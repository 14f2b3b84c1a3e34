"""Skills in YAML: what is read, and what is refused with its field and fix."""

from pathlib import Path

import pytest

from perdure.errors import InvalidInput, InvalidSkill
from perdure.skills.library import SkillLibrary, read_skill
from perdure.skills.shape import Skill
from perdure.skills.steps import (
    EventStep,
    ForEach,
    LetStep,
    Parallel,
    RecallStep,
    RememberStep,
    Step,
    ToolStep,
    WaitStep,
)
from perdure.skills.templates import MemoryTemplate, RecordTemplate
from perdure.values.questions import AnswerSpec, AnswerType

WHOLE = """
name: audit
description: Looks at each thing
inputs:
  things: list
  day: {default: 2026-01-02}
steps:
  - id: known
    recall: {text: licences, lane: pattern, keys: "${inputs.things}"}
  - for_each: "${inputs.things}"
    as: thing
    steps:
      - id: look
        tool: look
        args: {name: "${thing}"}
        when: "${!(thing in steps.known.records)}"
        expect: "${output.licence != null}"
        ask: "What licence has ${thing}?"
        on_failure: ask
        remember:
          - {lane: pattern, key: "${thing}", payload: {licence: "${answer}"}}
          - {memory: "The licence of ${thing} is known", type: fact, when: "${answer != null}"}
  - id: end
    remember: [{lane: feedback, key: audit, payload: {answer: done}}]
output: {looked: "${steps.thing.done}"}
expect: "${output.looked > 0}"
"""


def test_a_whole_skill_is_read() -> None:
    skill = read_skill(WHOLE)
    known, block, end = skill.steps
    assert isinstance(known, RecallStep)
    assert isinstance(block, ForEach)
    assert isinstance(end, RememberStep)
    look = block.steps[0]
    assert isinstance(look, ToolStep)
    assert [type(one) for one in look.remember] == [RecordTemplate, MemoryTemplate]
    assert block.id == block.element == "thing"
    assert skill.inputs["day"].default == "2026-01-02"
    assert not skill.inputs["day"].required


def test_the_version_is_what_it_does() -> None:
    assert read_skill(WHOLE).digest == read_skill(WHOLE + "\n# a comment").digest
    assert read_skill(WHOLE).digest != read_skill(WHOLE.replace("things", "items")).digest
    skill = read_skill(WHOLE)
    assert type(skill).model_validate_json(skill.model_dump_json()) == skill


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "PRD102 skill:1: is not YAML"),
        ("- a", "skill: is a list"),
        ("", "skill: is empty"),
        ("name: x\nname: y\nsteps: []", "'name' is duplicated"),
        ("name: x", "PRD102 steps: is missing"),
        ("name: x\nsteps: []", "steps"),
        ("name: x\nstepz: []\nsteps: [{id: a, tool: t}]", r"stepz: is not a field here \(did you mean 'steps'\?\)"),
        (
            "name: x\nsteps: [{id: a, tol: t}]",
            r"steps\[0\]: has no action .tool, prompt, .* or parallel. \(did you mean 'tool'\?\)",
        ),
        (
            "name: x\nsteps: [{id: a, tool: t, wen: b}]",
            r"steps\[0\].wen: is not a field here \(did you mean 'when'\?\)",
        ),
        ("name: x\nsteps: [{id: A-b, tool: t}]", r"steps\[0\].id"),
        ("name: x\nsteps: [{id: a, tool: t}, {id: a, tool: t}]", r"steps\[1\].id: 'a' is taken by steps\[0\]"),
        ("name: x\nsteps: [{id: a, tool: t, when: '${b +}'}]", r"PRD103 steps\[0\].when: .* does not parse"),
        ("name: x\nsteps: [{id: a, tool: t, args: {n: ['${(}']}}]", r"steps\[0\].args.n\[0\]"),
        ("name: x\nsteps: [{for_each: '${x}', as: package, steps: [{id: a, tool: t}]}]", "'package' is taken"),
        ("name: x\nsteps: [{for_each: '${x}', as: list, steps: [{id: a, tool: t}]}]", "'list' is taken"),
        ("name: x\nsteps: [{for_each: '${x}', as: output, steps: [{id: a, tool: t}]}]", "'output' is taken"),
        ("name: x\nsteps: [{for_each: '${x}', as: index, steps: [{id: a, tool: t}]}]", "'index' is taken"),
        (
            "name: x\nsteps: [{for_each: '${[1]}', as: n, steps: "
            "[{for_each: '${[1]}', as: n, id: inner, steps: [{id: a, tool: t}]}]}]",
            r"steps\[0\].steps\[0\].as: 'n' is taken by the block around it",
        ),
        ("name: x\nsteps: [{for_each: '${x}', as: 'null', steps: [{id: a, tool: t}]}]", "'null' is taken"),
        ("name: x\nsteps: [{for_each: '${x}', steps: [{id: a, tool: t}]}]", r"steps\[0\].as: is missing"),
        ("name: x\nsteps: [{id: a, recall: {txt: b}}]", r"steps\[0\].recall.txt: .*did you mean 'text'"),
        ("name: x\nsteps: [{id: a, recall: {keys: [b]}}]", "keys need a lane"),
        (
            "name: x\nsteps: [{id: a, remember: [{lane: recommendation, key: k, payload: 1}]}]",
            r"remember\[0\]: its intent is empty \(say what the recommendation is for",
        ),
        ("name: x\nsteps: [{id: a, remember: [{lane: feedback, key: k, payload: yes}]}]", r"its payload has no answer"),
        ("name: x\nsteps: [{id: a, remember: [{lane: pattern, key: k, payload: {}}]}]", r"its payload is empty"),
        (
            "name: x\nsteps: [{id: a, remember: [{lane: feedback, key: k, payload: {by: Kim}}]}]",
            r"remember\[0\]: its payload has no answer, correction or rating",
        ),
        ("name: x\nsteps: [{id: a, remember: [{lane: patern, key: k, payload: 1}]}]", r"remember\[0\].lane"),
        ("name: x\nsteps: [{id: a, tool: t, on_failure: explode}]", r"steps\[0\].on_failure"),
        ("name: x\ninputs: {a: strin}\nsteps: [{id: a, tool: t}]", r"inputs.a.type"),
    ],
)
def test_a_mistake_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_skill(text)


@pytest.mark.parametrize(
    "innermost",
    ["for_each: '${[1]}', as: d, steps: [{id: s, tool: t}]", "parallel: [{id: s, tool: t}, {id: u, tool: t}]"],
)
def test_blocks_are_three_deep_at_most(innermost: str) -> None:
    inner = f"{{{innermost}}}"
    for name in "abc":
        inner = f"{{for_each: '${{[1]}}', as: {name}, steps: [{inner}]}}"
    with pytest.raises(InvalidInput, match="nested deeper than 3"):
        read_skill(f"name: x\nsteps: [{inner}]")


def test_the_library_suggests_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(WHOLE)
    library = SkillLibrary((tmp_path,))
    assert library.names() == ["audit"]
    assert library.get("audit").name == "audit"
    with pytest.raises(InvalidInput, match=r"no skill 'adit' .did you mean 'audit'"):
        library.get("adit")


def test_words_and_dates_stay_what_was_written() -> None:
    skill = read_skill(
        "name: x\nsteps: [{id: a, tool: t, args: {on: no, day: 2026-01-02, at: 12:30, code: 0815, id: 1_000, "
        "commit: 12e4, is: true, n: -3, zero: 0, half: .5, big: 1.5e+3}}]"
    )
    step = skill.steps[0]
    assert isinstance(step, ToolStep)
    words = {"on": "no", "day": "2026-01-02", "at": "12:30", "code": "0815", "id": "1_000", "commit": "12e4"}
    assert step.args == {**words, "is": True, "n": -3, "zero": 0, "half": 0.5, "big": 1500.0}


def test_a_few_lines_of_aliases_cannot_exhaust_the_process() -> None:
    lines = ["    a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"    a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    text = "name: x\nsteps:\n- id: a\n  tool: t\n  args:\n" + "\n".join(lines)
    with pytest.raises(
        InvalidInput, match="PRD102 skill:10: is not YAML: its aliases come to more than 100,000 values"
    ):
        read_skill(text)
    few = read_skill("name: x\nsteps:\n- &first {id: a, tool: t, args: {n: &n [1], m: *n}}\n- {<<: *first, id: b}")
    first, second = few.steps
    assert isinstance(first, ToolStep)
    assert second == first.changed(id="b")
    assert first.args == {"n": [1], "m": [1]}


def test_a_huge_document_is_refused_before_it_is_read() -> None:
    with pytest.raises(InvalidInput, match="PRD102 skill: has 50,000,009 characters"):
        read_skill("name: x\n#" + "x" * 50_000_000)


ASKING = "name: x\nsteps: [{{id: a, tool: t, expect: '${{true}}', ask: 'Which?', answer: {answer}}}]"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("integer", AnswerSpec(type=AnswerType.INTEGER)),
        ("{type: yes_no}", AnswerSpec(type=AnswerType.YES_NO)),
        ("{type: choice, choices: [a, '${b']}", AnswerSpec(type=AnswerType.CHOICE, choices=("a", "${b"))),
    ],
)
def test_a_step_declares_which_answers_it_takes(answer: str, expected: AnswerSpec) -> None:
    step = read_skill(ASKING.format(answer=answer)).steps[0]
    assert isinstance(step, ToolStep)
    assert step.answer == expected


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("intger", r"steps\[0\].answer.type: 'intger' is not one of the choices \(did you mean 'integer'\?\)"),
        ("{typ: text}", r"steps\[0\].answer.typ: is not a field here \(did you mean 'type'\?\)"),
        ("choice", r"steps\[0\].answer: has no choices \(list them\)"),
        ("{choices: [a]}", r"steps\[0\].answer: has choices \(write type: choice\)"),
        ("{type: choice, choices: [a, a]}", r"steps\[0\].answer.choices: has a duplicate"),
        ("3", r"steps\[0\].answer: is a number"),
    ],
)
def test_a_wrong_answer_type_is_named(answer: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_skill(ASKING.format(answer=answer))


def test_an_answer_type_needs_a_question() -> None:
    with pytest.raises(InvalidInput, match=r"steps\[0\].answer: belongs to a question"):
        read_skill("name: x\nsteps: [{id: a, tool: t, answer: integer}]")


def test_a_skill_that_no_task_could_carry_on_is_refused_before_it_runs() -> None:
    def skill(count: int) -> str:
        return "name: long\nsteps:\n" + "\n".join(f"  - {{id: s{number}, tool: echo}}" for number in range(count))

    read_skill(skill(3_000))
    with pytest.raises(
        InvalidSkill, match=r"PRD102 steps: have 6.*bytes as JSON .at most 600,000: split it, or repeat"
    ):
        read_skill(skill(4_000))


def test_what_a_skill_leaves_out() -> None:
    skill = read_skill("name: x\nsteps: [{id: a, recall: {text: t}}, {id: b, tool: t, remember: [{memory: m}]}]")
    recall, tool = skill.steps
    assert isinstance(recall, RecallStep)
    assert isinstance(tool, ToolStep)
    assert (recall.recall.limit, recall.recall.enough) == (10, 3)
    assert tool.remember == (MemoryTemplate(memory="m", confidence=0.9),)
    assert (skill.description, skill.when_to_use) == ("", "")


def test_a_skills_version_stays_what_it_is_for_ever() -> None:
    """A task is pinned to it: a change here makes every skill look changed."""
    digest = "cac9fc910255c880dea363baa9b096c44a5a22bc3fa37fb779cde654b87a1f19"
    assert read_skill("name: x\nsteps: [{id: a, tool: who}]").digest == digest


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("inputs: {n: {typo: text}}\nsteps: [{id: a, tool: t}]", "inputs.n.typo"),
        ("steps: {a: 1}", "steps"),
        ("steps: [{id: a, tool: 3}]", r"steps\[0\].tool"),
        ("steps: [{id: a, recall: {txt: t}}]", r"steps\[0\].recall.txt"),
        ("steps: [{id: a, recall: {strategy: structurd}}]", r"steps\[0\].recall.strategy: 'structurd' is not one"),
        ("steps: [{id: a, recall: {}}]", r"steps\[0\].recall: searches for nothing"),
        ("steps: [{id: a, recall: {text: ' ', tags: [t]}}]", r"steps\[0\].recall: searches for nothing"),
        (
            "steps: [{id: a, recall: {text: t, since: yesterday}}]",
            r"steps\[0\].recall.since: 'yesterday' is not a moment",
        ),
        (
            "steps: [{id: a, recall: {text: t, until: 2026-05-01}}]",
            r"steps\[0\].recall.until: '2026-05-01' is not a moment",
        ),
        ("steps: [{id: a, remember: [{memory: m}], when: 3}]", r"steps\[0\].when"),
        ("steps: [{id: a, tool: t, remember: [{memory: 3}]}]", r"steps\[0\].remember\[0\].memory"),
        ("steps: [{id: a, tool: t, ask: q, answer: {typ: text}}]", r"steps\[0\].answer.typ"),
        ("steps: [{for_each: '${[1]}', as: x}]", r"steps\[0\].steps"),
        ("steps: [{for_each: '${[1]}', as: x, element: y, steps: [{id: a, tool: t}]}]", r"steps\[0\].element"),
        ("steps: [{id: a, recal: {text: t}}]", r"steps\[0\].*did you mean 'recall'"),
    ],
)
def test_whatever_is_wrong_in_a_skill_is_an_invalid_skill_with_its_path(text: str, path: str) -> None:
    with pytest.raises(InvalidSkill, match=f"PRD102 {path}"):
        read_skill(f"name: x\n{text}")


def test_what_a_task_has_carried_along_is_read_though_nobody_may_write_it_any_more() -> None:
    carried = {"name": "x", "steps": [{"kind": "recall", "id": "a", "recall": {"tags": ["t"], "since": "yesterday"}}]}
    [step] = Skill.model_validate(carried).steps
    assert step.id == "a"


def test_steps_side_by_side_are_read_as_lists() -> None:
    text = """
name: x
steps:
  - parallel:
      - {id: a, tool: t}
      - [{id: b, tool: t}, {id: c, tool: t}]
  - {for_each: "${[1]}", as: n, at_once: 8, steps: [{id: d, tool: t}]}
"""
    beside, walk = read_skill(text).steps
    assert isinstance(beside, Parallel)
    assert (beside.id, [[step.id for step in lane] for lane in beside.lanes]) == ("parallel", [["a"], ["b", "c"]])
    assert isinstance(walk, ForEach)
    assert walk.at_once == 8
    paths = [path for path, _, _ in read_skill(text).walk()]
    assert paths[:4] == ["steps[0]", "steps[0].parallel[0][0]", "steps[0].parallel[1][0]", "steps[0].parallel[1][1]"]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("[{parallel: [{id: a, tool: t}]}]", r"steps\[0\].parallel: has nothing to run side by side"),
        ("[{parallel: [{id: a, tool: t}, []]}]", r"steps\[0\].lanes\[1\]"),
        ("[{parallel: {id: a, tool: t}}]", r"steps\[0\].parallel"),
        ("[{parallel: [{id: a, tool: t}, {id: a, tool: t}]}]", "'a' is taken by steps"),
        ("[{lanes: [], parallel: [{id: a, tool: t}, {id: b, tool: t}]}]", r"lanes: is not a field here"),
        ("[{parallel: [{id: a, tool: t}, {id: b, tol: t}]}]", r"steps\[0\].parallel\[1\]: has no action"),
        ("[{for_each: '${[1]}', as: n, at_once: 51, steps: [{id: a, tool: t}]}]", r"steps\[0\].at_once"),
        ("[{for_each: '${[1]}', as: n, at_once: 0, steps: [{id: a, tool: t}]}]", r"steps\[0\].at_once"),
    ],
)
def test_a_mistake_side_by_side_is_named(steps: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_skill(f"name: x\nsteps: {steps}")


def test_values_are_named_beside_steps() -> None:
    text = "name: x\nsteps: [{let: {a: 1, b: '${inputs.b}'}}, {id: s, tool: t}, {let: {c: [x]}}]\ninputs: {b: string}"
    skill = read_skill(text)
    first, _, last = skill.steps
    assert isinstance(first, LetStep)
    assert isinstance(last, LetStep)
    assert (first.let, last.let) == ({"a": 1, "b": "${inputs.b}"}, {"c": ["x"]})
    assert (first.id, last.id) == ("let a", "let c")
    assert type(skill).model_validate_json(skill.model_dump_json()) == skill


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        *(
            (f"[{{let: {{'{name}': 1}}}}]", rf"steps\[0\].let.{name}: '{name}' is taken by the expressions .choose")
            for name in ("inputs", "steps", "task", "index", "output", "answer", "list", "in", "null", "package")
        ),
        ("[{let: {a: 1}}, {let: {b: 1, a: 2}}]", r"steps\[1\].let.a: 'a' is taken by steps\[0\].let.a .choose another"),
        (
            "[{let: {n: 1}}, {for_each: '${[1]}', as: n, steps: [{id: a, tool: t}]}]",
            r"steps\[0\].let.n: 'n' is taken by the element of steps\[1\] .choose another",
        ),
        (
            "[{for_each: '${[1]}', as: n, steps: [{let: {n: 1}}, {id: a, tool: t}]}]",
            r"steps\[0\].steps\[0\].let.n: 'n' is taken by the element of steps\[0\]",
        ),
        (
            "[{parallel: [[{let: {n: 1}}, {id: a, tool: t}], [{let: {n: 1}}, {id: b, tool: t}]]}]",
            r"parallel\[1\]\[0\].let.n: 'n' is taken by steps\[0\].parallel\[0\]\[0\].let.n",
        ),
        ("[{let: {}}]", r"steps\[0\].let"),
        ("[{let: [a]}]", r"steps\[0\].let: is a list"),
        ("[{let: {A-b: 1}}]", r"steps\[0\].let.A-b"),
        ("[{id: a, let: {b: 1}}]", r"steps\[0\].id: is not a field here"),
        ("[{let: {b: 1}, when: '${true}'}]", r"steps\[0\].when: is not a field here"),
        ("[{let: {b: '${1 +}'}}]", r"PRD103 steps\[0\].let.b: .* does not parse"),
        (f"[{{let: {{{', '.join(f'a{n}: 1' for n in range(51))}}}}}]", r"steps\[0\].let: .*at most 50"),
    ],
)
def test_a_name_that_would_hide_another_is_refused(steps: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_skill(f"name: x\nsteps: {steps}")


def test_a_step_says_how_often_and_how_long_its_tool_is_tried() -> None:
    skill = read_skill("name: x\nsteps: [{id: a, tool: t, retry: 0, timeout: 30s}, {id: b, tool: t}]")
    first, second = skill.steps
    assert isinstance(first, ToolStep)
    assert isinstance(second, ToolStep)
    assert (first.retry, first.timeout, second.retry, second.timeout) == (0, "30s", None, None)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        *(
            (f"{{{step}, {more}}}", rf"steps\[0\].{more.split(':')[0]}: {why}")
            for step, why in (
                (
                    "id: a, recall: {text: x}",
                    "does not fit a recall, which waits for a store that is away .leave it out",
                ),
                ("id: a, remember: [{memory: m}]", "does not fit a step that remembers"),
                ("let: {a: 1}", "does not fit a let, which calls nothing"),
                ("id: a, wait: 2h", "does not fit a wait .give the event a deadline"),
                ("for_each: '${[1]}', as: n, steps: [{id: a, tool: t}]", "belongs to the steps inside a block"),
                ("parallel: [{id: a, tool: t}, {id: b, tool: t}]", "belongs to the steps inside a block"),
            )
            for more in ("retry: 2", "timeout: 3s", "compensate: {tool: t}")
        ),
        ("{id: a, prompt: x, compensate: {tool: t}}", r"compensate: has no effect that could be undone"),
        ("{id: a, prompt: x, retry: 21}", r"steps\[0\].retry"),
        ("{id: a, tol: t, retry: 2}", r"steps\[0\]: has no action .*did you mean 'tool'"),
        ("{id: a, tool: t, retry: -1}", r"steps\[0\].retry"),
        ("{id: a, tool: t, retry: 1001}", r"steps\[0\].retry"),
        ("{id: a, tool: t, retry: '${1}'}", r"steps\[0\].retry"),
        ("{id: a, tool: t, timeout: 30}", r"steps\[0\].timeout"),
        ("{id: a, workflow: W, queue: q, timeout: 999999999d}", r"steps\[0\].timeout: is longer than 366 days"),
        ("{id: a, tool: t, timeout: 0s}", r"steps\[0\].timeout: is zero"),
        ("{id: a, tool: t, timeout: '${1}s'}", r"steps\[0\].timeout: is not a duration .write a number and a unit"),
    ],
)
def test_what_only_a_call_has_is_refused_elsewhere_with_the_reason(step: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_skill(f"name: x\nsteps: [{step}]")


def test_a_step_waits_for_an_event_with_a_deadline_and_what_counts_behind_it() -> None:
    text = """
name: x
steps:
  - {id: a, wait: {event: paid}}
  - {id: b, wait: {event: "paid ${task.id}", deadline: 2d, otherwise: "${null}"}, when: "${true}"}
  - {parallel: [{id: c, wait: {event: sent, deadline: 2026-01-31T09:00:00Z, otherwise: [1]}}, {id: d, wait: 1s}]}
"""
    steps = [step for _, step, _ in read_skill(text).walk() if isinstance(step, EventStep)]
    assert [(step.wait.event, step.wait.deadline, step.wait.otherwise) for step in steps] == [
        ("paid", None, None),
        ("paid ${task.id}", "2d", "${null}"),
        ("sent", "2026-01-31T09:00:00Z", [1]),
    ]
    assert read_skill(text).digest != read_skill(text.replace("event: sent", "event: send")).digest


@pytest.mark.parametrize(
    ("wait", "message"),
    [
        ("{event: a, otherwise: 1}", r"steps\[0\].wait.otherwise: belongs to a deadline .add deadline: 2d"),
        ("{event: a, deadline: 1d, otherwise: null}", r"wait.otherwise: is empty .write \"\$\{null\}\""),
        ("{deadline: 1d}", r"steps\[0\].wait.event: is missing"),
        ("{event: a, dedline: 1d}", r"steps\[0\].wait.dedline: is not a field here .did you mean 'deadline'"),
        ("{event: a, deadline: soon}", r"steps\[0\].wait.deadline: is neither a duration nor a moment"),
        ("{event: a, deadline: 400d}", r"steps\[0\].wait.deadline: is further away than 366 days"),
        ("{event: ' '}", r"steps\[0\].wait.event: names no event"),
        ("{event: '${1 +}'}", r"PRD103 steps\[0\].wait.event: .* does not parse"),
        ("{event: a, deadline: 1d, otherwise: {b: ['${1 +}']}}", r"PRD103 steps\[0\].wait.otherwise.b\[0\]: "),
        (f"{{event: {'a' * 201}}}", r"steps\[0\].wait.event: has 201 characters"),
    ],
)
def test_a_wait_for_an_event_that_cannot_be_is_refused_by_its_field(wait: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_skill(f"name: x\nsteps: [{{id: a, wait: {wait}}}]")
    with pytest.raises(InvalidInput, match=r"steps\[0\].on_failure: is not a field here"):
        read_skill("name: x\nsteps: [{id: a, wait: {event: a}, on_failure: ask}]")


def test_a_step_waits_for_a_time_or_until_a_moment() -> None:
    text = "name: x\nsteps: [{id: a, wait: 2h}, {id: b, wait: 2026-01-31T09:00:00Z}, {id: c, wait: '${x}'}]"
    steps = read_skill(text).steps
    assert [step.wait for step in steps if isinstance(step, WaitStep)] == ["2h", "2026-01-31T09:00:00Z", "${x}"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        *(
            (f"{{id: a, wait: 2h, {name}: {value}}}", rf"steps\[0\].{name}: is not a field here")
            for name, value in (
                ("expect", "'${true}'"),
                ("approve", "'Go on?'"),
                ("remember", "[{memory: m}]"),
                ("on_failure", "ask"),
                ("args", "{}"),
            )
        ),
        ("{id: a, tool: t, wait: 2h}", r"steps\[0\].wait: is a second action beside tool"),
        ("{wait: 2h}", r"steps\[0\].id: is missing"),
        ("{id: a, wait: 30}", r"steps\[0\].wait"),
        ("{id: a, wait: soon}", r"steps\[0\].wait: is neither a duration nor a moment with its time zone .write 12h"),
        ("{id: a, wait: 2026-01-31}", r"steps\[0\].wait: is neither a duration nor a moment"),
        ("{id: a, wait: 400d}", r"steps\[0\].wait: is further away than 366 days"),
        ("{id: a, wait: '${1 +}'}", r"PRD103 steps\[0\].wait: .* does not parse"),
    ],
)
def test_a_wait_that_is_written_wrongly_is_named(step: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_skill(f"name: x\nsteps: [{step}]")


def test_one_that_is_deprecated_says_why_and_what_to_use_instead() -> None:
    text = "name: old\nsteps: [{id: a, tool: echo}]\n"
    going = read_skill(f"{text}deprecated: it is slow\nsuccessor: new\n")
    assert going.going == "skill old is deprecated: it is slow (use new)"
    assert read_skill(text).going == ""
    assert going.digest == read_skill(text).digest, "a task that began with it goes on"
    with pytest.raises(InvalidSkill, match="successor: belongs to a skill that is deprecated"):
        read_skill(f"{text}deprecated: ' '\nsuccessor: new\n")
    with pytest.raises(InvalidSkill, match="successor: is the skill itself"):
        read_skill(f"{text}deprecated: slow\nsuccessor: old\n")


def test_each_step_is_changed_wherever_it_stands_and_told_its_place() -> None:
    walked = read_skill(
        "name: s\nsteps:\n  - {id: a, tool: t}\n"
        "  - for_each: '${[1]}'\n    as: x\n    steps:\n"
        "      - {id: b, tool: t}\n      - {for_each: '${[2]}', as: y, steps: [{id: c, tool: t}]}\n"
        "  - {parallel: [[{id: d, tool: t}], [{id: e, tool: t}]]}\n"
    )
    places: list[str] = []

    def changed(step: Step, place: str) -> Step:
        places.append(place)
        return step.changed(tool="u")

    found = walked.mapped(changed)
    assert [one.tool for _, one, _ in found.walk() if isinstance(one, ToolStep)] == ["u"] * 5
    assert places == [path for path, one, _ in walked.walk() if isinstance(one, ToolStep)]
