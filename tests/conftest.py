"""Fixtures that all tests share: the real servers, and which tests run alone."""

import gc
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import hypothesis
import pytest
import pytest_asyncio
import structlog

from localservers import Fleet, Server, ensure, find_all, running, stop
from perdure.expressions.evaluation import _compiled, _split  # pyright: ignore[reportPrivateUsage]
from perdure.settings import Addresses, Settings
from perdure.words import _separators_but, stem  # pyright: ignore[reportPrivateUsage]

# A property is about results; how long examples take shows how busy the machine is.
ANY_SPEED: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
# The same examples in every run: whether a change is good must not depend on the draw. Twenty-five, for `make test`,
# where a test does not say how many.
hypothesis.settings.register_profile("perdure", **ANY_SPEED, derandomize=True, max_examples=25)
# Other ones each time, and more of them, for `make test-all`.
hypothesis.settings.register_profile("exploring", **ANY_SPEED, max_examples=200)
# A mutant is killed or survives the same way in every run, and no example is kept from the one before it.
hypothesis.settings.register_profile("mutants", deadline=None, derandomize=True, database=None, max_examples=25)
hypothesis.settings.load_profile("perdure")


HOME_VARIABLE = "PERDURE_TEST_HOME"
"""Names the data folder of the servers of a run, for the processes that run tests side by side."""

ALONE = (
    "integration/memory/recall/test_service.py",
    # What the SDK takes for a deadlock, two seconds of one activation, is measured by the clock.
    "integration/workflows/resumable_agent/test_bounds.py",
    "integration/workflows/resumable_agent/test_herd.py",
    "integration/workflows/resumable_agent/test_without_weaviate.py",
)
"""Tests that measure time: they are marked ``timed``, and nothing runs next to them."""

APART = (
    "crash/",
    "replay/test_upgrade.py",
    "replay/test_ahead.py",
    "replay/test_without_cache.py",
    # These sweep the tenants of all tests, or look through all that Redis holds.
    "integration/stores/redis/test_tenant_inventory.py",
    "integration/workflows/test_consolidate_memory.py",
    "integration/workflows/test_erased_copies.py",
    "integration/workflows/test_flush_accesses.py",
    "integration/workflows/test_forget_memory.py",
    "integration/workflows/test_redate_memory.py",
    "integration/worker/test_schedules.py",
    "integration/localservers/",
    "integration/demo/",
    # These start servers of their own.
    "integration/test_quickstarts.py",
    "integration/test_testing.py",
)
"""Tests that kill or stop processes, or change what others use: they are marked ``apart``. Two run at a time, each
with servers of its own: most of the time they wait, for processes that start and for what a kill leaves."""


SLOW = (
    "integration/worker/cli/test_chat.py",
    "integration/worker/cli/test_erase.py",
    "integration/worker/cli/test_memories.py",
    "integration/worker/cli/test_schedules.py",
    "integration/worker/cli/test_steering.py",
    "integration/worker/cli/test_tokens.py",
)
"""Tests that are marked ``slow``, a file as a whole: each starts an installation and a process for every command (a
third of a minute before the first one), for what the tests of the gateway show without."""

MEMORY = Path("/dev/shm")
"""Linux keeps this folder in memory, where a write is as durable as a test that kills processes needs it."""

MEMORY_NEEDED = 2_000_000_000
"""Bytes that have to be free there: all tests side by side leave 150 MB (measured)."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for tests that must not share their servers with others."""
    parser.addoption("--own-servers", action="store_true", help="start servers for each process that runs tests")


def pytest_configure(config: pytest.Config) -> None:
    """Create the data folder of the servers, outside pytest's own temporary folder, which is kept after the run.

    Both are in memory where it has room: most of what a test of the stores waits for is the disk.
    """
    if not hasattr(config, "workerinput"):
        if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED:
            os.environ["TMPDIR"] = str(MEMORY)
            tempfile.tempdir = None
        os.environ[HOME_VARIABLE] = tempfile.mkdtemp(prefix="perdure-tests-")
    elif config.getoption("own_servers"):
        os.environ[HOME_VARIABLE] = tempfile.mkdtemp(dir=os.environ[HOME_VARIABLE])


def pytest_sessionstart() -> None:
    """Begin with empty caches: what an earlier run in this process put there hides the mutants of what fills them."""
    _compiled.cache_clear()
    _split.cache_clear()
    stem.cache_clear()
    _separators_but.cache_clear()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers, whichever process started them, also after Ctrl-C."""
    if not hasattr(config, "workerinput") or config.getoption("own_servers"):
        home = Path(os.environ.pop(HOME_VARIABLE))
        stop(clean_settings(home))
        shutil.rmtree(home)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that have to run alone; and as slow the controls that use servers.

    A control shows that a test can fail. It needs to be run where the test changes, not with every change.
    """
    for item in items:
        if isinstance(item, pytest.Function) and "servers" in item.fixturenames and "control" in item.name:
            item.add_marker(pytest.mark.slow)
        for mark, files in (("timed", ALONE), ("apart", APART), ("slow", SLOW)):
            if item.nodeid.removeprefix("tests/").startswith(files):
                item.add_marker(mark)


