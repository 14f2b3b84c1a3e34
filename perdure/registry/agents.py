"""Agents: who works towards a goal, with which tools, model and bounds. Read from YAML; runs nothing."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from perdure.documents import kind_of, validated
from perdure.errors import InvalidAgent
from perdure.expressions.evaluation import references
from perdure.identity import digest
from perdure.model import Name, Passed
from perdure.modules import require_model_form
from perdure.registry.folders import Folders
from perdure.registry.judge import Judge, OptionalJudge, criterion_of
from perdure.registry.prompts import LONGEST_TEMPLATE, PromptLibrary, PromptUse, pinned_version, read_use, rendered
from perdure.values.tasks import DEFAULT_AGENT, MemoryMode
from perdure.yaml_text import read_document


def _is_none(value: object) -> bool:
    return value is None


class Agent(Passed):
    """One agent, as its YAML says."""

    name: Name
    """Its name, which is also that of its file."""
    description: str = ""
    """What it is for, for people."""
    instructions: Annotated[str, Field(max_length=20_000)] = ""
    """Its instructions before each turn. Nothing is evaluated in them."""
    prompt: PromptUse | None = Field(default=None, exclude_if=_is_none)
    """The prompt that its instructions come from; written as a mapping under ``instructions``."""
    model: str = ""
    """``openai:<model>``, or ``<module>:<model>`` of a provider of your own; empty: the worker's own."""
    tools: tuple[Name, ...] = ()
    """What it may call."""
    skills: tuple[Name, ...] = ()
    """The skills that it may call as tools."""
    approve: tuple[Name, ...] = ()
    """Tools and skills whose each call a person approves first."""
    memory: MemoryMode = MemoryMode.ON
    """What it may do with memory; a task may be stricter, and never less so."""
    expect: Annotated[str, Field(min_length=1, max_length=8_000)] | None = None
    """An expression that must hold of ``output``, its answer; part of the task's evaluation."""
    judge: OptionalJudge = None
    """What a language model finds out about ``output``; part of the task's evaluation as well. One that names no model
    is the agent's own."""
    lessons: bool = Field(default=True, exclude_if=bool)
    """Whether its tasks write down what they learn from failures, and recall what earlier ones learned."""
    turns: Annotated[int, Field(ge=1, le=10_000)] = 100
    """How many turns of the model one task may take."""
    tokens: Annotated[int, Field(ge=1)] = 1_000_000
    """How many tokens of the model one task may use, read and written, with those of the skills that it calls."""

    @property
    def judged(self) -> Judge | None:
        """How its answer is judged, by which model."""
        return self.judge.changed(model=self.judge.model or self.model) if self.judge else None

    @property
    def digest(self) -> str:
        """The identity of its file's content: a changed agent is another version, one with other bounds is not."""
        written = self.changed(instructions="", prompt=self.prompt.as_written) if self.prompt else self
        return digest("agent/1", written.model_dump(mode="json", exclude_defaults=True, exclude={"turns", "tokens"}))

    @property
    def version(self) -> str:
        """The digest of its content together with its prompt."""
        return pinned_version(self.digest, self.prompts)

    @property
    def prompts(self) -> dict[str, str]:
        """The version of the prompt that it uses, by its name."""
        return {self.prompt.name: self.prompt.version} if self.prompt else {}


def read_agent(text: str, where: str = "agent") -> Agent:
    """Read an agent from YAML.

    Args:
        text: The document.
        where: What it is, for messages about the document as a whole.

    Raises:
        InvalidAgent: Naming the field, and the nearest name where one is unknown.
        InvalidExpression: When its ``expect``, or the criterion of its ``judge``, does not parse.
    """
    document = dict(read_document(text, where, InvalidAgent))
    if "prompt" in document:
        fix = "write instructions: {name: its name, inputs: {…}}"
        raise InvalidAgent("prompt", "is not a field here", fix=fix)
    if kind_of(document.get("instructions")) == "a mapping":
        use = read_use(document["instructions"], "instructions", InvalidAgent)
        document |= {"instructions": "", "prompt": use}
    agent = validated(Agent, document, "", InvalidAgent)
    _require_model_forms(agent)
    for field, names in (("tools", agent.tools), ("skills", agent.skills)):
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise InvalidAgent(field, f"names {twice[0]!r} more than once", fix="write each once")
    if both := sorted({*agent.tools} & {*agent.skills}):
        raise InvalidAgent("skills", f"{both[0]!r} is the name of one of its tools too", fix="rename one of them")
    told: dict[str, str] = {}
    for name in (*agent.tools, *agent.skills):
        if (other := told.setdefault(told_name(name), name)) != name:
            problem = f"its model could not tell {name!r} from {other!r}: it is told {told_name(name)!r} for both"
            raise InvalidAgent("tools" if name in agent.tools else "skills", problem, fix="rename one of them")
    for name in agent.approve:
        if name not in (*agent.tools, *agent.skills):
            raise InvalidAgent("approve", f"{name!r} is not among its tools or skills", fix="add it there")
    for field, condition in (("expect", agent.expect), ("judge", criterion_of(agent.judge))):
        for root, *_ in references(condition, field):
            if root != "output":
                raise InvalidAgent(field, f"there is no name {root!r}", fix="output is its answer")
    return agent


def _require_model_forms(agent: Agent) -> None:
    require_model_form(agent.model, "model", InvalidAgent)
    if agent.judge:
        require_model_form(agent.judge.model, "judge.model", InvalidAgent)


def told_name(name: str) -> str:
    """Return a tool's name as a model sees it; names that it makes up are repeated to it in this form.

    OpenAI takes letters, digits, '_' and '-' only, 64 at most, and refuses every request with another name in it.
    """
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


class AgentLibrary(Folders[Agent]):
    """The agents in some folders."""

    def __init__(self, folders: Iterable[Path], *, prompts: PromptLibrary | None = None) -> None:
        super().__init__(folders, kind="agent", read=read_agent, error=InvalidAgent)
        self._prompts = prompts or PromptLibrary()

    def get(self, name: str) -> Agent:
        """Read an agent, with the text of the prompt that its instructions name; see ``Folders.get``.

        Raises:
            InvalidAgent: There is none of this name, or it or its prompt is not well formed.
            InvalidExpression: Its ``expect`` does not parse, or an expression of its prompt has no value.
        """
        agent = super().get(name)
        with self.placing(name):
            return self._with_prompt(agent)

    def place(self, name: str) -> Path:
        """Return the file of an agent; see ``Folders.place``.

        Raises:
            InvalidAgent: There is none of this name; or two folders have one.
        """
        try:
            return super().place(name)
        except InvalidAgent as error:
            if name != DEFAULT_AGENT or name in self.names():
                raise
            # Whoever names none does not know that name.
            raise InvalidAgent(error.field, f"is missing, and {error.problem}", fix=error.fix) from None

    def _with_prompt(self, agent: Agent) -> Agent:
        if (use := agent.prompt) is None:
            return agent
        prompt, field = self._prompts.used(use, "instructions", InvalidAgent), "instructions"
        use = use.of(prompt)
        told = rendered(prompt.template, {**use.defaults, **use.inputs}, field)
        if len(told) > LONGEST_TEMPLATE:
            fix = f"at most {LONGEST_TEMPLATE:,} are read"
            raise InvalidAgent(field, f"have {len(told):,} characters with their inputs", fix=fix)
        return agent.changed(instructions=told, prompt=use)
