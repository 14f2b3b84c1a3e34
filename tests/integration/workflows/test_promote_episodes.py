"""What is worth keeping of a session becomes memory before its episodes expire: once, by consent and write policy."""

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from perdure.errors import PerdureError, StoreUnavailable
from perdure.memory.promotion import promoter as promotion
from perdure.memory.promotion.promoter import Promoted, Promoter
from perdure.memory.write_policies import WritePolicy
from perdure.models.errors import ModelRefused
from perdure.stores.journal.lines import Accepted
from perdure.stores.redis.promotions import Promotions
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import MARKER, Memory, Purpose, Source, State
from perdure.values.episodes import EPISODES_KEPT, Episode, EpisodeKind
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch
from perdure.values.requests import PromoteRequest, PromoteResult
from perdure.values.statements import Candidate, Extraction, Extractor, Said, Voice
from perdure.values.updates import MemoryUpdate, Removal
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from worker.upkeep import bring_episodes

NOW = datetime.now(UTC)
SYSTEM = Actor(kind=ActorKind.SYSTEM)
HOUR = timedelta(hours=1)
TRAIN = "I always travel by train."


@pytest.fixture(scope="module")
async def here(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path_factory.mktemp("promotion")) as one:
        yield one


@pytest.fixture
async def tenant(here: Deployment) -> str:
    """A tenant who consents."""
    tenant = f"t_{uuid4().hex}"
    await here.services.consents.say(
        tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="consent", by=SYSTEM, at=NOW
    )
    return tenant


def said(text: str, number: int = 0, *, ago: timedelta = 2 * HOUR, **fields: Any) -> Episode:
    values: dict[str, Any] = {"kind": EpisodeKind.TURN, "importance": 0.5, **fields}
    return Episode(id=f"e{number}", text=text, at=NOW - ago, **values)


async def told(here: Deployment, tenant: str, *episodes: Episode, session: str = "s") -> None:
    for episode in episodes:
        await here.services.episodes.append(tenant, session, episode)


async def promoted(here: Deployment) -> PromoteResult:
    """Run a pass to its end, and the jobs that it submitted."""
    result = await here.client.execute_workflow(
        "PromoteEpisodes",
        PromoteRequest(by=SYSTEM),
        id=f"promote-{uuid4().hex}",
        task_queue=here.queue,
        result_type=PromoteResult,
    )
    assert result.failed == ()
    return result


async def believed(here: Deployment, tenant: str) -> list[Memory]:
    # A job is done when the journal has settled what was accepted.
    for job in await jobs_of(here, tenant):
        await here.client.get_workflow_handle(job).result()
    stored = (await here.services.longterm.everything(tenant)).values()
    return sorted((one for one in stored if isinstance(one, Memory)), key=lambda one: one.text)


async def jobs_of(here: Deployment, tenant: str) -> list[str]:
    lines = await here.services.journal.read(tenant)
    return sorted({line.job for line in lines if isinstance(line, Accepted)})


@pytest.mark.slow
async def test_what_is_worth_keeping_of_an_idle_session_is_kept_once(here: Deployment, tenant: str) -> None:
    await told(
        here,
        tenant,
        said(TRAIN, 0),
        said("a: Deploys always happen on Tuesdays. (answered at 10)", 1, kind=EpisodeKind.DECISION).changed(
            said="Deploys always happen on Tuesdays.", before="agent: When do deploys happen?"
        ),
        said("ok thanks", 2),
        said("look: look done", 3, kind=EpisodeKind.TOOL),
        said("My office is in Ghent.", 4, extracted=True),
    )
    await told(here, tenant, said("I never fly.", 5, ago=timedelta()), session="of now")
    for _ in range(2):
        await promoted(here)
        found = await believed(here, tenant)
        assert [(one.text, one.seen, one.purpose) for one in found] == [
            ("Deploys always happen on Tuesdays.", 1, Purpose.EXTRACTED),
            (TRAIN, 1, Purpose.EXTRACTED),
        ]
    # The session goes on, and what is new is promoted with what it says again.
    await told(here, tenant, said("I never fly.", 6), said(TRAIN, 7))
    await promoted(here)
    assert [(one.text, one.seen) for one in await believed(here, tenant)][1:] == [(TRAIN, 2), ("I never fly.", 1)]
    assert await Promotions(here.services.redis).sessions(tenant) != [], "another session still waits"


