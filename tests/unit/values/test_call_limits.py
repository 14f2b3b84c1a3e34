import pytest
from pydantic import ValidationError

from perdure import CallLimit, InvalidInput, tool


@pytest.mark.parametrize("given", [{}, {"at_once": 1, "per_minute": 1}, {"at_once": 0}, {"per_minute": -1}])
def test_a_limit_says_one_thing(given: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        CallLimit.model_validate(given)


@pytest.mark.parametrize(
    ("limits", "quick", "problem"),
    [
        ((CallLimit(at_once=1), CallLimit(at_once=2)), False, "two limits of one kind"),
        ((CallLimit(per_minute=1, per_user=True), CallLimit(per_minute=2, per_user=True)), False, "two limits"),
        ((CallLimit(at_once=1),), True, "waits for no turn"),
    ],
)
def test_limits_that_do_not_go_together_are_refused(limits: tuple[CallLimit, ...], quick: bool, problem: str) -> None:
    async def act() -> None:
        pass

    with pytest.raises(InvalidInput, match=problem):
        tool(effect="read", quick=quick, limits=limits)(act)


def test_a_tool_may_have_one_limit_of_each_kind() -> None:
    limits = [
        CallLimit(**{kind: 1}, per_user=per_user) for kind in ("at_once", "per_minute") for per_user in (True, False)
    ]

    @tool(effect="read", limits=limits)
    async def act() -> None:
        pass

    assert act.limits == tuple(limits)
