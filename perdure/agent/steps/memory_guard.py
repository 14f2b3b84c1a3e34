"""Policies on what a model does with its own memory: asked right before. Reads and changes no memory itself."""

from collections.abc import Awaitable, Callable

from perdure.agent.steps.attempts import Attempt
from perdure.agent.steps.calls import Asks, Ended, MemoryCall, Value
from perdure.agent.steps.enforcement import Enforcer, permission
from perdure.agent.steps.evaluator import DECLINED
from perdure.agent.steps.resume_point import is_declined, so_far_of
from perdure.agent.steps.values import Values
from perdure.documents import mapping
from perdure.errors import InvalidArguments
from perdure.identity import content_digest
from perdure.tools import Effect
from perdure.values.questions import Subject, shortened


class MemoryGuard:
    """Has calls of memory made as policies allow.

    Args:
        enforcer: Asks the policies.
        values: Where the arguments are, if they are large.
    """

    def __init__(self, enforcer: Enforcer, values: Values) -> None:
        self._enforcer = enforcer
        self._values = values

    async def guarded(
        self,
        call: MemoryCall,
        attempt: Attempt,
        make: Callable[[], Awaitable[Ended]],
        *,
        tool: str,
        effect: Effect,
        arguments: Value,
    ) -> Ended | Asks:
        """Return what came of a call of memory, or the question without whose answer it is not made.

        Args:
            call: The call.
            attempt: The attempt at it.
            make: Makes it.
            tool: The tool of the model's that it is.
            effect: What making it twice does.
            arguments: What the model gave.

        Raises:
            Blocked: A policy does not let it be made.
            StoreUnavailable: What the policies say cannot be written down, so it must not be made.
        """
        if call.acting is None:
            return await make()
        so_far = so_far_of(call)
        if is_declined(so_far):
            await self._enforcer.declined(call, attempt, so_far)
            return DECLINED
        stored = await self._values.get(call.tenant, call.task_id, arguments)
        given = mapping(stored, call.path, InvalidArguments)
        gate = self._enforcer.gate(
            call,
            attempt,
            tool,
            effect,
            acting=call.acting,
            arguments=given,
            digest=content_digest([tool, given]),
            so_far=so_far,
        )
        if stopped := await gate.stopped():
            return permission(call, Subject(tool=tool, arguments=shortened(given)), so_far, stopped)
        made = await make()
        return made.changed(warnings=gate.warnings) if gate.warnings else made