@pytest.mark.slow
async def test_what_a_tool_stated_is_believed_as_learned_by_the_write_policy(here: Deployment, tenant: str) -> None:
    stated: dict[str, Any] = {"kind": EpisodeKind.INSIGHT, "by": Voice.TOOL}
    kept, private = "The staging database runs Postgres 16.", "Mail goes to kim@example.org."
    await told(
        here,
        tenant,
        *(
            said(f"a: look states: {text}", number, **stated).changed(said=text)
            for number, text in enumerate([kept, private])
        ),
    )
    for _ in range(2):
        await promoted(here)
        [found] = await believed(here, tenant)
        assert (found.text, found.seen, found.purpose, found.source) == (kept, 1, Purpose.EXTRACTED, Source.LEARNED)


@pytest.mark.parametrize("consents", [True, False], ids=["control", "without consent"])
async def test_without_consent_nothing_is_extracted_and_later_consent_is_for_later(
    here: Deployment, consents: bool
) -> None:
    tenant = f"t_{uuid4().hex}"

    async def consent() -> None:
        await here.services.consents.say(
            tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="consent", by=SYSTEM, at=NOW
        )

    await told(here, tenant, said(TRAIN))
    if consents:
        await consent()
    await promoted(here)
    await consent()
    await promoted(here)
    assert [one.text for one in await believed(here, tenant)] == ([TRAIN] if consents else [])
    assert await Promotions(here.services.redis).sessions(tenant) == []


@pytest.mark.slow
async def test_the_write_policy_holds(here: Deployment, tenant: str) -> None:
    facts = [said(f"I always order part number {number}00 from plant {number}.", number) for number in range(14)]
    await told(here, tenant, *facts, said("My email is ada@example.com.", 20))
    await promoted(here)
    found = await believed(here, tenant)
    assert len(found) == WritePolicy().most_a_session == 10
    assert not any("ada@" in str(line) for line in await here.services.journal.read(tenant))


@pytest.mark.parametrize(
    ("others", "due"),
    [([], False), ([21 * HOUR], True), ([19 * HOUR], False)],
    ids=["fresh", "20 h old", "control"],
)
async def test_a_session_that_goes_on_is_promoted_before_it_is_too_old(
    here: Deployment, tenant: str, others: list[timedelta], due: bool
) -> None:
    await told(here, tenant, *(said("ok", 10 + place, ago=ago) for place, ago in enumerate(others)))
    await told(here, tenant, said(TRAIN, ago=timedelta()))
    await promoted(here)
    assert bool(await believed(here, tenant)) == due


@pytest.mark.parametrize("number", [900, 100], ids=["nearly full", "control"])
@pytest.mark.slow
async def test_what_is_about_to_be_trimmed_is_promoted(here: Deployment, tenant: str, number: int) -> None:
    await told(here, tenant, said(TRAIN, ago=timedelta()))
    calls = [said("look done", place + 1, kind=EpisodeKind.TOOL, ago=timedelta()) for place in range(number)]
    await told(here, tenant, *calls)
    assert number < EPISODES_KEPT
    await promoted(here)
    assert bool(await believed(here, tenant)) == (number == 900)


