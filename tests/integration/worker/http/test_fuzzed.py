"""The document is true: requests made of it, good and bad, get no answer that it does not have, and never a 500."""

import importlib
import time
from collections import Counter
from contextlib import suppress
from typing import Any

import anyio.to_thread
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from perdure.values.access_tokens import TokenScope
from tests.support.http_service import Service
from tests.support.issuer import Issuer
from worker.http.document import documented

# Its types are partly unknown.
_own: Any = importlib.import_module("schemathesis.checks")
_openapi: Any = importlib.import_module("schemathesis.specs.openapi.checks")

CHECKS = [
    _own.not_a_server_error,
    _openapi.status_code_conformance,
    _openapi.content_type_conformance,
    _openapi.response_headers_conformance,
    _openapi.response_schema_conformance,
]

UNAVAILABLE = 503
"""What a store says that does not answer in time beside other tests: an answer that the document has."""


ERASE = "/v2/control/erase"

LASTS = 1_500
"""Seconds that all requests may take together."""


@pytest.mark.slow
@pytest.mark.timeout(LASTS)
async def test_no_request_gets_an_answer_that_is_not_documented(service: Service, provider: Issuer, user: str) -> None:
    own = await service.token(user_id=user, person=True)
    # An erasure ends the tokens of its user that were made here, and no provider's; it reaches nobody else's memory.
    until = int(time.time()) + LASTS
    erasing = provider.token(sub=f"erased {user}", scope=f"perdure:{TokenScope.ERASE}", exp=until)
    schema: Any = schemathesis.openapi.from_dict(documented(service.app))
    schema.config.update(base_url=service.url)
    found: list[str] = []
    answers = Counter[tuple[str, int]]()
    for result in schema.get_all_operations():
        operation = result.ok()
        token = erasing if operation.path == ERASE else own
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            await anyio.to_thread.run_sync(_try, operation, mode, token, found, answers)
    assert found == []
    # The control: they got further than to the gate, and were not all refused, by a protocol of its own neither.
    statuses = Counter[int]()
    for (_, status), number in answers.items():
        statuses[status] += number
    assert min(answers["/mcp", 200], answers["/mcp", 202], answers["/mcp", 400]) > 0, answers
    assert min(answers[ERASE, 200], answers[ERASE, 404], answers[ERASE, 422]) > 0, answers
    assert statuses.total() > 500, statuses
    assert statuses[UNAVAILABLE] < statuses.total() / 4, statuses
    assert min(statuses[200], statuses[404], statuses[422]) > 0, statuses


def _try(operation: Any, mode: GenerationMode, token: str, found: list[str], answers: Counter[tuple[str, int]]) -> None:
    @seed(1)
    @settings(
        max_examples=25,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def tried(case: Any) -> None:
        answer = case.call(headers={"Authorization": f"Bearer {token}"}, timeout=60)
        answers[operation.path, answer.status_code] += 1
        if answer.status_code == UNAVAILABLE:
            return
        try:
            case.validate_response(answer, checks=CHECKS)
        except (Exception, BaseExceptionGroup) as problem:  # noqa: BLE001  every finding is told, and not only the first
            told = f"{operation.method} {operation.path}: {answer.status_code} {str(problem)[:2_000]}"
            if len(found) < 20:
                found.append(told)

    # What takes nothing cannot be asked wrongly.
    with suppress(Unsatisfiable):
        tried()
