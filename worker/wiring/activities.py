"""The activities of a worker, built from its services."""

from collections.abc import Callable
from inspect import getmembers, iscoroutinefunction
from typing import Any

from temporalio.client import Client

from activities.accesses import AccessActivities
from activities.compensation import CompensationActivities
from activities.consolidation import ConsolidationActivities
from activities.corrections import CorrectionActivities
from activities.credits import CreditActivities
from activities.due_dates import DueDateActivities
from activities.erasure import ErasureActivities
from activities.evaluation import EvaluationActivities
from activities.feedback import FeedbackActivities
from activities.foreign import ForeignActivities
from activities.forgetting import ForgettingActivities
from activities.holds import HoldActivities
from activities.jobs import IngestActivities
from activities.lessons import LessonActivities
from activities.memory import MemoryActivities
from activities.notifications import NotificationActivities, Notifier, Webhook
from activities.outcomes import TaskOutcomes
from activities.pinned_plans import TaskPinner
from activities.promotion import PromotionActivities
from activities.prompts import PromptActivities
from activities.reasoning import ReasoningActivities
from activities.recalls import RecallStepActivities
from activities.reconciliation import ReconciliationActivities
from activities.session_items import SessionItemActivities
from activities.steps import StepActivities
from activities.submissions import Submitter
from activities.tasks import TaskActivities
from activities.tenants import TenantActivities
from activities.updates import UpdateActivities
from activities.values import ValueActivities
from perdure.agent.steps.foreign import ForeignSteps
from perdure.agent.steps.limiter import Limiter
from perdure.agent.steps.memory_guard import MemoryGuard
from perdure.agent.steps.runner import StepRunner
from perdure.agent.steps.values import Values
from perdure.memory.consolidation.consolidator import Consolidator
from perdure.memory.forgetting.uses import Uses
from perdure.names import DEFAULT_POLICY
from perdure.settings import Settings
from perdure.stores.redis.access_tokens import AccessTokens
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.call_slots import CallSlots
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.stores.redis.feedback import RedisFeedback
from perdure.stores.redis.recalls import TaskRecalls
from perdure.stores.redis.reply_streams import ReplyStreams
from perdure.stores.redis.session_items import SessionItemStore
from perdure.stores.redis.sweeps import SweepTurn
from worker.wiring.services import Services


