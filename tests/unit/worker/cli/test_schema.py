"""``perdure schema``: the schemas for editors."""

import json

import pytest
from typer.testing import CliRunner

from perdure.reference.schema import WRITTEN, schema_of
from worker.cli.commands import app


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_schema_is_printed(kind: str) -> None:
    ran = CliRunner().invoke(app, ["schema", kind])
    assert (ran.exit_code, json.loads(ran.stdout)) == (0, schema_of(kind))


def test_one_that_there_is_not_is_named() -> None:
    ran = CliRunner().invoke(app, ["schema", "skil"])
    assert (ran.exit_code, "did you mean 'skill'" in ran.stderr) == (2, True)
