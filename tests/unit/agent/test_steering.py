"""A task is paused and goes on: each request counts once, whatever is sent again or rolled over in between."""

from datetime import UTC, datetime

import pytest

from perdure.agent.steering import HANDLED_KEPT, INTERVENTIONS_KEPT, Steering
from perdure.changes import Actor, ActorKind
from perdure.errors import InvalidTask
from perdure.model import Instant
from perdure.steering import LONGEST_SENDER, InterventionKind, PauseRequest, Steered

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ADA = Actor(kind=ActorKind.PERSON, id="ada")


def rolled(steering: Steering) -> Steering:
    """Return what the next run of the task has."""
    return Steering(Steered.model_validate_json(steering.steered.model_dump_json()))


def asked(identifier: str = "", **more: str) -> PauseRequest:
    return PauseRequest(id=identifier, by=ADA, **more)


def paused(request: PauseRequest, at: Instant = NOW) -> Steering:
    steering = Steering(Steered())
    steering.check_pause(request)
    steering.pause(request, at)
    return steering


def test_who_paused_it_when_and_why_is_kept_until_it_goes_on() -> None:
    steering = rolled(paused(asked(because="the shop is closed")))
    assert steering.paused is not None
    assert steering.paused.told == "paused by person ada on 2026-01-02 00:00:00 UTC: the shop is closed"
    steering.check_resume(asked())
    steering.resume(asked(), NOW)
    assert (steering.is_paused, steering.paused) == (False, None)
    kinds = [one.kind for one in steering.steered.interventions]
    assert kinds == [InterventionKind.PAUSED, InterventionKind.RESUMED]
    assert steering.steered.interventions[1].told == "resumed by person ada on 2026-01-02 00:00:00 UTC"


def test_what_changes_nothing_is_refused_with_the_reason() -> None:
    steering = paused(asked("one"))
    with pytest.raises(InvalidTask, match=r"task: is paused by person ada on 2026-01-02 .* \(perdure resume"):
        steering.check_pause(asked("two"))
    steering.resume(asked(), NOW)
    with pytest.raises(InvalidTask, match="task: is not paused"):
        steering.check_resume(asked("three"))


def test_a_request_that_comes_again_is_accepted_and_changes_nothing() -> None:
    steering = rolled(paused(asked("one")))
    steering.check_pause(asked("one"))
    steering.pause(asked("one"), NOW)
    steering.resume(asked("two"), NOW)
    for request in (asked("one"), asked("two")):
        steering.check_pause(request)
        steering.check_resume(request)
        steering.pause(request, NOW)
    assert not steering.is_paused
    assert (steering.received, len(steering.steered.interventions)) == (4, 2)
    steering.pause(asked(), NOW)
    steering.resume(asked("two"), NOW)
    assert steering.is_paused, "a late duplicate does not have it go on"


def test_what_is_kept_is_bounded_and_counted() -> None:
    steering = Steering(Steered())
    for number in range(HANDLED_KEPT + 3):
        steering.pause(asked(f"p{number}"), NOW)
        steering.resume(asked(f"r{number}"), NOW)
    kept = steering.steered
    assert (len(kept.handled), kept.handled[-1]) == (HANDLED_KEPT, f"r{HANDLED_KEPT + 2}")
    assert len(kept.interventions) == INTERVENTIONS_KEPT
    assert steering.received == 2 * (HANDLED_KEPT + 3)
    assert steering.received_bytes > steering.received * 30


def test_a_task_that_ends_does_not_pause_any_more() -> None:
    steering = paused(asked())
    steering.close()
    assert (steering.paused, steering.is_paused) == (None, False)
    for check in (steering.check_pause, steering.check_resume):
        with pytest.raises(InvalidTask, match="task: is ending"):
            check(asked())


def test_what_is_malformed_is_refused_with_its_field() -> None:
    steering = Steering(Steered())
    long = PauseRequest(by=Actor(kind=ActorKind.PERSON, id="x" * (LONGEST_SENDER + 1)))
    with pytest.raises(InvalidTask, match="by: has an id of 201 characters"):
        steering.check_pause(long)
    with pytest.raises(InvalidTask, match=r"becuase: is not a field here \(did you mean 'because'"):
        steering.check_pause(PauseRequest.model_validate({"becuase": "x"}))
