"""What people ask for is checked before anything is sent."""

from pathlib import Path
from typing import Any

import pytest

from perdure import (
    Actor,
    ActorKind,
    EraseRequest,
    ForgetRequest,
    InvalidInput,
    Pinning,
    ReconcileRequest,
    RememberRequest,
    UndoRequest,
    UpdateRequest,
)
from tests.conftest import clean_settings
from worker.gateway import Gateway

ADA = Actor(kind=ActorKind.PERSON, id="ada")


@pytest.mark.parametrize(
    ("call", "request_"),
    [
        ("erase", EraseRequest.model_validate({"user_id": "u", "typo": 1})),
        ("forget", ForgetRequest.model_validate({"typo": 1})),
        ("reconcile", ReconcileRequest.model_validate({"typo": 1})),
        ("undo", UndoRequest.model_validate({"sweep": "f", "typo": 1})),
        ("update", UpdateRequest(user_id="u", id="m", update=Pinning.model_validate({"pinned": True, "typo": 1}))),
        ("remember", RememberRequest.model_validate({"user_id": "u", "key": "k", "items": [{}], "typo": 1})),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_an_unknown_field_is_refused_where_no_worker_is(tmp_path: Path, call: str, request_: Any) -> None:
    async with Gateway(clean_settings(tmp_path), None) as gateway:
        with pytest.raises(InvalidInput, match="typo: is not a field here"):
            await getattr(gateway, call)(request_, by=ADA)