def activities(services: Services, client: Client, settings: Settings) -> list[Callable[..., Any]]:
    """Return every activity of a worker."""
    values = Values(services.outputs)
    runner = StepRunner(
        services.toolbox,
        services.claims,
        values,
        services.whole.redis_since,
        services.whole.claimed,
        enforcer=services.enforcer,
        limiter=Limiter(CallSlots(services.redis)),
        secrets=services.secrets,
    )
    foreign = ForeignSteps(
        services.claims, values, services.whole.redis_since, services.whole.claimed, enforcer=services.enforcer
    )
    notifier = Notifier(client=client, task_queue=settings.task_queue, webhook=_webhook(settings))
    guard = MemoryGuard(services.enforcer, values)
    steps = StepActivities(
        services.toolbox,
        runner,
        services.session,
        notifier,
        guard=guard,
        intake=None if services.elsewhere else services.intake,
        attempts=settings.tool_attempts,
    )
    submitter = Submitter(
        client=client,
        task_queue=settings.task_queue,
        journal=services.journal,
        leases=services.leases,
        writer=services.writer,
        intake=services.intake,
        erasures=services.erasures,
        members=services.members,
    )
    changed = ChangedTenants(services.redis)
    accesses = Accesses(services.redis)
    uses = Uses(accesses, services.door)
    recalls = TaskRecalls(services.redis, services.bindings.ttl)
    outcomes = TaskOutcomes(
        updater=services.updater,
        recalls=recalls,
        members=services.members,
        trials=services.trials,
        feedback=RedisFeedback(services.redis, services.bindings.ttl),
    )
    others = (
        TaskActivities(
            TaskPinner(services.skills, services.agents, services.models, services.toolbox, services.trials),
            services.tenant_key,
            values,
            services.bindings,
            outcomes,
            client,
            services.whole,
            services.erasures,
            services.secrets,
            services.servers,
            heartbeat=settings.heartbeat_timeout,
            model_timeout=settings.model_timeout,
            continue_after=settings.continue_after,
            summary_content=settings.summary_content,
        ),
        CompensationActivities(services.bindings),
        ForeignActivities(foreign, client, services.session, services.toolbox),
        ValueActivities(values, services.session),
        RecallStepActivities(
            runner=runner,
            recall=services.recall,
            members=services.members,
            recalls=recalls,
            guard=guard,
            elsewhere=services.elsewhere,
        ),
        CreditActivities(outcomes=outcomes),
        LessonActivities(
            recall=services.recall,
            recalls=recalls,
            longterm=services.longterm,
            submitter=submitter,
            updater=services.updater,
            audit=services.audit,
            erasures=services.erasures,
            key=services.tenant_key,
        ),
        FeedbackActivities(
            client=client,
            outcomes=outcomes,
            session=services.session,
            audit=services.audit,
            leases=services.leases,
            erasures=services.erasures,
        ),
        MemoryActivities(services.recall, services.members, services.results),
        EvaluationActivities(runner, services.models),
        PromptActivities(services.models, runner),
        ReasoningActivities(
            services.models,
            services.toolbox,
            values,
            services.session,
            bindings=services.bindings,
            streams=ReplyStreams(services.redis),
        ),
        IngestActivities(
            client=client,
            members=services.members,
            submitter=submitter,
            writer=services.writer,
            intake=services.intake,
            consents=services.consents,
            session=services.session,
            changed=changed,
            erasures=services.erasures,
            elsewhere=services.elsewhere,
        ),
        SessionItemActivities(
            store=SessionItemStore(services.redis),
            members=services.members,
            consents=services.consents,
            erasures=services.erasures,
            audit=services.audit,
        ),
        HoldActivities(submitter=submitter, door=services.door),
        NotificationActivities(notifier),
        PromotionActivities(promoter=services.promoter, submitter=submitter),
        ConsolidationActivities(
            consolidator=Consolidator(longterm=services.longterm, embedder=services.embedder, updater=services.updater),
            changed=changed,
            whole=services.whole,
        ),
        ReconciliationActivities(
            whole=services.whole,
            reconciler=services.reconciler,
            eraser=services.eraser,
            longterm=services.longterm,
            journal=services.journal,
            members=services.members,
            submitter=submitter,
        ),
        UpdateActivities(
            updater=services.updater,
            consents=services.consents,
            members=services.members,
            policy=services.policies[DEFAULT_POLICY],
            changed=changed,
            erasures=services.erasures,
        ),
        CorrectionActivities(
            updater=services.updater,
            longterm=services.longterm,
            values=values,
            policy=services.policies[DEFAULT_POLICY],
            changed=changed,
            guard=guard,
            is_elsewhere=services.elsewhere is not None,
        ),
        ErasureActivities(
            client=client,
            key=services.tenant_key,
            eraser=services.eraser,
            members=services.members,
            tokens=AccessTokens(services.redis),
        ),
        AccessActivities(accesses=accesses, uses=uses),
        DueDateActivities(
            forgetter=services.forgetter, longterm=services.longterm, due=services.due, whole=services.whole
        ),
        TenantActivities(members=services.members),
        ForgettingActivities(
            client=client,
            forgetter=services.forgetter,
            uses=uses,
            whole=services.whole,
            turn=SweepTurn(services.redis),
            due=services.due,
            deletions=services.deletions,
            members=services.members,
        ),
    )
    return [*steps.activities(), *(activity for one in others for activity in _public_coroutines(one))]


def _webhook(settings: Settings) -> Webhook | None:
    if settings.webhook_url is None or settings.webhook_secret is None:
        return None
    return Webhook(url=settings.webhook_url, secret=settings.webhook_secret, content=settings.webhook_content)


def _public_coroutines(one: object) -> list[Callable[..., Any]]:
    """Return the activities of an object. Temporal's worker refuses a method that is not one."""
    return [method for name, method in getmembers(one, iscoroutinefunction) if not name.startswith("_")]
