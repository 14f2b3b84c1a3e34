"""What a webhook is sent when a person is asked, and how its receiver checks that Perdure sent it. Pure.

Each delivery of one question has the same event id and the same body, byte for byte. Only the signature differs, as it
covers the time of the delivery.
"""

import hashlib
import hmac
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from perdure.identity import digest
from perdure.model import Instant, OpenEnum, Passed
from perdure.values.questions import Question

SIGNATURE = "Perdure-Signature"
"""The header with the signature: ``t=1767312000,v1=<hex>``."""

EVENT_ID = "Perdure-Event-Id"
"""The header with the event's id."""

IDEMPOTENCY_KEY = "Idempotency-Key"
"""The header with the event's id, as receivers know it that recognise duplicates."""

ASKED_TYPE = "question.asked"
"""The type of the only event that there is so far."""

TOLERANCE = timedelta(minutes=5)
"""How old a signature may be: a choice, for a request that takes long, and clocks that differ."""

_HEADER = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")


class Notice(Passed):
    """That a person is asked, on its way to the webhook: the input of its delivery."""

    event: str
    """The event's id: the same for each delivery."""
    body: str
    """What is sent, as JSON."""
    workflow_id: str
    """The workflow that asks."""
    question_id: str
    until: Instant
    """When it is no longer asked, and no longer delivered."""


class NoticeFate(OpenEnum):
    """What became of a notice. An unknown fate is only shown."""

    DELIVERED = "delivered"
    ANSWERED = "answered"
    """The question was answered, or is no longer asked, before the webhook accepted it."""
    EXPIRED = "expired"
    """The webhook did not accept it before the question's deadline."""
    UNCONFIGURED = "unconfigured"
    """The installation has no webhook any more."""


def notice_of(workflow_id: str, kind: str, question: Question, until: Instant, *, content: bool) -> Notice:
    """Return the notice of a question.

    Args:
        workflow_id: The workflow that asks.
        kind: Its type.
        question: The question.
        until: When it is no longer asked.
        content: Whether its text, and what it is about, may be in it.
    """
    asked_at = question.asked_at.isoformat() if question.asked_at else ""
    event = f"evt_{digest('webhook/1', workflow_id, question.id, asked_at)[:32]}"
    asked: dict[str, Any] = {
        "id": question.id,
        "kind": question.kind.value,
        "answer": question.answer.model_dump(mode="json") if content else {"type": question.answer.type.value},
        "asked_at": asked_at or None,
        "until": until.isoformat(),
    }
    if content:
        about = question.about.model_dump(mode="json") if question.about else None
        asked |= {"text": question.text, "about": about, "otherwise": question.otherwise}
    told = {"id": event, "type": ASKED_TYPE, "workflow_id": workflow_id, "workflow_type": kind, "question": asked}
    body = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return Notice(event=event, body=body, workflow_id=workflow_id, question_id=question.id, until=until)


def signature(body: bytes, secret: str, at: datetime) -> str:
    """Return the signature of a delivery: HMAC-SHA256 over its time and body, under the installation's secret.

    >>> signature(b"{}", "secret", datetime(2026, 1, 2, tzinfo=UTC))[:24]
    't=1767312000,v1=bf684d4b'
    """
    moment = int(at.timestamp())
    return f"t={moment},v1={_mac(moment, body, secret)}"


def is_signed(body: bytes, header: str, secret: str, *, at: datetime | None = None) -> bool:
    """Return whether a delivery was signed with a secret, not long ago: for the receiver of a webhook.

    Args:
        body: The request's body as it came, before it is parsed.
        header: The request's header ``Perdure-Signature``.
        secret: The installation's ``PERDURE_WEBHOOK_SECRET``.
        at: The time; now if left out.

    >>> is_signed(b"{}", signature(b"{}", "secret", datetime.now(UTC)), "secret")
    True
    """
    if not (found := _HEADER.fullmatch(header)):
        return False
    moment, now = int(found[1]), (at or datetime.now(UTC)).timestamp()
    is_recent = abs(now - moment) <= TOLERANCE.total_seconds()
    return hmac.compare_digest(_mac(moment, body, secret), found[2]) and is_recent


def _mac(moment: int, body: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
