"""``perdure memories members``, and ``--of``: a team's memory from the command line."""

import getpass
import json
from uuid import uuid4

import pytest

from tests.integration.worker.cli.installation import Installation

pytestmark = pytest.mark.slow


async def test_members_are_added_listed_and_removed_and_others_are_told_nothing(installed: Installation) -> None:
    team, user = f"team:{uuid4().hex[:12]}", f"user {uuid4().hex}"
    whose = ("--user", user, "--of", team)
    unknown = await installed.perdure("recall", "train", *whose)
    assert (unknown.status, "PRD107 of: this user belongs to no" in unknown.complaint) == (2, True)
    added = await installed.perdure("memories", "members", "add", team, user, "--json")
    assert json.loads(added.out) == {"of": team, "user_id": user, "belongs": True}
    [one] = json.loads((await installed.perdure("memories", "members", "list", team, "--json")).out)
    assert (one["user_id"], one["by"]) == (user, {"kind": "person", "id": getpass.getuser()})
    told = await installed.perdure("remember", "The train is late.", *whose, "--json")
    assert told.status == 0, told.err
    identifier = json.loads(told.out)["items"][0]["id"]
    shown = await installed.perdure("memories", "show", identifier, *whose)
    assert shown.out.startswith("The train is late.\n")
    audited = await installed.perdure("audit", "show", "--of", team)
    assert "member added: t_" in audited.out
    await installed.perdure("memories", "members", "remove", team, user)
    again = await installed.perdure("memories", "show", identifier, *whose)
    assert (again.status, again.complaint) == (2, unknown.complaint)


async def test_what_names_no_owner_is_refused(installed: Installation) -> None:
    named = await installed.perdure("memories", "members", "add", "ops", "ada")
    assert "of: 'ops' is not a valid team or agent (write team:NAME or agent:NAME" in named.complaint
    spoke = await installed.perdure("recall", "train", "--user", "team:ops")
    assert "begins with 'team:', which names the memory of a team or an agent, and no user" in spoke.complaint
    both = await installed.perdure("audit", "show", "--user", "ada", "--of", "team:ops")
    assert "give one of --user, --of and --installation" in both.complaint
