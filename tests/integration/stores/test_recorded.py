"""What an earlier build has stored without a model is read, as it was recorded, and a newer build's as well."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from localservers import Server
from perdure.errors import InvalidTask
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis import keys
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.claims import Claims, ClaimState, OnceEffect
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.weaviate.marks import WeaviateMarks
from perdure.values.losses import MARK_FORMAT, Mark
from tests.conftest import OwnServers
from tests.recorded import stored

pytestmark = pytest.mark.slow

NEWER = "a field of a newer build"


async def put(redis: Redis, key: str, fields: dict[str, str]) -> None:
    await ask(redis, "HSET", key, *(text for pair in fields.items() for text in pair))


def shape(form: Any) -> Any:
    """Return a stored form without its moments, and with the number of words of each of its texts."""
    if isinstance(form, dict):
        return {name: shape(part) for name, part in cast("dict[str, Any]", form).items()}
    return len(str(form).split())


async def test_what_was_recorded_is_what_is_stored_today_and_is_read_with_more_in_it(
    own_servers: OwnServers, tmp_path: Path
) -> None:
    recorded: dict[str, Any] = json.loads(stored.FILE.read_text(encoding="utf-8"))
    addresses = (await own_servers(Server.REDIS, Server.WEAVIATE)).addresses
    redis, weaviate = connect(addresses.redis_url), stored.connection(addresses)

    today = await stored.record(redis, weaviate, tmp_path / "today")
    assert shape(today) == shape(recorded), "record it anew: python -m tests.recorded.stored"

    for name, key in (
        ("claim", keys.claim(stored.TENANT, stored.effect("open").key)),
        ("result", keys.claim(stored.TENANT, stored.effect("done").key)),
        ("binding", keys.task(stored.TENANT, "task")[0]),
    ):
        await ask(redis, "DEL", key)
        await put(redis, key, {**recorded[name], NEWER: "x"})
    claims = Claims(redis, timedelta(minutes=5))
    done, seen = await claims.look(stored.effect("done")), await claims.look(stored.effect("open"))
    assert (done.holding, done.result, done.arguments) == (ClaimState.DONE, '{"value": 1}', stored.ARGUMENTS)
    assert (seen.holding, seen.owner, seen.problem) == (ClaimState.THEIRS, "owner", "TimeoutError")
    assert seen.at is not None
    assert not seen.remaining, "it was recorded long ago"
    taken = await claims.take_over(stored.effect("open"), "owner", "another", 5)
    assert taken.holding is ClaimState.OURS
    assert await ask(redis, "HGET", keys.claim(stored.TENANT, stored.effect("open").key), NEWER) == "x", "it is kept"
    with pytest.raises(InvalidTask, match="skill"):
        await claims.claim(other_skill(), "owner", 5)

    await ask(redis, "DEL", keys.MARKS, keys.AUDIT)
    await put(redis, keys.MARKS, more_words(recorded["redis_marks"]) | {NEWER: "x"})
    await put(redis, keys.AUDIT, more_words(recorded["audit_heads"]))
    marks = RedisMarks(redis)
    told = await marks.told()
    assert (told.journal, told.marks) == ("journal", {stored.PROCESS: stored.MARK})
    assert await marks.since() is not None
    assert await AuditHeads(redis).all() == [stored.HEAD]

    journal = JournalMarks(tmp_path / "recorded")
    await journal.begin("", "any")
    (journal.folder / "journal.id").write_text(recorded["journal_id"])
    await journal.write(stored.PROCESS, Mark(), new=True)
    newer = recorded["journal_mark"].replace(f"v{MARK_FORMAT}   ", f"7 v{MARK_FORMAT + 1} ")
    (journal.folder / ".marks" / stored.PROCESS).write_text(newer)
    told = await journal.told()
    assert (told.journal, told.marks) == ("journal", {stored.PROCESS: stored.MARK})

    kept = WeaviateMarks(weaviate, 5.0)
    form = more_words(recorded["weaviate_marks"])
    await kept.restore(form["journal"], cast("Any", {stored.PROCESS: form[stored.PROCESS]}))
    known = await kept.told()
    assert (known.journal, known.marks) == ("journal", {stored.PROCESS: stored.MARK._replace(claimed=0)})
    await weaviate.close()
    await redis.aclose()


def other_skill() -> OnceEffect:
    """Return an effect of another task under the same id."""
    return replace(stored.effect("third"), binding=stored.BINDING.changed(skill="another"))


def more_words(form: dict[str, str]) -> dict[str, str]:
    """Return fields whose texts of several words have one more, as a newer build's may."""
    return {name: f"{text} more" if " " in text else text for name, text in form.items()}
