"""Prompts that a skill uses by name: it carries their texts along from the moment at which it is read. Pure."""

from perdure.errors import InvalidSkill
from perdure.registry.prompts import PromptLibrary
from perdure.skills.shape import Skill
from perdure.skills.steps import PromptStep, Step


def with_prompts(skill: Skill, prompts: PromptLibrary) -> Skill:
    """Return a skill in which each step that names a prompt has its text and its version.

    Raises:
        InvalidSkill: Naming the step; there is no such prompt, it cannot be used, or has other inputs.
    """

    def read(step: Step, path: str) -> Step:
        if not isinstance(step, PromptStep) or step.uses is None:
            return step
        prompt = prompts.used(step.uses, f"{path}.prompt", InvalidSkill)
        return step.changed(prompt=prompt.template, uses=step.uses.of(prompt))

    return skill.mapped(read) if skill.uses_prompts else skill