async def test_the_spool_is_promoted_too(here: Deployment, tenant: str) -> None:
    await here.services.spool.append(tenant, "s", said(TRAIN, ago=timedelta(days=3)))
    await here.services.spool.append(tenant, "s", said("look done", 1, kind=EpisodeKind.TOOL, ago=timedelta(days=3)))
    services = here.services
    await bring_episodes(services.spool, services.episodes, services.erasures, services.consents, now=NOW)
    assert [one.text for one in await here.services.episodes.told(tenant, "s", recent=10)] == [TRAIN]
    await promoted(here)
    assert [one.text for one in await believed(here, tenant)] == [TRAIN]


@pytest.mark.slow
async def test_a_tenant_leaves_the_list_unless_something_is_written_meanwhile(here: Deployment, tenant: str) -> None:
    promotions, far = Promotions(here.services.redis), NOW + timedelta(days=9)

    async def is_listed() -> bool:
        return tenant in await promotions.tenants(far, 10_000)

    await told(here, tenant, said(TRAIN))
    token = await promotions.begin(tenant, datetime.now(UTC))
    taken = await promotions.take(tenant, "s", 10)
    await told(here, tenant, said("I never fly.", 1))
    await promotions.promoted(tenant, "s", taken.ids)
    await promotions.end(tenant, token, None)
    assert await is_listed()
    await promoted(here)
    assert not await is_listed()
    assert [one.text for one in await believed(here, tenant)] == ["I never fly."], "the other one was taken above"


class Fickle:
    """An extractor that finds something else each time, as a model may."""

    def __init__(self) -> None:
        self._asked = 0

    async def extract(self, said: Sequence[Said]) -> list[Extraction]:
        self._asked += 1
        content = f"I always travel by train, in {self._asked} words."
        assert [one.by for one in said] == [Voice.USER]
        return [Extraction(candidates=(Candidate(content=content),))]


