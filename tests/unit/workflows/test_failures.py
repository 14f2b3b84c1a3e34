"""What a question is on its way from an activity that did not act to the workflow."""

import dataclasses

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.testing import ActivityEnvironment

from activities.steps import asking
from perdure.agent.steps.calls import Asks
from perdure.temporal.converter import composed
from perdure.temporal.heartbeats import beating
from perdure.values.questions import AnswerSpec, Question, QuestionKind
from tests.integration.temporal.test_plugin import Upside
from workflows.failures import asks_of, is_final, last_attempt, may_have_acted, problem_of, tokens_of

ASKS = Asks(
    question=Question(id="a", kind=QuestionKind.UNKNOWN_EFFECT, text="Did North pay?", answer=AnswerSpec()),
    resume={"claim": "of somebody"},
)


async def _failed() -> ApplicationError:
    async with beating():
        return asking(ASKS, "shops[0].pay")


async def test_a_question_travels_whole_and_where_content_is_encrypted_it_is_too() -> None:
    converter = composed(dataclasses.replace(DataConverter.default, payload_codec=Upside()))
    failed, failure = await ActivityEnvironment().run(_failed), Failure()
    await converter.encode_failure(failed, failure)
    info = failure.application_failure_info
    assert (info.type, info.non_retryable, info.category) == ("Asks", True, 1)
    assert "North" not in failure.message
    assert not any(text in failure.SerializeToString() for text in (b"North", b"somebody"))
    found = await converter.decode_failure(failure)
    assert isinstance(found, FailureError)
    assert asks_of(found) == ASKS
    assert is_final(found)
    assert not may_have_acted(found)
    attempt = last_attempt(found)
    assert attempt is not None
    assert not attempt.acted


@pytest.mark.parametrize("type_", [None, "Blocked", "ToolFailed"])
def test_no_other_failure_is_a_question(type_: str | None) -> None:
    assert asks_of(ApplicationError("no", "", "", ASKS.model_dump_json(), type=type_)) is None


@pytest.mark.parametrize("details", [("order 7", "try tomorrow"), ({"a": 1}, {"b": 2}), ("", '{"acted": 1}')])
def test_details_that_others_give_their_failures_say_nothing_of_an_attempt(details: tuple[object, ...]) -> None:
    failed = ApplicationError("the shop is closed", *details)
    assert last_attempt(failed) is None
    assert problem_of(failed).startswith("the shop is closed")
    assert tokens_of(failed) == 0
