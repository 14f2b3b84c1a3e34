"""Requirements on a Temporal namespace before it is served: it has to exist, with the search attributes."""

import asyncio
import time
from collections.abc import Iterable

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import NamespaceUnusable
from perdure.names import Attribute
from perdure.temporal.errors import perdure_error

USABLE_WITHIN = 60.0
"""Seconds that Temporal may take until it uses an attribute that was registered: its servers read their list of them
anew once a minute (a single server: after 2.4 s, measured)."""

_KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
_POLL_SECONDS = 0.5
_OF_ALL = " AND ".join(f"{attribute.value} = 'none'" for attribute in Attribute)


async def prepare(client: Client, *, within: float = USABLE_WITHIN) -> None:
    """Check the client's namespace, register the search attributes that it lacks, and wait until they can be used.

    Args:
        client: A client of the namespace.
        within: Seconds that this may take.

    Raises:
        NamespaceUnusable: It does not exist, or its attributes cannot be registered; with the command to run.
        StoreRefused: Temporal refuses this client's login.
        StoreUnavailable: Temporal does not answer.
    """
    if await _usable(client):
        return
    try:
        if lacking := await missing(client):
            await _register(client, lacking)
    except RPCError as error:
        raise _refused(client, error.message) from error
    end = time.monotonic() + within
    while not await _usable(client):
        if time.monotonic() > end:
            raise _refused(client, f"they are not usable {within:g} s after they were registered")
        await asyncio.sleep(_POLL_SECONDS)


async def _register(client: Client, attributes: Iterable[Attribute]) -> None:
    wanted = {attribute.value: _KEYWORD for attribute in attributes}
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=wanted)
        )
    except RPCError:
        # Another worker that starts may have registered them meanwhile.
        if await missing(client):
            raise


async def missing(client: Client) -> list[Attribute]:
    """Return the search attributes that the client's namespace does not have as keywords."""
    there = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace), retry=True
    )
    return [attribute for attribute in Attribute if there.custom_attributes.get(attribute.value) != _KEYWORD]


def command(namespace: str, attributes: Iterable[Attribute] = Attribute) -> str:
    """Return the command with which an operator registers search attributes."""
    names = " ".join(f"--name {attribute.value} --type Keyword" for attribute in attributes)
    return f"temporal operator search-attribute create --namespace {namespace} {names}"


async def _usable(client: Client) -> bool:
    """Return whether the attributes can be asked for, which is when they can also be set."""
    try:
        await client.count_workflows(_OF_ALL)
    except RPCError as error:
        if error.status is RPCStatusCode.INVALID_ARGUMENT:
            return False
        if error.status is RPCStatusCode.NOT_FOUND:
            raise NamespaceUnusable(
                f"Temporal has no namespace {client.namespace!r}: run temporal operator namespace create "
                f"--namespace {client.namespace}, or correct it in Temporal's client configuration"
            ) from error
        raise perdure_error(error) or error from error
    return True


def _refused(client: Client, problem: str) -> NamespaceUnusable:
    return NamespaceUnusable(f"the search attributes cannot be used ({problem}): run {command(client.namespace)}")
