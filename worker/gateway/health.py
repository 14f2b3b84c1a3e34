"""How the components of an installation are, for whoever runs it."""

from typing import TYPE_CHECKING

from perdure.temporal.errors import translated
from perdure.values.changes import Actor
from worker.gateway.access import AccessCalls
from worker.gateway.base import call

if TYPE_CHECKING:
    from worker.components import Components, ComponentState


class HealthCalls(AccessCalls):
    """Asking the components, quickly enough to be asked every few seconds; ``status`` checks much more."""

    _components: "Components | None" = None

    @call
    async def components(self, *, by: Actor) -> "list[ComponentState]":
        """Return for each component whether it is reachable, since when it has been so, and how quickly it answers.

        Raises nothing for a component that is away: that is an answer.
        """
        from worker.components import Components  # noqa: PLC0415  it loads clients

        if self._components is None:
            self._components = Components(
                self._addresses, self._redis(), temporal=self._ask_temporal, workers=self.workers
            )
            self._stack.push_async_callback(self._components.close)
        return await self._components.states()

    @call
    async def warm(self, *, by: Actor) -> None:
        """Load and connect what the first requests would have to wait for, which takes seconds.

        Raises:
            StoreUnavailable: Temporal does not answer.
        """
        if reader := await self._own_reader():
            await reader.warm()
        await self.components(by=by)
        await self.client()

    @translated
    async def _ask_temporal(self) -> None:
        await (await self.client()).service_client.check_health()
