"""Recorded histories as files: how they are read, and written without a trace of the machine. Runs nothing."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from temporalio.api.enums.v1 import TaskQueueKind
from temporalio.client import WorkflowHistory

FOLDER = Path(__file__).parents[1] / "recorded" / "next" / "histories"
"""Recorded anew until the first tag; then a folder of the tag's name is never written again."""

RECORDER = "recorder"
"""What stands for the process and the host that ran a workflow."""

_UNREAD = {"stackTrace", "taskId", "requestId", "workerVersion", "meteringMetadata", "retryPolicy"}
"""Fields that no replay reads: paths of the machine, and noise."""

_PLACES = re.compile(r"/(?:home|root|tmp|var|work|Users|private|usr|opt|mnt)/|[A-Za-z]:\\\\|\d+@\w")
"""Paths of a machine, and Temporal's identities (``pid@host``)."""


def names(folder: Path = FOLDER) -> list[str]:
    """Return the names of all histories, sorted."""
    return sorted(path.stem for path in folder.glob("*.json"))


def read(file: Path) -> WorkflowHistory:
    """Read a history; ``temporal workflow show --output json`` writes the same."""
    text = file.read_text(encoding="utf-8")
    started = json.loads(text)["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(started["workflowId"], text)


def write(file: Path, history: WorkflowHistory) -> None:
    """Write a history, one event a line, without what no replay reads."""
    scrubbed = _scrubbed(history.to_json_dict(), "")
    lines = [json.dumps(event, sort_keys=True, separators=(",", ":")) for event in scrubbed["events"]]
    file.write_text('{"events":[\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def workflow_type(history: WorkflowHistory) -> str:
    """Return the name of the workflow whose history it is."""
    return history.events[0].workflow_execution_started_event_attributes.workflow_type.name


def traces(text: str) -> list[str]:
    """Return what a history in JSON reveals of the machine it was made on, its payloads included."""
    found: list[str] = []
    for readable in legible(text):
        if match := _PLACES.search(readable):
            found.append(readable[max(0, match.start() - 40) : match.end() + 60])
    return found


def legible(text: str) -> Iterator[str]:
    """Yield the texts in a history in JSON, as they are and decoded, as its payloads are encoded."""
    for value in _strings(json.loads(text)):
        yield from (value, _decoded(value))


def _scrubbed(value: Any, name: str) -> Any:
    match value:
        case dict():
            fields = cast("dict[str, Any]", value)
            if fields.get("kind") == TaskQueueKind.Name(TaskQueueKind.TASK_QUEUE_KIND_STICKY):
                fields = fields | {"name": RECORDER}
            return {key: _scrubbed(one, key) for key, one in fields.items() if key not in _UNREAD}
        case list():
            return [_scrubbed(one, name) for one in cast("list[Any]", value)]
        case _:
            return RECORDER if name == "identity" else value


def _strings(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for one in cast("dict[str, Any]", value).values():
                yield from _strings(one)
        case list():
            for one in cast("list[Any]", value):
                yield from _strings(one)
        case str():
            yield value
        case _:
            pass


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return ""


def end_of(history: WorkflowHistory) -> str:
    """Return how a history ends: the kind of its last event."""
    kind = history.events[-1].WhichOneof("attributes") or ""
    return kind.removeprefix("workflow_execution_").removesuffix("_event_attributes")
