"""What ``perdure erase`` makes of a receipt that proves nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from perdure.values.erasures import UNREACHABLE, ErasureReceipt
from worker.cli import erase
from worker.cli.commands import app

RECEIPT = ErasureReceipt(
    tenant="t_1",
    epoch=1,
    at=datetime(2026, 5, 1, tzinfo=UTC),
    entries=1,
    keys=2,
    executions=3,
    unreachable=UNREACHABLE,
)


class Erasing:
    """A gateway whose erasures end with a receipt."""

    def __init__(self, receipt: ErasureReceipt) -> None:
        self._receipt = receipt

    async def erase(self, *_: Any, **__: Any) -> ErasureReceipt:
        """Return the receipt."""
        return self._receipt


@pytest.mark.parametrize("json", [(), ("--json",)])
@pytest.mark.parametrize("proved", [True, False])
def test_an_erasure_that_is_not_proved_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, proved: bool, json: tuple[str, ...]
) -> None:
    def opened(_: object) -> Erasing:
        return Erasing(RECEIPT.changed(proved=proved))

    monkeypatch.setattr(erase, "gateway", opened)
    ran = CliRunner().invoke(app, ["memories", "erase", "--user", "ada", "--yes", *json])
    assert ran.exit_code == (0 if proved else 1), ran.output
    assert ("NOT PROVED" in ran.stdout) is (not proved and not json)
