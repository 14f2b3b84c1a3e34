"""Skills: procedures written in YAML. Owns their shape, their reading and their expressions; never runs one."""

from perdure.skills.loading import SkillLibrary, read_skill
from perdure.skills.model import Skill

__all__ = ["Skill", "SkillLibrary", "read_skill"]
