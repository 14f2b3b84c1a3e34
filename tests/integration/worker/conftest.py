"""A Temporal namespace of its own: a schedule has one id for the whole namespace."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest_asyncio
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import ListSchedulesRequest, RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from perdure.temporal.plugin import Plugin
from tests.conftest import Servers


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def namespaced(servers: Servers) -> Client:
    name = f"schedules-{uuid4().hex[:8]}"
    retention = Duration()
    retention.FromTimedelta(timedelta(days=1))
    client = await Client.connect(servers.temporal, namespace=name, plugins=[Plugin()])
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
    )
    async with asyncio.timeout(30):
        while True:
            try:
                await client.workflow_service.list_schedules(ListSchedulesRequest(namespace=name))
            except RPCError:
                await asyncio.sleep(0.1)
            else:
                return client