def pytest_collection_finish() -> None:
    """Keep what has been collected out of Python's garbage collection.

    Ten thousand tests are 700,000 objects. To go through them took half a second, and beside four other processes as
    long as the two seconds after which the SDK takes a workflow for deadlocked, and interrupts whatever runs just then.
    """
    gc.collect()
    gc.freeze()


class Servers(Addresses):
    """Where the real servers of this test run listen."""


TENANT_KEY = bytes(range(32))
"""All data folders of a test run belong to one installation, which has one tenant key."""


def clean_settings(home: Path, **values: Any) -> Settings:
    """Return settings of a data folder, without any addresses that the user of this machine has configured.

    A recall waits long for stores that are there: beside other tests they take longer than a person would wait.
    """
    with pytest.MonkeyPatch.context() as patch:
        for variable in list(os.environ):
            if variable.startswith("PERDURE_") and variable != "PERDURE_CACHE":
                patch.delenv(variable)
        patch.setenv("PERDURE_CONFIG", os.devnull)
        return Settings(home=home, **{"recall_seconds": 20.0} | values)


def give_tenant_key(home: Path) -> None:
    """Put the test run's tenant key into a data folder, for workers that share stores with others."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "tenant.key").write_bytes(TENANT_KEY)


def journal_of(addresses: Addresses, home: Path) -> Path:
    """Return the journal's folder for workers on these servers.

    Those that use the servers of the test run share one journal, as they share one installation. A test that starts
    a Weaviate of its own has to start a Redis of its own as well, and the other way round.
    """
    run = Path(os.environ[HOME_VARIABLE])
    shared = running(clean_settings(run))
    assert shared is not None
    same = {addresses.redis_url == shared.redis_url, addresses.weaviate_url == shared.weaviate_url}
    assert len(same) == 1, "one store is of the test run's installation, and one of another"
    return run / "shared-journal" if same == {True} else home / "journal"


@pytest.fixture(scope="session", autouse=True)
def no_configured_temporal() -> Generator[None]:
    """Keep tests away from any Temporal that the user of this machine has configured."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in list(os.environ):
            if variable.startswith(("TEMPORAL_", "OTEL_")):
                patch.delenv(variable)
        patch.setenv("TEMPORAL_CONFIG_FILE", os.devnull)
        yield


_AUTHORITIES = {name: os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")}


@pytest.fixture(scope="session", autouse=True)
def no_authorities(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Let clients find no authority's certificate: the servers of the tests are asked without TLS.

    Each client of Weaviate reads all certificates when it is made, for 72 ms beside four other processes. That was a
    seventh of what these processes computed.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("authorities")))
        yield


@pytest.fixture
def authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients find them after all, for a test that speaks TLS or asks a server outside."""
    for name, value in _AUTHORITIES.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)


_FAILED_ATTEMPTS = "temporalio.activity"
_LOGGERS = ("", "httpx", "httpx2", "openai", "mcp")
"""What the set-up of log lines changes the level of."""


@pytest.fixture(autouse=True)
def logging_as_before() -> Generator[None]:
    """Take back what a test has set up to be logged: after a command that logs errors alone, no test sees a warning."""
    root = logging.getLogger()
    handlers = list(root.handlers)
    levels = {name: logging.getLogger(name).level for name in _LOGGERS}
    filters = list(logging.getLogger(_FAILED_ATTEMPTS).filters)
    yield
    root.handlers = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    logging.getLogger(_FAILED_ATTEMPTS).filters = filters
    structlog.reset_defaults()


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Generator[None]:
    """Let Ctrl-C reach the processes of tests, even if a shell started pytest in the background, ignoring SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def servers() -> Servers:
    """The real servers of this test run, shared by all tests, which unique tenants and keys keep apart."""
    # The first process to get here starts them; the others attach.
    addresses = ensure(clean_settings(Path(os.environ[HOME_VARIABLE])), worker=False, progress=print)
    return Servers.model_validate(addresses.model_dump())


class OwnServers(Protocol):
    """Starts servers for a single test."""

    async def __call__(self, *servers: Server) -> Fleet:
        """Start these servers; the fleet's addresses name the shared servers for all others."""
        ...


@pytest_asyncio.fixture(loop_scope="session")
async def own_servers(tmp_path: Path, servers: Servers) -> AsyncGenerator[OwnServers]:
    """Servers of a single test, which may stop, start, suspend and resume them.

    ``fleet = await own_servers(Server.REDIS, Server.WEAVIATE)``, then ``await fleet.stop(Server.REDIS)``, or
    ``fleet.child(Server.REDIS).signal(signal.SIGSTOP)`` and so on.
    """
    fleets: list[Fleet] = []

    async def start(*wanted: Server) -> Fleet:
        settings = clean_settings(tmp_path / f"own-{len(fleets)}")
        found = {server: path for server, path in find_all(settings, print).items() if server in wanted}
        fleet = Fleet(settings, found, print, others=servers)
        fleets.append(fleet)
        await fleet.start_all()
        return fleet

    yield start
    for fleet in fleets:
        await fleet.stop_all()


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test uses."""
    return f"t_{uuid4().hex}"
