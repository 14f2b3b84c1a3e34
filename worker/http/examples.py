"""What the OpenAPI document shows as answers: one story, of a user to whom a rule about deploys matters. Data alone."""

from collections.abc import Mapping
from typing import Any

from perdure.names import Workflow

_MEMORY = "mem_8c2f4e0b9d7a41c6a5e3f1b20c9d8e7f"
_JOB = "ingest-3f2b8c1d9a7e4f60"
_TASK = "task-restock-1-9f86d081884c"
_SAID = "2026-05-01T12:00:00Z"
_TEXT = "Deploys happen on Tuesdays."
_HOLD = "hold-t_51f0c4a2-6b1f0c9a"
_ADA = {"kind": "person", "id": "ada"}

_ENTRY = {
    "kind": "memory",
    "id": _MEMORY,
    "text": _TEXT,
    "memory_type": "fact",
    "source": "explicit",
    "confidence": 0.9,
    "recorded_at": _SAID,
    "first_seen": _SAID,
    "last_seen": _SAID,
    "occurrences": ["meeting-12/3"],
    "version": 1,
}
_RECEIPT = {
    "job_id": _JOB,
    "items": [{"index": 0, "id": _MEMORY, "fate": "searchable", "decision": "insert", "reason": "nothing was known"}],
}
_QUESTION = {
    "id": "order",
    "kind": "approval",
    "text": "Order 40 bolts?",
    "answer": {"type": "yes_no"},
    "asked_at": _SAID,
    "until": "2026-05-08T12:00:00Z",
    "otherwise": "no",
}
_RESULT = {"task_id": "restock-1", "status": "completed", "output": "ordered 40 bolts", "done": 3, "recalled": 1}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "AcceptedBatch": {"job_id": _JOB},
    "Alive": {"status": "ok"},
    "Consents": {"tenant": "t_51f0c4a2", "granted": {"given": True, "extracted": False}},
    "Decided": {"outcome": "approved", "by": _ADA, "at": _SAID, "receipt": _RECEIPT},
    "Done": {"workflow_id": _TASK},
    "ErasureReceipt": {
        "tenant": "t_51f0c4a2",
        "epoch": 2,
        "at": _SAID,
        "entries": 12,
        "keys": 31,
        "executions": 4,
        "proved": True,
        "unreachable": ["archived histories, and other Temporal clusters that replicate this one"],
    },
    "Held": {"id": _HOLD, "question": {**_QUESTION, "text": "May this be remembered: 'Ada is in Ghent'?"}},
    "JobState": {"job_id": _JOB, "status": "done", "receipt": _RECEIPT},
    "ListedSkill": {
        "name": "restock",
        "version": "5d41402abc4b2a76",
        "description": "Orders what is running out, once somebody agrees.",
        "inputs": {"sku": {"type": "string", "required": True}},
        "steps": ["look", "order"],
    },
    "ListedTask": {
        "workflow_id": _TASK,
        "task_id": "restock-1",
        "phase": "completed",
        "skill": "restock",
        "agent": "agent",
        "started_at": _SAID,
        "ended_at": "2026-05-01T12:30:00Z",
        "started_by": _ADA,
    },
    "Memories": {"memories": [_ENTRY]},
    "MemoryHistory": {
        "memory": _ENTRY,
        "versions": [{"version": 1, "at": _SAID, "by": _ADA, "why": "nothing was known", "entry": _ENTRY}],
    },
    "OpenQuestion": {
        "workflow_id": _TASK,
        "kind": Workflow.RESUMABLE_AGENT.value,
        "asker": "restock-1",
        "question": _QUESTION,
    },
    "RecallResult": {
        "items": [
            {
                "id": _MEMORY,
                "kind": "memory",
                "text": _TEXT,
                "memory_type": "fact",
                "found_by": "meaning",
                "score": 0.82,
                "parts": {"cosine": 0.71, "words": 0.11},
                "confidence": 0.9,
                "recorded_at": _SAID,
                "last_seen": _SAID,
                "version": 1,
                "seen": 1,
                "why": "relevance 0.82",
            }
        ],
        "trigger": "no_key",
        "milliseconds": 41.5,
        "context": f"What is known:\n- {_TEXT}",
    },
    "StartedTask": {"workflow_id": _TASK, "new": True, "checked": True},
    "Status": {
        "components": [
            {"component": "temporal", "reachable": True, "since": _SAID, "latency_ms": 1.4},
            {"component": "weaviate", "reachable": False, "since": _SAID, "problem": "no answer within 2 s"},
        ]
    },
    "TaskExplanation": {
        "recalls": [
            {
                "step": "look",
                "recalled": 1,
                "ids": [_MEMORY],
                "scores": [0.82],
                "why": "no_key",
                "degraded": False,
                "milliseconds": 41.5,
            }
        ],
        "receipts": [_RECEIPT],
        "texts": {_MEMORY: _TEXT},
        "versions": {"restock": "5d41402abc4b2a76"},
    },
    "TaskStanding": {"workflow_id": _TASK, "is_open": False, "phase": "completed", "result": _RESULT},
    "Updated": {"tenant": "t_51f0c4a2", "id": _MEMORY, "versions": {_MEMORY: 2}},
}
"""By the name of the answer's model."""

PARAMETERS: Mapping[str, str | int] = {
    "job_id": _JOB,
    "memory_id": _MEMORY,
    "hold_id": _HOLD,
    "workflow_id": _TASK,
    "name": "restock",
    "user_id": "ada",
    "of": "team:ops",
    "lane": "pattern",
    "key": "deploys",
    "wait": 30,
    "limit": 50,
    "Idempotency-Key": "meeting-12",
}
"""By the name of the parameter, wherever it is one."""
