"""What ``import perdure`` gives, and what it does not load."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

import perdure
from perdure import errors
from perdure.model import OpenEnum, Request
from perdure.stores.redis.idempotency_keys import Sending
from worker.gateway import Gateway

EXPORTED = {
    "AccessToken",
    "Caller",
    "NewToken",
    "TokenRequest",
    "TokenScope",
    "UnknownThing",
    "Actor",
    "ActorKind",
    "AgentTask",
    "Answer",
    "AnswerSpec",
    "AnswerType",
    "Assertion",
    "BeginRequest",
    "CallLimit",
    "ConsentRequest",
    "ChatEnding",
    "ChatLog",
    "ChatMessage",
    "ChatReply",
    "Consents",
    "Correction",
    "Credit",
    "Decided",
    "Decision",
    "EarlierRun",
    "Enrolment",
    "EntryKind",
    "Episode",
    "EpisodeKind",
    "EraseRequest",
    "ErasureReceipt",
    "Evaluation",
    "Event",
    "Exchange",
    "Fate",
    "Feedback",
    "ForgetRequest",
    "ForgetResult",
    "FoundBy",
    "GivenFeedback",
    "Ground",
    "HandleItem",
    "Held",
    "HoldOutcome",
    "Imported",
    "Intervention",
    "InterventionKind",
    "InvalidAnswer",
    "InvalidEvent",
    "InvalidInput",
    "InvalidTask",
    "ItemReceipt",
    "JobFailed",
    "JobState",
    "JobStatus",
    "StartedTask",
    "TaskStanding",
    "Judgement",
    "Lane",
    "LateVerdict",
    "LeftOut",
    "LessonRequest",
    "LessonSet",
    "Limits",
    "MemberRequest",
    "Membership",
    "Memory",
    "MemoryMode",
    "MemoryType",
    "Merger",
    "Model",
    "ModelRefused",
    "SecretUnreadable",
    "StoreLost",
    "Approval",
    "AfterFailure",
    "EffectFate",
    "ContextExceeded",
    "Embedder",
    "Instruction",
    "LanguageModel",
    "Message",
    "ModelBusy",
    "ModelKeyRefused",
    "Replied",
    "Reply",
    "ReplyUnusable",
    "ToolOutput",
    "ToolSpec",
    "ToolUse",
    "Usage",
    "NotBelieved",
    "NotDone",
    "NotListed",
    "NothingRuns",
    "ObserveRequest",
    "Observed",
    "Omission",
    "OpenQuestion",
    "PerdureError",
    "PauseRequest",
    "PieceKind",
    "PersonAnswer",
    "PersonQuestion",
    "Phase",
    "Pinning",
    "ProfileName",
    "Progress",
    "StepReport",
    "StepStatus",
    "Frame",
    "Purpose",
    "Question",
    "QuestionKind",
    "RecallHandle",
    "RecallRequest",
    "RecallResult",
    "RecallSummary",
    "RecalledItem",
    "Receipt",
    "Retry",
    "ReconcileRequest",
    "ReconcileResult",
    "Reconciled",
    "Record",
    "RedateRequest",
    "RedateResult",
    "Redirection",
    "ReplyPiece",
    "ReplyPlace",
    "Refusal",
    "Rejection",
    "Relation",
    "RememberRequest",
    "Removal",
    "Reversion",
    "Said",
    "Secret",
    "SecretSource",
    "SettledJob",
    "Source",
    "State",
    "StoreRefused",
    "StoreUnavailable",
    "Strategy",
    "Subject",
    "Suspension",
    "SweepReport",
    "TaskExplanation",
    "TaskFailed",
    "TaskFeedback",
    "TakenMessage",
    "TaskMessage",
    "TaskResult",
    "TaskSchedule",
    "TenantErased",
    "TenantKeyMismatch",
    "TenantKeyMissing",
    "Timing",
    "Tool",
    "ToolCall",
    "Trials",
    "Trigger",
    "Turn",
    "UndoRequest",
    "UndoResult",
    "Unconfirmed",
    "UnknownOwner",
    "UpdateRequest",
    "Updated",
    "Version",
    "Voice",
    "Wait",
    "WorkerUnavailable",
    "WorkflowCancelled",
    "WorkflowFailed",
    "is_signed",
    "tool",
}

HEAVY = ("temporalio", "redis", "weaviate", "openai", "numpy", "opentelemetry")

BESIDES = (
    "perdure",
    "perdure.public",
    "perdure.models.embedding",
    "perdure.models.language",
    "perdure.registry.agents",
)
"""What loads nothing heavy either, and does not say so by its first line."""


CALCULATES = {
    "perdure.memory.recall.turns": "ranks with numpy's arrays",
    "perdure.stores.weaviate.conditions": "makes the filters of Weaviate's client",
    "perdure.stores.weaviate.verdicts": "reads the errors of its client",
}
"""What is pure, and needs a library for its values."""


def pure_modules() -> list[str]:
    """Return the modules that say that they are pure."""
    sources = {path: ast.parse(path.read_text(encoding="utf-8")) for path in Path("perdure").rglob("*.py")}
    pure = [path for path, tree in sources.items() if re.search(r"\bPure\b", ast.get_docstring(tree) or "")]
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in pure}
    return sorted(names - CALCULATES.keys())


def test_what_is_exported_is_what_is_documented() -> None:
    assert set(perdure.__all__) == EXPORTED
    assert all(getattr(perdure, name).__doc__ for name in EXPORTED)


def loaded_by(modules: Sequence[str]) -> str:
    """Return the first of modules, imported one after the other, that loads something heavy, and what."""
    code = (
        "import importlib, sys\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        f"    if loaded := [heavy for heavy in {HEAVY!r} if heavy in sys.modules]:\n"
        "        sys.exit(print(name, *loaded))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_values_and_rules_load_no_server_and_no_model() -> None:
    pure = pure_modules()
    assert len(pure) > 150
    assert loaded_by([*pure, *BESIDES]) == ""


def test_control_a_module_that_loads_a_server_is_named() -> None:
    loaded = loaded_by(["perdure.words", "perdure.stores.redis.connection"])
    assert loaded.startswith("perdure.stores.redis.connection redis")


LAZY = {
    "AuditLine": object,
    "AuditReport": object,
    "ComponentState": object,
    "HealthFinding": object,
    "Sending": Sending,
}
"""What the calls of operators return: it stands in the modules that read the audit and look at the installation."""

RESULTS = {
    "AgentTask": (perdure.Progress, perdure.TaskResult),
    "Answer": (),
    "BeginRequest": (),
    "ChatEnding": (),
    "ChatMessage": (perdure.ChatReply,),
    "ConsentRequest": (perdure.Consents,),
    "EraseRequest": (perdure.ErasureReceipt,),
    "Event": (perdure.Progress,),
    "ForgetRequest": (perdure.ForgetResult,),
    "LessonRequest": (perdure.LessonSet,),
    "Limits": (),
    "MemberRequest": (perdure.Enrolment,),
    "ObserveRequest": (perdure.Observed, perdure.Receipt),
    "PauseRequest": (perdure.Progress,),
    "PersonQuestion": (perdure.PersonAnswer,),
    "RecallRequest": (perdure.RecallResult, perdure.RecallHandle),
    "ReconcileRequest": (perdure.ReconcileResult,),
    "RedateRequest": (perdure.RedateResult,),
    "Redirection": (perdure.Progress,),
    "RememberRequest": (perdure.Receipt, perdure.Imported),
    "Said": (),
    "TaskFeedback": (perdure.Progress, perdure.LateVerdict),
    "TaskMessage": (perdure.Progress,),
    "TokenRequest": (perdure.NewToken,),
    "UndoRequest": (perdure.UndoResult,),
    "UpdateRequest": (perdure.Updated,),
}
"""What comes of each exported request."""


def parts_of(hint: Any) -> set[type]:
    """Return the models and choices that a type names, and all that these are made of."""
    found: set[type] = {hint} if inspect.isclass(hint) and issubclass(hint, BaseModel | OpenEnum) else set()
    fields = hint.model_fields.values() if inspect.isclass(hint) and issubclass(hint, BaseModel) else ()
    return found.union(*map(parts_of, (*get_args(hint), *(field.annotation for field in fields))))


def test_with_a_request_goes_all_that_it_is_made_of_and_all_that_comes_of_it() -> None:
    exported = {name: getattr(perdure, name) for name in perdure.__all__}
    requests = {name: one for name, one in exported.items() if inspect.isclass(one) and issubclass(one, Request)}
    assert requests.keys() == RESULTS.keys()
    needed = {part for name, one in requests.items() for whole in (one, *RESULTS[name]) for part in parts_of(whole)}
    assert {part.__name__ for part in needed - {*exported.values()}} == set()


def test_the_errors_that_the_gateway_documents_are_exported() -> None:
    known = {name for name, one in vars(errors).items() if inspect.isclass(one)}
    sources = [path.read_text(encoding="utf-8") for path in Path("worker/gateway").glob("*.py")]
    documented = {name for source in sources for name in re.findall(r"^ +([A-Z][A-Za-z]+): ", source, re.MULTILINE)}
    assert (documented & known) - {*perdure.__all__} == set()


def test_what_the_gateway_takes_and_returns_is_exported() -> None:
    calls = [call for name, call in inspect.getmembers(Gateway, inspect.isfunction) if not name.startswith("_")]
    hints = [hint for call in calls for hint in get_type_hints(inspect.unwrap(call), None, LAZY).values()]
    needed = {part for hint in hints for part in parts_of(hint) if part.__module__.startswith("perdure.")}
    assert {part.__name__ for part in needed - {getattr(perdure, name) for name in perdure.__all__}} == set()


def test_the_playbook_uses_nothing_but_the_public_face() -> None:
    sources = [path.read_text(encoding="utf-8") for path in Path("playbooks").rglob("*.py")]
    imports = {line for source in sources for line in source.splitlines() if "perdure" in line and "import" in line}
    assert all(line.startswith("from perdure import ") for line in imports)
    assert Path(perdure.__file__).with_name("py.typed").exists()


def test_the_contract_keeps_temporal_out_of_every_module_but_its_own_folder() -> None:
    contracts = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    [contract] = [one for one in contracts if one.get("forbidden_modules") == ["temporalio"]]
    found = {f"perdure.{path.stem}" for path in Path("perdure").iterdir() if path.is_dir() or path.suffix == ".py"}
    left_out = {"perdure.temporal", "perdure.testing", "perdure.settings", "perdure.__init__", "perdure.__pycache__"}
    assert {*contract["source_modules"]} == found - left_out
