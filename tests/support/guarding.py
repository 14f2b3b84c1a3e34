"""Policies of the tests in a folder of their own, and what the audit keeps of them."""

from dataclasses import dataclass
from pathlib import Path

from perdure import AgentTask
from perdure.memory.audit.reader import shown
from perdure.policies.ruling import Ruling
from perdure.settings import Settings
from perdure.stores.audit.chain import LABEL
from perdure.stores.audit.files import FOLDER
from perdure.stores.audit.lines import AuditLine
from perdure.stores.tenant_key import TenantKey


@dataclass(frozen=True)
class Policies:
    """A folder of policies."""

    folder: Path

    def write(self, name: str, *, when: str, level: str = "hard", unless: str = "", approve: str = "") -> None:
        """Write a policy, or write it anew."""
        self.folder.mkdir(exist_ok=True)
        lines = [f"name: {name}", f"rationale: It is rule {name}.", f"level: {level}", f'when: "${{{when}}}"']
        lines += [f'unless: ["${{{unless}}}"]'] if unless else []
        lines += [f"approve: {approve}"] if approve else []
        draft = self.folder / f"{name}.draft"
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        draft.rename(self.folder / f"{name}.yaml")

    def clear(self) -> None:
        """Remove all of them but one that never speaks: a folder without any is refused."""
        self.write("silent", when="tool == 'nobody'")
        for path in self.folder.glob("*.yaml"):
            if path.stem != "silent":
                path.unlink()


def ruled(settings: Settings, task: AgentTask) -> list[AuditLine]:
    """Return what the audit has of the policies' decisions for a task's user, in the order of their times."""
    key = TenantKey.load(settings.tenant_key_file)
    lines = shown(settings.journal_folder / FOLDER, key.derived(LABEL), key.tenant_of(task.user_id))
    return [line for line in lines if line.ruling is not None]


def rulings(settings: Settings, task: AgentTask) -> list[Ruling]:
    """Return the policies' decisions that the audit has for a task's user."""
    return [line.ruling for line in ruled(settings, task) if line.ruling is not None]