@pytest.mark.parametrize("protected", [True, False], ids=["by the episodes", "control: by the items"])
async def test_a_model_that_says_it_otherwise_when_retried_makes_no_second_memory(
    here: Deployment, tenant: str, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    submitted: list[Batch] = []
    promoter = Promoter(
        promotions=Promotions(here.services.redis),
        consents=here.services.consents,
        extractor=Fickle(),
        policy=WritePolicy(),
    )
    jobs: dict[str, Batch] = {}

    async def submit(batch: Batch, job: str) -> str:
        jobs.setdefault(job if protected else batch.model_dump_json(), batch)
        submitted.append(batch)
        if len(submitted) == 1:
            raise StoreUnavailable("temporal", "the process died")
        return job

    async def promote() -> Promoted:
        return await promoter.promote(tenant, now=datetime.now(UTC), by=SYSTEM, submit=submit)

    await told(here, tenant, said(TRAIN))
    assert ["the process died" in problem for problem in (await promote()).failed] == [True]
    # What comes between belongs to the next job.
    await told(here, tenant, said("I never fly.", 1))
    monkeypatch.setattr(promotion, "_AT_ONCE", 1)
    assert (await promote()).episodes == 2
    assert len(submitted) == 3
    assert len(jobs) == (2 if protected else 3)


class Lengthy:
    """An extractor that finds as many texts of a length as it is told."""

    async def extract(self, said: Sequence[Said]) -> list[Extraction]:
        def found(one: Said) -> tuple[Candidate, ...]:
            number, length, name = one.text.split()
            return tuple(Candidate(content=f"{name} {place} ".ljust(int(length), "x")) for place in range(int(number)))

        return [Extraction(candidates=found(one)) for one in said]


class Declining:
    """An extractor that finds the texts themselves, and declines where it is asked about one of them."""

    def __init__(self, problem: PerdureError) -> None:
        self._problem = problem

    async def extract(self, said: Sequence[Said]) -> list[Extraction]:
        if any("decline" in one.text for one in said):
            raise self._problem
        return [Extraction(candidates=(Candidate(content=one.text),)) for one in said]


async def offered(here: Deployment, tenant: str, extractor: Extractor, *, now: datetime) -> tuple[Promoted, list[str]]:
    """Promote; gives what became of it, and the texts that were submitted."""
    submitted: dict[str, Batch] = {}

    async def submit(batch: Batch, job: str) -> None:
        assert job not in submitted
        submitted[job] = batch

    promoter = Promoter(
        promotions=Promotions(here.services.redis),
        consents=here.services.consents,
        extractor=extractor,
        policy=WritePolicy(),
    )
    done = await promoter.promote(tenant, now=now, by=SYSTEM, submit=submit)
    items = [item for batch in submitted.values() for item in batch.items]
    return done, [item.content for item in items if isinstance(item, MemoryItem)]


@pytest.mark.parametrize(
    ("problem", "again"),
    [(ModelRefused("model", "declined to answer"), HOUR), (StoreUnavailable("model", "is away"), timedelta(0))],
    ids=["refused", "away"],
)
async def test_a_session_that_fails_holds_up_no_other_and_is_tried_again(
    here: Deployment, tenant: str, problem: PerdureError, again: timedelta
) -> None:
    promotions, now = Promotions(here.services.redis), datetime.now(UTC)
    for session in ("a", "c"):
        await told(here, tenant, said(f"I travel by {session}.", ago=2 * HOUR), session=session)
    await told(here, tenant, said("decline", ago=3 * HOUR), session="b")
    done, texts = await offered(here, tenant, Declining(problem), now=now)
    assert (done.sessions, sorted(texts)) == (2, ["I travel by a.", "I travel by c."])
    [failed] = done.failed
    assert failed.endswith(str(problem))
    assert [one.session for one in await promotions.sessions(tenant)] == ["b"]
    assert tenant not in await promotions.tenants(now + again - timedelta(seconds=1), 10_000)
    assert tenant in await promotions.tenants(now + again, 10_000)
    done, texts = await offered(here, tenant, Fickle(), now=now + again)
    assert (done.failed, len(texts)) == ((), 1)


async def test_what_is_too_large_for_one_job_takes_several_and_what_cannot_be_used_is_named(
    here: Deployment, tenant: str
) -> None:
    await told(here, tenant, said("90 7000 long"), session="long")
    done, texts = await offered(here, tenant, Lengthy(), now=NOW)
    assert (len(set(texts)), done.jobs, done.failed) == (90, 2, ())
    await told(here, tenant, said(f"2 100 {MARKER}xxx", 1), session="quoting")
    done, texts = await offered(here, tenant, Lengthy(), now=NOW)
    assert (texts, ["items[0].content" in one for one in done.failed]) == ([], [True, True])
    assert "xxx" not in str(done.failed)
    assert await Promotions(here.services.redis).sessions(tenant) == []


async def test_it_is_erased_with_its_user(here: Deployment, tenant: str, tmp_path: Path) -> None:
    await told(here, tenant, said(TRAIN, ago=timedelta()))
    await here.services.eraser.begin(tenant, operation="erase", at=NOW, by=SYSTEM)
    await here.services.eraser.remove(tenant, "erase")
    promotions = Promotions(here.services.redis)
    assert await promotions.sessions(tenant) == []
    assert tenant not in await promotions.tenants(NOW + timedelta(days=9), 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("since", [True, False], ids=["said before", "control"])
async def test_what_was_said_before_it_was_forgotten_does_not_bring_it_back(
    here: Deployment, tenant: str, since: bool
) -> None:
    await told(here, tenant, said(TRAIN), session="a")
    await promoted(here)
    [memory] = await believed(here, tenant)
    removal = MemoryUpdate(id=memory.id, update=Removal(), by=SYSTEM)
    # A session that is idle is promoted: it was said before that, whenever the other one was forgotten.
    forgotten_at = NOW - HOUR if since else NOW - 3 * HOUR
    await here.services.updater.update(tenant, removal, operation=uuid4().hex, at=forgotten_at)
    await told(here, tenant, said(TRAIN, ago=2 * HOUR), session="b")
    await promoted(here)
    [memory] = await believed(here, tenant)
    assert (memory.state is State.FORGOTTEN) == since
