"""``perdure memories erase``: it asks first, erases everything, proves it, and says what it does not reach."""

import json

from perdure.values.erasures import ErasureReceipt
from tests.integration.worker.cli.installation import Installation

FACT = "The office is in Ghent."


async def listed(installed: Installation, user: str) -> list[str]:
    ran = await installed.perdure("memories", "list", "--user", user, "--json")
    assert ran.status == 0, ran.err
    return [entry["text"] for entry in json.loads(ran.out)]


async def test_nothing_is_erased_before_somebody_says_that_it_is_meant(installed: Installation, user: str) -> None:
    assert (await installed.perdure("remember", FACT, "--user", user)).status == 0
    piped = await installed.fed(f"{user}\n", "memories", "erase", "--user", user)
    assert piped.status == 2
    assert "--yes: is missing (add --yes, or run it in a terminal and type the user id)" in piped.complaint
    mistyped = await installed.typing("another user", "memories", "erase", "--user", user)
    assert (mistyped.status, "--user: is not what you typed; nothing was erased" in mistyped.complaint) == (2, True)
    empty = await installed.perdure("memories", "erase", "--user", "", "--yes")
    assert (empty.status, "--user: is empty (say whose memory)" in empty.complaint) == (2, True)
    assert await listed(installed, user) == [FACT]


async def test_what_is_typed_or_said_with_yes_is_erased_and_proved(installed: Installation, user: str) -> None:
    assert (await installed.perdure("remember", FACT, "--user", user)).status == 0
    typed = await installed.typing(user, "memories", "erase", "--user", user)
    assert typed.status == 0, typed.err
    assert "erased 1 entry, " in typed.out
    assert "proved: every store was asked again and has nothing left" in typed.out
    assert await listed(installed, user) == []
    again = await installed.perdure("memories", "erase", "--user", user, "--yes", "--json")
    assert again.status == 0, again.err
    receipt = ErasureReceipt.model_validate_json(again.out)
    assert (receipt.proved, receipt.entries, receipt.epoch > 1) == (True, 0, True)
    for unreachable in ("histories of your own workflows", "archived histories", "other Temporal clusters", "backups"):
        assert any(unreachable in one for one in receipt.unreachable), unreachable
        assert unreachable in typed.err
    assert any("only after this receipt" in one and "by the next reconciliation" in one for one in receipt.unreachable)
