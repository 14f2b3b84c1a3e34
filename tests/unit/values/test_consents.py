"""What holds of a user's consent: what was said last, and what holds of who has said nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure.errors import TenantErased
from perdure.values.changes import Actor, ActorKind
from perdure.values.consents import Consent, is_granted, latest, refusal, withdrawn, withheld
from perdure.values.entries import Purpose
from perdure.values.erasures import Erasure, highest, require_none_since

NOW = datetime(2026, 5, 1, tzinfo=UTC)
BY = Actor(kind=ActorKind.PERSON, id="ada")


def said(purpose: Purpose, *, granted: bool, order: int = 0) -> Consent:
    return Consent(purpose=purpose, granted=granted, at=NOW, by=BY, order=order)


def test_who_said_nothing_has_given_what_they_gave_and_nothing_extracted() -> None:
    assert is_granted({}, Purpose.GIVEN)
    assert not is_granted({}, Purpose.EXTRACTED)
    assert not is_granted({}, Purpose("sold"))
    assert (withheld({}), withdrawn({})) == ((Purpose.EXTRACTED,), ())


def test_what_was_said_counts_and_what_is_withheld_by_default_was_not_withdrawn() -> None:
    found = latest([said(Purpose.EXTRACTED, granted=True), said(Purpose.GIVEN, granted=False)])
    assert (withheld(found), withdrawn(found)) == ((Purpose.GIVEN,), (Purpose.GIVEN,))
    assert is_granted(found, Purpose.EXTRACTED)


@pytest.mark.parametrize("turned", [False, True])
def test_the_greatest_order_counts_and_of_two_the_later_line(turned: bool) -> None:
    one, other = said(Purpose.GIVEN, granted=False, order=2), said(Purpose.GIVEN, granted=True, order=1)
    assert latest([other, one] if turned else [one, other]) == {Purpose.GIVEN: one}
    equal = said(Purpose.GIVEN, granted=True, order=2)
    assert latest([one, equal]) == {Purpose.GIVEN: equal}


def test_a_refusal_says_how_to_consent() -> None:
    assert "--grant extracted" in refusal(Purpose.EXTRACTED)


def erased(epoch: int, *, tenant: str = "t", removed: bool = False, at: datetime = NOW) -> Erasure:
    return Erasure(tenant=tenant, epoch=epoch, at=at, operation=f"erase {epoch}", removed=removed)


def test_of_several_erasures_the_highest_epoch_counts_and_of_one_that_it_has_ended() -> None:
    lines = [erased(2), erased(1, removed=True), erased(2, removed=True), erased(2), erased(1, tenant="u")]
    assert highest(lines) == {"t": erased(2, removed=True), "u": erased(1, tenant="u")}


def test_what_was_asked_before_an_erasure_or_at_its_moment_is_refused() -> None:
    require_none_since(NOW + timedelta(seconds=1), [None, erased(1)])
    for asked_at in (NOW, NOW - timedelta(seconds=1)):
        with pytest.raises(TenantErased, match="was erased after this was asked"):
            require_none_since(asked_at, [None, erased(1)])
