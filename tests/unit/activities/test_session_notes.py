"""What is taken back of a session is what a held memory came from, and nothing that only looks like it."""

from datetime import UTC, datetime

from activities.session_notes import place_of
from perdure.agent.goal_calls import path_of
from perdure.agent.steps.calls import Acting, RememberCall
from perdure.agent.steps.items import items_of
from perdure.memory.writing import behaviour
from perdure.skills.steps import RememberStep
from perdure.skills.templates import MemoryTemplate

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def remembered(turn: int, place: int) -> str:
    """Return the occurrence of what a model remembers."""
    template = MemoryTemplate(memory="The user usually books window seats.")
    call = RememberCall(
        tenant="t_1",
        session="s",
        task_id="trip",
        path=path_of(turn, place),
        occurred_at=NOW,
        step=RememberStep(id="call", remember=(template,)),
        acting=Acting(user="ada", agent="worker", skill="", task_skill="", date=NOW.date(), done=0),
    )
    [item], _ = items_of(call.step.remember, {}, call)
    return item.item.occurrence


def test_a_held_memory_of_a_model_takes_back_no_turn_that_is_called_as_its_task() -> None:
    places = {place_of(remembered(*call)) for call in ((1, 0), (1, 1), (2, 0))}
    assert places == {"trip/turn[1].call[0]", "trip/turn[1].call[1]", "trip/turn[2].call[0]"}
    assert place_of("trip") not in places
    assert place_of("trip#2") not in places


def test_all_that_a_model_remembers_in_one_task_is_observed_in_one_place() -> None:
    assert {behaviour.place_of(remembered(*call)) for call in ((1, 0), (1, 1), (2, 0))} == {"trip"}
