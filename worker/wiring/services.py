"""All services of a worker."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from activities.episodes import SessionWriter
from activities.remote_memory import RemoteMemory
from perdure.agent.steps.enforcement import Enforcer
from perdure.agent.steps.values import Values
from perdure.mcp.servers import McpServers, open_servers
from perdure.memory.door import Door
from perdure.memory.erasure.eraser import Eraser
from perdure.memory.forgetting.forgetter import Forgetter
from perdure.memory.forgetting.selection import Guard
from perdure.memory.promotion.promoter import Promoter
from perdure.memory.reconciliation.reconciler import Reconciler
from perdure.memory.repair import Repair
from perdure.memory.updates.updater import Updater
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.intake import Intake
from perdure.memory.writing.writer import Writer
from perdure.models.language import LanguageModels
from perdure.names import DEFAULT_POLICY
from perdure.policies.library import PolicyLibrary
from perdure.registry.agents import AgentLibrary
from perdure.secrets.sources import SecretKeeper
from perdure.settings import Addresses, Settings
from perdure.skills.library import SkillLibrary
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.values import ValueFiles
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.claims import Claims
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.observations import Observations
from perdure.stores.redis.outputs import Outputs
from perdure.stores.redis.promotions import Promotions
from perdure.stores.redis.sessions import SessionWrites
from perdure.stores.redis.skill_trials import SkillTrials
from perdure.stores.tenant_key import TenantKey
from perdure.toolbox import Toolbox
from perdure.values.losses import Store
from worker.extraction import extractor
from worker.policies import policies_of, rules_of
from worker.wiring.parts import WRITE_SECONDS, models_of
from worker.wiring.reading_services import RESULTS_KEPT, ReadingServices, open_reading
from worker.wiring.registries import agents_of, secrets_of, servers_of, skills_of, toolbox_of
from worker.wiring.remote_memory import memory_elsewhere


@dataclass(frozen=True, kw_only=True)
class Services(ReadingServices):
    """Every service of a worker, on real stores."""

    leases: Leases
    door: Door
    session: SessionWriter
    writer: Writer
    intake: Intake
    repair: Repair
    forgetter: Forgetter
    updater: Updater
    promoter: Promoter
    policies: Mapping[str, WritePolicy]
    erasures: RedisErasures
    eraser: Eraser
    reconciler: Reconciler
    due: DueIndex
    bindings: TaskBindings
    trials: SkillTrials
    claims: Claims
    outputs: Outputs
    results: Outputs
    """Results of recall, kept until their caller fetches them."""
    toolbox: Toolbox
    servers: McpServers
    secrets: SecretKeeper
    skills: SkillLibrary
    agents: AgentLibrary
    enforcer: Enforcer
    models: LanguageModels
    elsewhere: RemoteMemory | None
    """The memory that tasks use, if it is not this installation's."""

    async def belongs(self) -> None:
        """Check that this process belongs to the installation whose stores it uses, and apply erasures that one lacks.

        Raises:
            TenantKeyMismatch: It has another tenant key.
            JournalMismatch: It has another journal.
            StoreLost: The journal's folder does not hold it.
            StoreUnavailable: A store does not answer.
        """
        await self.whole.begin(self.tenant_key)
        await self.installation.check(self.tenant_key)
        await self.eraser.apply()

    async def prepare(self) -> None:
        """Bring the collections up to what this build needs; those that were lost are made when they are rebuilt.

        Raises:
            EmbeddingMismatch: They were made with another model.
            SchemaMismatch: They cannot be brought up to it.
            StoreUnavailable: Weaviate does not answer.
        """
        if not await self.whole.lost(Store.WEAVIATE):
            await self.longterm.prepare()


