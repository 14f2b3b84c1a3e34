"""One service with one worker for all tests of it."""

from collections.abc import AsyncGenerator, Generator

import httpx2
import pytest
import pytest_asyncio

from tests.conftest import Servers
from tests.support.http_service import Service, http_service
from tests.support.issuer import AUDIENCE, Issuer, issuer
from worker.access.failures import Failures

ECHO = """
name: echo-it
inputs: {text: {type: string, required: true}}
steps:
  - {id: say, tool: echo, args: {value: "${inputs.text}"}}
output: "${steps.say.output}"
"""

ASKS = """
name: ask-first
steps:
  - {id: say, tool: echo, args: {value: "hello"}, approve: "Say it?"}
output: "${steps.say.output}"
"""

ASKS_ABOUT = """
name: ask-about
inputs: {text: {type: string, required: true}}
steps:
  - {id: say, tool: echo, args: {value: "${inputs.text}"}, approve: "Say ${inputs.text}?"}
output: "${steps.say.output}"
"""

RESTOCKS = """
name: restock
inputs: {sku: {type: string, required: true}}
steps:
  - {id: order, tool: echo, args: {value: "${inputs.sku}"}}
output: "${steps.order.output}"
"""


@pytest.fixture(scope="package")
def provider() -> Generator[Issuer]:
    with issuer() as one:
        yield one


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def service(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory, provider: Issuer
) -> AsyncGenerator[Service]:
    folder = tmp_path_factory.mktemp("http")
    skills = folder / "skills"
    skills.mkdir()
    (skills / "echo-it.yaml").write_text(ECHO, encoding="utf-8")
    (skills / "ask-first.yaml").write_text(ASKS, encoding="utf-8")
    (skills / "ask-about.yaml").write_text(ASKS_ABOUT, encoding="utf-8")
    (skills / "restock.yaml").write_text(RESTOCKS, encoding="utf-8")
    policies = folder / "policies.yaml"
    policies.write_text("default: {hold: {rules: [{tags: [health]}]}}\n")
    settings = {"tools": ("tests.support.tools",), "skills": (skills,), "write_policies": policies}
    settings |= {"oidc_issuer": provider.url, "oidc_audience": AUDIENCE}
    async with http_service(servers, folder / "home", settings=settings) as one:
        yield one


@pytest.fixture
async def ada(service: Service, user: str) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client with all scopes, bound to one user, held by a person."""
    async with await service.client(user_id=user, person=True) as client:
        yield client


@pytest.fixture(autouse=True)
def forgiven(service: Service) -> None:
    """Forget the failures of other tests: all come from one address."""
    service.app.state.authenticator._failures = Failures()
