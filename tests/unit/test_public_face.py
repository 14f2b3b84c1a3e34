"""What ``import perdure`` gives, and what it does not load."""

import subprocess
import sys
from pathlib import Path

import pytest

import perdure

EXPORTED = {
    "Actor",
    "ActorKind",
    "AgentTask",
    "Answer",
    "AnswerType",
    "ConsentRequest",
    "Correction",
    "EntryKind",
    "EraseRequest",
    "Feedback",
    "ForgetRequest",
    "ForgetResult",
    "InvalidInput",
    "Lane",
    "Limits",
    "MemberRequest",
    "MemoryMode",
    "MemoryType",
    "Merger",
    "Model",
    "NotDone",
    "ObserveRequest",
    "PerdureError",
    "Phase",
    "Pinning",
    "Progress",
    "Question",
    "RecalledItem",
    "RecallHandle",
    "RecallRequest",
    "RecallResult",
    "Receipt",
    "ReconcileRequest",
    "RememberRequest",
    "Removal",
    "Reversion",
    "StoreUnavailable",
    "TaskFailed",
    "TaskResult",
    "TenantErased",
    "tool",
    "Tool",
    "ToolCall",
    "UndoRequest",
    "UndoResult",
    "UpdateRequest",
    "WorkerUnavailable",
}

HEAVY = ("temporalio", "redis", "weaviate", "openai", "numpy", "opentelemetry")

PURE = (
    *("perdure", "perdure.entries", "perdure.jobs", "perdure.requests", "perdure.skills.library", "perdure.tools"),
    *("perdure.expressions.evaluation", "perdure.agent.skill_plan", "perdure.agent.state", "perdure.agent.questions"),
    *(
        "perdure.agent.display",
        "perdure.agent.steps.validation",
        "perdure.agent.steps.calls",
        "perdure.agent.steps.items",
        "perdure.agent.plan",
        "perdure.requests",
    ),
    *(
        "perdure.memory.reconciling.merging",
        "perdure.memory.retention",
        "perdure.memory.writing.planning",
        "perdure.memory.writing.observation",
    ),
    *("perdure.memory.writing.checking", "perdure.memory.forgetting.selection", "perdure.memory.recall.query"),
    *("perdure.memory.recall.ranking", "perdure.memory.recall.context", "perdure.memory.recall.local"),
    *("perdure.memory.recall.items", "perdure.words"),
    *("perdure.changes", "perdure.skills.shape", "perdure.agent.steps.happened", "perdure.memory.updating.learning"),
    *(
        f"perdure.memory.extraction.{name}"
        for name in ("aliases", "candidates", "grounds.changes", "rules", "statements", "verifying")
    ),
    *("perdure.stores.journal.lines", "perdure.stores.journal.folding", "perdure.models.embedding"),
)
"""Values and pure rules: no store, no model and no Temporal is loaded with them."""


def test_what_is_exported_is_what_is_documented() -> None:
    assert set(perdure.__all__) == EXPORTED
    assert all(getattr(perdure, name).__doc__ for name in EXPORTED)


@pytest.mark.parametrize("module", PURE)
def test_values_and_rules_load_no_server_and_no_model(module: str) -> None:
    code = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == ""


def test_the_playbook_uses_nothing_but_the_public_face() -> None:
    sources = [path.read_text(encoding="utf-8") for path in Path("playbooks").rglob("*.py")]
    imports = {line for source in sources for line in source.splitlines() if "perdure" in line and "import" in line}
    assert all(line.startswith("from perdure import ") for line in imports)
    assert Path(perdure.__file__).with_name("py.typed").exists()
