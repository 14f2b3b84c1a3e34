"""Prompts: read and refused as other definitions are, and carried by the skills and agents that name them."""

from pathlib import Path

import pytest

from perdure.agent.preparation import versions_of
from perdure.errors import InvalidAgent, InvalidExpression, InvalidInput, InvalidSkill
from perdure.registry.agents import AgentLibrary
from perdure.registry.prompts import LONGEST_TEMPLATE, PromptLibrary, pinned_version, read_prompt
from perdure.skills.library import SkillLibrary
from perdure.skills.steps import PromptStep

PROMPT = """\
name: ask
inputs: {text: What to read, tone: {default: kind}}
template: "Be ${inputs.tone}. Read ${inputs.text}."
"""

SKILL = """\
name: s
inputs: {file: string}
steps:
  - parallel:
      - {id: one, prompt: {name: ask, inputs: {text: "${inputs.file}"}}}
      - [{id: two, prompt: {name: ask, inputs: {text: b, tone: cold}}, output: {a: string}}]
  - {for_each: "${[1]}", as: n, steps: [{id: three, prompt: "Plain ${n}"}]}
"""

AGENT = "name: a\ninstructions: {name: ask, inputs: {text: 'a ${b}'}}\ntools: []\n"


class Playbook:
    """Folders of one playbook."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        prompts = PromptLibrary((folder / "prompts",))
        self.skills = SkillLibrary((folder / "skills",), prompts=prompts)
        self.agents = AgentLibrary((folder / "agents",), prompts=prompts)
        for kind, name, text in (("prompts", "ask", PROMPT), ("skills", "s", SKILL), ("agents", "a", AGENT)):
            self.write(kind, name, text)

    def write(self, kind: str, name: str, text: str) -> None:
        (self.folder / kind).mkdir(exist_ok=True)
        (self.folder / kind / f"{name}.yaml").write_text(text, encoding="utf-8")

    @property
    def versions(self) -> tuple[str, str, str, str]:
        skill, agent = self.skills.get("s"), self.agents.get("a")
        own = (skill.digest, agent.digest)
        return (*own, pinned_version(skill.digest, skill.prompts), pinned_version(agent.digest, agent.prompts))


@pytest.fixture
def playbook(tmp_path: Path) -> Playbook:
    return Playbook(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (PROMPT.replace("template", "tempalte"), "tempalte: is not a field here .*'template'"),
        (PROMPT.replace("inputs.text", "inputs.txt"), "template: there is no input 'txt' .*'text'"),
        (PROMPT.replace("${inputs.text}", "${task.id}"), "template: there is no name 'task' .*inputs alone"),
        (PROMPT.replace("${inputs.text}", "${inputs}"), "names all inputs at once"),
        (PROMPT.replace("${inputs.text}", "${inputs.text +}"), "does not parse"),
        (PROMPT.replace("kind}", "'${inputs.text}'}"), "inputs.tone.default: holds an expression"),
        (PROMPT.replace("text:", "Text:", 1), "inputs.Text.*lower-case"),
        (f"name: ask\ntemplate: {'x' * (LONGEST_TEMPLATE + 1)}", "template"),
        ("name: ask\ntemplate: ''", "template"),
    ],
)
def test_what_is_wrong_with_one_is_refused_with_its_field(text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_prompt(text)


def test_its_version_is_what_a_model_reads() -> None:
    version = read_prompt(PROMPT).digest
    same = [
        PROMPT + "description: x\n",
        PROMPT.replace("What to read", "Whatever"),
        PROMPT.replace("name: ask", "name: b"),
    ]
    assert {read_prompt(text).digest for text in same} == {version}
    other = [PROMPT.replace("kind", "cold"), PROMPT.replace("Read", "See")]
    assert version not in {read_prompt(text).digest for text in other}


def test_a_skill_carries_its_text_in_every_block(playbook: Playbook) -> None:
    skill = playbook.skills.get("s")
    one, two, three = [step for _, step, _ in skill.walk() if isinstance(step, PromptStep)]
    assert one.prompt == two.prompt == "Be ${inputs.tone}. Read ${inputs.text}."
    assert one.uses is not None
    assert (one.uses.defaults, three.uses, three.prompt) == ({"tone": "kind"}, None, "Plain ${n}")
    assert skill.prompts == {"ask": read_prompt(PROMPT).digest}
    assert versions_of(skill) == {"skill s": skill.digest, "prompt ask": read_prompt(PROMPT).digest}


def test_an_agent_has_its_text_with_values_in_which_nothing_is_evaluated(playbook: Playbook) -> None:
    agent = playbook.agents.get("a")
    assert agent.instructions == "Be kind. Read a ${b}."
    assert agent.prompts == {"ask": read_prompt(PROMPT).digest}


def test_another_text_is_another_pinned_version_and_the_files_that_name_it_keep_theirs(playbook: Playbook) -> None:
    before = playbook.versions
    playbook.write("prompts", "ask", PROMPT + "description: x\n")
    assert playbook.versions == before
    playbook.write("prompts", "ask", PROMPT.replace("Read", "See"))
    after = playbook.versions
    assert after[:2] == before[:2]
    assert after[2] != before[2]
    assert after[3] != before[3]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("name: ask", "name: aks", r"prompt\.name: prompt 'aks' cannot be used: .*there is no prompt 'aks' .*'ask'"),
        ("text: b, ", "txt: b, ", r"prompt\.inputs\.txt: prompt 'ask' has no such input .*'text'"),
        (
            "text: b, ",
            "",
            r"steps\[0\]\.parallel\[1\]\[0\]\.prompt\.inputs\.text: prompt 'ask' needs it .*What to read",
        ),
        ("{name: ask, inputs: {text: b, tone: cold}}", "{name: ask, version: x}", "version: is not a field here"),
        ("{name: ask, inputs: {text: b, tone: cold}}", "{nam: ask}", "did you mean 'name'"),
        ("{name: ask, inputs: {text: b, tone: cold}}", "''", "prompt: is empty"),
        (
            "prompt: {name: ask, inputs: {text: b",
            "uses: {}, prompt: {name: ask, inputs: {text: b",
            "uses: is not a field",
        ),
        ("${inputs.file}", "${inputs.fil +}", "does not parse"),
    ],
)
def test_a_skill_that_cannot_use_it_is_refused_with_its_field(
    playbook: Playbook, old: str, new: str, problem: str
) -> None:
    playbook.write("skills", "s", SKILL.replace(old, new))
    with pytest.raises((InvalidSkill, InvalidExpression), match=problem):
        playbook.skills.get("s")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (AGENT.replace("text:", "txt:"), r"instructions\.inputs\.txt: prompt 'ask' has no such input"),
        (AGENT.replace("name: ask", "name: b"), r"instructions\.name: prompt 'b' cannot be used"),
        (AGENT + "prompt: ask\n", "prompt: is not a field here .*instructions"),
        (AGENT.replace("'a ${b}'", "x" * LONGEST_TEMPLATE), "instructions: have 20,0.. characters with their inputs"),
    ],
)
def test_an_agent_that_cannot_use_it_is_refused_with_its_field(playbook: Playbook, text: str, problem: str) -> None:
    playbook.write("agents", "a", text)
    with pytest.raises(InvalidAgent, match=problem):
        playbook.agents.get("a")


def test_a_prompt_that_cannot_be_used_is_named_by_what_uses_it(playbook: Playbook) -> None:
    playbook.write("prompts", "ask", PROMPT.replace("inputs.text}", "inputs.txt}"))
    with pytest.raises(InvalidSkill, match=r"prompt 'ask' cannot be used: .*ask.yaml:\d+: template: there is no input"):
        playbook.skills.get("s")


def test_a_prompts_version_and_what_is_pinned_with_it_stay_what_they_are_for_ever() -> None:
    assert read_prompt(PROMPT).digest == "49f998c23b1bb25f67bc8ce35a7662afadd2d0dc38e396e10aa5b92d3a56a4f2"
    pinned = "268f8963735c81b83340191c48484fac60a385bcb4f01373f6d6087558ff417a"
    assert pinned_version("own", {"ask": "v1"}) == pinned
