"""Policies where they bind: right before a tool is called. Has each decision written down; calls nothing itself."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from perdure.agent.steps.attempts import Attempt
from perdure.agent.steps.calls import Acting, Asks, MemoryCall, StepCall, StepContext
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.steps.gate import Stopped
from perdure.agent.steps.resume_point import QUESTION_LIMIT, Reached, question_of
from perdure.errors import Blocked
from perdure.policies.decision import CallFacts, PolicyDecision, decide
from perdure.policies.library import PolicyLibrary
from perdure.policies.ruling import Ruling, ruling_of
from perdure.policies.shape import Outcome, PolicySet
from perdure.tools import Effect
from perdure.values.changes import Actor, ActorKind
from perdure.values.questions import Approval, QuestionKind, Subject, TakenAnswer, choice_of


class RulingLog(Protocol):
    """Where decisions are written down."""

    async def ruled(self, tenant: str, ruling: Ruling, *, operation: str, by: Actor) -> None:
        """Write a decision; on return it is on the disk, unless it lets a call pass without a word.

        Raises:
            StoreUnavailable: It cannot be written.
        """
        ...


class Enforcer:
    """Asks the policies of an installation.

    Args:
        library: The policies.
        log: Where decisions are written down.
    """

    def __init__(self, library: PolicyLibrary, log: RulingLog) -> None:
        self._library = library
        self._log = log

    def gate(
        self,
        call: StepCall | ForeignCall | MemoryCall,
        attempt: Attempt,
        called: str,
        effect: Effect,
        *,
        acting: Acting,
        arguments: Mapping[str, JsonValue],
        digest: str,
        so_far: Reached,
    ) -> "PolicyGate":
        """Return what says whether a tool may be called now.

        Args:
            call: The step.
            attempt: The attempt at it.
            called: What it calls: a tool, one of a model's own memory, or an activity or workflow of others.
            effect: What calling that twice would do.
            acting: For whom.
            arguments: What the tool is called with.
            digest: The digest of tool and arguments.
            so_far: What a person has permitted.
        """
        facts = CallFacts(
            tool=called,
            arguments=dict(arguments),
            user=acting.user,
            agent=acting.agent,
            state={
                "task": call.task_id,
                "skill": acting.skill,
                "task_skill": acting.task_skill,
                "step": call.path,
                "date": acting.date.isoformat(),
                "effect": effect.value,
                "memory": call.memory.value,
                "done": acting.done,
            },
        )
        return PolicyGate(self, call, attempt, facts, digest=digest, so_far=so_far)

    async def decide(
        self, facts: CallFacts, known: "tuple[PolicySet, PolicyDecision] | None"
    ) -> tuple[PolicySet, PolicyDecision]:
        """Return what the policies that count now say, and which these are.

        Args:
            facts: The call.
            known: What they said before; the same ones say the same again.
        """

        def work() -> tuple[PolicySet, PolicyDecision]:
            policies = self._library.current()
            return known if known is not None and known[0] is policies else (policies, decide(policies, facts))

        # Files are read, and conditions hold the interpreter up for some milliseconds each: heartbeats go on meanwhile.
        return await asyncio.to_thread(work) if self._library.folders else work()

    async def declined(self, call: StepCall | ForeignCall | MemoryCall, attempt: Attempt, so_far: Reached) -> None:
        """Write down that a person did not permit what policies asked about."""
        if so_far.ruling is not None and call.resumed is not None:
            await self.write(call, attempt, so_far.ruling.changed(answer=Approval.NO), call.resumed.answer)

    async def write(
        self,
        call: StepCall | ForeignCall | MemoryCall,
        attempt: Attempt,
        ruling: Ruling,
        answer: TakenAnswer | None = None,
    ) -> None:
        """Write a decision down: by the agent, or by the person who answered."""
        by = (
            Actor(kind=ActorKind.PERSON, id=answer.by)
            if answer
            else Actor(kind=ActorKind.AGENT, id=attempt.workflow_id)
        )
        await self._log.ruled(call.tenant, ruling, operation=f"policies:{attempt.owner}", by=by)


class PolicyGate:
    """What policies say of one call, in one attempt at it."""

    def __init__(
        self,
        enforcer: Enforcer,
        call: StepCall | ForeignCall | MemoryCall,
        attempt: Attempt,
        facts: CallFacts,
        *,
        digest: str,
        so_far: Reached,
    ) -> None:
        self._enforcer = enforcer
        self._call = call
        self._attempt = attempt
        self._facts = facts
        self._digest = digest
        self._so_far = so_far
        self._known: tuple[PolicySet, PolicyDecision] | None = None
        self._written: PolicyDecision | None = None
        self.warnings: tuple[str, ...] = ()
        """The soft policies that spoke, once the call may be made."""

    async def would_stop(self) -> bool:
        """Return whether the policies would stop the call."""
        return self._stops(await self._decide())

    async def stopped(self) -> Stopped | None:
        """Return what stops the call; None: it is made now, and what they said is written down.

        Raises:
            StoreUnavailable: It cannot be written down, so the call must not be made.
        """
        decision = await self._decide()
        ruling, stops = self._ruling(decision), self._stops(decision)
        if decision is not self._written:
            await self._write(ruling, stops=stops)
            self._written = decision
        if stops:
            return Stopped(decision=decision, ruling=ruling)
        self.warnings = tuple(finding.reason for finding in decision.of(Outcome.WARN))
        return None

    async def _write(self, ruling: Ruling, *, stops: bool) -> None:
        if ruling.outcome is Outcome.ASK and not stops:
            answered = ruling.changed(answer=Approval.YES)
            await self._enforcer.write(self._call, self._attempt, answered, self._so_far.permitted)
        elif self._known is not None and self._known[0].policies:
            await self._enforcer.write(self._call, self._attempt, ruling)

    async def _decide(self) -> PolicyDecision:
        self._known = await self._enforcer.decide(self._facts, self._known)
        return self._known[1]

    def _ruling(self, decision: PolicyDecision) -> Ruling:
        return ruling_of(decision, tool=self._facts.tool, step=self._call.path, arguments=self._digest)

    def _stops(self, decision: PolicyDecision) -> bool:
        match decision.outcome:
            case Outcome.PASS | Outcome.WARN:
                return False
            case Outcome.ASK:
                before = self._so_far.ruling if self._so_far.permitted else None
                return before is None or before.binding != self._ruling(decision).binding
            case _:
                return True


def permission(call: StepContext, about: Subject, so_far: Reached, stopped: Stopped) -> Asks:
    """Return the question whether a call may be made that policies stopped.

    Raises:
        Blocked: They do not ask, but block.
    """
    asking = stopped.decision.of(Outcome.ASK)
    if stopped.decision.outcome is not Outcome.ASK:
        reasons = "; ".join(one.reason for one in stopped.decision.findings if one not in asking)
        raise Blocked(f"{call.path}: {about.tool} may not be called here, by {reasons}")
    text = "\n".join(one.question for one in asking)
    if len(text) > QUESTION_LIMIT:
        raise Blocked(
            f"{call.path}: {about.tool} may not be called: {len(asking)} policies ask, too many for a question"
        )
    # Whatever is too long for a question is cut off at its end: first is what the person says yes to.
    text += "".join(f"\n({one.reason})" for one in asking)
    # That the effect has not happened is known, and this attempt claims nothing.
    changes = {"ruling": stopped.ruling, "permitted": None, "claim": "", "verdict": stopped.verdict}
    return question_of(call, text, about, choice_of(Approval), so_far.changed(asked=QuestionKind.APPROVAL, **changes))