@asynccontextmanager
async def open_services(settings: Settings, addresses: Addresses) -> AsyncGenerator[Services]:
    """Open all that a worker needs, as ``open_reading`` does; the tenant key is made where there is none yet.

    Raises:
        InvalidInput: A setting names a tool module or an embedding model that is not there.
        InvalidPolicy: A policy cannot be used.
    """
    key = TenantKey.load_or_create(settings.tenant_key_file)
    policies, guarding = policies_of(settings), PolicyLibrary(settings.policies)
    # Nothing may be done under policies that cannot be read.
    await asyncio.to_thread(guarding.current)
    extracting = extractor(settings, policies[DEFAULT_POLICY])
    models = models_of(settings)
    secrets, configured = secrets_of(settings), servers_of(settings)
    async with (
        open_reading(settings, addresses, key) as reading,
        extracting as extracts,
        aclosing(models),
        open_servers(configured, secrets) as servers,
        memory_elsewhere(settings) as elsewhere,
    ):
        redis, longterm = reading.redis, reading.longterm
        due, deletions, leases, rules = DueIndex(redis), reading.deletions, Leases(redis), rules_of(settings)
        erasures, ttl = RedisErasures(redis), timedelta(days=settings.claim_ttl_days)
        outputs = Outputs(redis, ttl, files=ValueFiles(settings.journal_folder))
        repair = Repair(
            longterm=longterm,
            embedder=reading.embedder,
            journal=reading.journal,
            leases=leases,
            checks=reading.checks,
            due=due,
            client_timeout=WRITE_SECONDS,
        )
        door = Door(
            longterm=longterm,
            journal=reading.journal,
            deletions=deletions,
            leases=leases,
            due=due,
            repair=repair,
            whole=reading.whole,
            rules=rules,
            client_timeout=WRITE_SECONDS,
            audit=reading.audit,
        )
        yield Services(
            **vars(reading),
            leases=leases,
            door=door,
            session=SessionWriter(
                reading.episodes,
                reading.spool,
                reading.consents,
                values=Values(outputs),
                policy=policies[DEFAULT_POLICY],
            ),
            writer=Writer(
                longterm=longterm,
                embedder=reading.embedder,
                door=door,
                repair=repair,
                deletions=deletions,
                erasures=erasures,
                consents=reading.consents,
                policies=policies,
            ),
            intake=Intake(policies, SessionWrites(redis), reading.consents, Observations(redis), longterm),
            repair=repair,
            forgetter=Forgetter(
                longterm=longterm,
                door=door,
                deletions=deletions,
                rules=rules,
                guard=Guard(fraction=settings.forgetting_guard),
                grace=timedelta(days=settings.forgetting_grace_days),
            ),
            updater=Updater(
                longterm=longterm,
                embedder=reading.embedder,
                journal=reading.journal,
                door=door,
                consents=reading.consents,
                grace=timedelta(days=settings.forgetting_grace_days),
                policy=policies[DEFAULT_POLICY],
            ),
            promoter=Promoter(
                promotions=Promotions(redis),
                consents=reading.consents,
                extractor=extracts,
                policy=policies[DEFAULT_POLICY],
            ),
            policies=policies,
            erasures=erasures,
            eraser=Eraser(
                longterm=longterm,
                redis=redis,
                journal=reading.journal,
                spool=reading.spool,
                members=reading.members,
                leases=leases,
                logs={
                    Store.JOURNAL: ErasureLog(settings.journal_folder),
                    Store.REDIS: erasures,
                    Store.WEAVIATE: longterm.erasures,
                },
                audit=reading.audit,
                client_timeout=WRITE_SECONDS,
            ),
            reconciler=Reconciler(
                longterm=longterm,
                journal=reading.journal,
                deletions=deletions,
                consents=RedisConsents(redis),
                members=reading.members,
                leases=leases,
                due=due,
                repair=repair,
                grace=timedelta(days=settings.forgetting_grace_days),
                client_timeout=WRITE_SECONDS,
                audit=reading.audit,
            ),
            due=due,
            bindings=TaskBindings(redis, ttl),
            trials=SkillTrials(redis),
            claims=Claims(redis, ttl),
            outputs=outputs,
            results=Outputs(redis, RESULTS_KEPT, kind="result"),
            toolbox=toolbox_of(settings).extended(servers.serve(), servers.find, "these are the worker's"),
            servers=servers,
            secrets=secrets,
            skills=skills_of(settings),
            agents=agents_of(settings),
            enforcer=Enforcer(guarding, reading.audit),
            models=models,
            elsewhere=elsewhere,
        )
