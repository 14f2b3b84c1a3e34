"""``perdure audit``: what was done with a user's memories, and whether anybody has tampered with that."""

import getpass
import json
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import Servers
from tests.integration.worker.cli.installation import Installation, nothing_configured

pytestmark = pytest.mark.slow


async def test_what_was_done_is_shown_and_tampering_is_named(
    installed: Installation, servers: Servers, tmp_path: Path
) -> None:
    user = f"user {uuid4().hex}"
    assert (await installed.perdure("remember", "The boiler is a Vaillant.", "--user", user)).status == 0
    assert (await installed.perdure("recall", "Which boiler is it?", "--user", user)).status == 0

    # It needs no server.
    shown = await installed.perdure("audit", "show", "--user", user, "--json", **nothing_configured())
    assert shown.status == 0, shown.err
    lines = json.loads(shown.out)
    assert [(line["kind"], line["by"]["id"], list(line["ids"])) for line in lines] == [
        ("changed", getpass.getuser(), ["insert"]),
        ("read", getpass.getuser(), ["recall"]),
    ]
    [one] = lines[0]["ids"]["insert"]
    told = await installed.perdure("audit", "show", "--user", user)
    assert f"insert: {one}" in told.out
    assert "Vaillant" not in told.out + shown.out
    later = await installed.perdure("audit", "show", "--user", user, "--since", "2100-01-01")
    assert (later.status, later.out) == (0, "")

    sound = await installed.perdure("audit", "verify")
    assert sound.status == 0, sound.out
    assert "is missing or was changed" in sound.out

    journal = Path(installed.environment["PERDURE_JOURNAL"])
    shutil.copytree(journal / "audit", tmp_path / "audit")
    shutil.copy(journal / "journal.id", tmp_path)
    [changed] = [path for path in (tmp_path / "audit").iterdir() if one.encode() in path.read_bytes() and _wrote(path)]
    place = next(n for n, line in enumerate(changed.read_bytes().splitlines(), 1) if one.encode() in line)
    changed.write_bytes(changed.read_bytes().replace(one.encode(), one[:-1].encode() + b"x", 1))
    found = await installed.perdure("audit", "verify", "--json", PERDURE_JOURNAL=str(tmp_path))
    assert found.status == 1
    expected = {"file": changed.name, "line": place, "what": "is not as it was written"}
    assert expected in json.loads(found.out)["problems"]

    # In a database of its own: what it says of its chain would be missed in the journal that all tests share.
    alone = {"PERDURE_JOURNAL": str(tmp_path), "PERDURE_REDIS_URL": f"{servers.redis_url}/9"}
    refused = await installed.perdure("audit", "accept", **alone)
    assert (refused.status, "cannot be accepted" in refused.out) == (1, True)

    changed.unlink()
    # What was held by no other chain is known to Redis.
    lost = await installed.perdure("audit", "verify", PERDURE_JOURNAL=str(tmp_path))
    assert (lost.status, f"{changed.name}: is missing" in lost.out) == (1, True)
    examined = await installed.perdure("doctor", "--json", PERDURE_JOURNAL=str(tmp_path))
    [ill] = [one for one in json.loads(examined.out) if one["check"] == "audit"]
    assert (ill["ok"], "perdure audit accept" in ill["fix"]) == (False, True)
    examined = await installed.perdure("doctor", "--json")
    [well] = [one for one in json.loads(examined.out) if one["check"] == "audit"]
    assert well["ok"], well


def _wrote(path: Path) -> bool:
    return b'"insert"' in path.read_bytes()


async def test_old_files_are_removed_and_young_ones_are_not(installed: Installation) -> None:
    removed = await installed.perdure("audit", "remove", "--older", "365")
    assert (removed.status, removed.out) == (0, "removed 0 files\n")
    hasty = await installed.perdure("audit", "remove", "--older", "1")
    assert hasty.status == 2
