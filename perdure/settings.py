"""Owns the settings: what an operator may choose, where it is read from, and what is refused.

Environment variables (``PERDURE_…``) win over files that hold one value each (``PERDURE_REDIS_URL_FILE``), and these
over one TOML file: ``$PERDURE_CONFIG``, otherwise ``./perdure.toml``, otherwise
``$XDG_CONFIG_HOME/perdure/perdure.toml``. Temporal is configured by Temporal's own client configuration
(``TEMPORAL_ADDRESS``, profiles, TLS, API key). Never starts or connects to anything.
"""

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from perdure.addresses import require_safe
from perdure.cron import problem_of
from perdure.errors import InvalidInput
from perdure.identity import digest
from perdure.model import Name, Passed
from perdure.modules import MemberName, ModelName, Module, expanded
from perdure.names import TASK_QUEUE
from perdure.setting_refusals import not_a_list, unusable
from perdure.suggestions import nearest
from perdure.temporal.configuration import temporal_address
from perdure.variables import PREFIX, base_folder, read_file, read_secrets, warn_of_unknown, without_services
from perdure.words import ENGLISH, languages

# The worker that "up" starts runs in another folder than the person who wrote a relative path.
Absolute = Annotated[Path, AfterValidator(expanded)]


class Addresses(Passed):
    """Where the servers are."""

    temporal: str
    """Temporal's frontend: ``host:port``."""
    temporal_ui: str = ""
    """The URL of the Temporal UI; empty where it is not known."""
    weaviate_url: str
    weaviate_grpc_port: int
    weaviate_api_key: SecretStr | None = None
    weaviate_open_files: int = 20_000
    """How many files Weaviate's process may open; it bounds how many users it keeps open."""
    redis_url: str


class Settings(BaseSettings):
    """Everything that an operator may choose; each has a default that works on one machine."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    home: Absolute = Field(default_factory=lambda: base_folder("XDG_DATA_HOME", ".local/share"))
    """The folder of all data on this machine: tenant key, journal, local servers, traces, logs."""
    cache: Absolute = Field(default_factory=lambda: base_folder("XDG_CACHE_HOME", ".cache"))
    """Where server binaries that were downloaded or built are kept."""
    downloads: str = "https://github.com"
    """Where official server releases are fetched from; a mirror with the same paths will do."""

    weaviate_url: str | None = None
    """Weaviate's HTTP address. Without one, a local server is started."""
    weaviate_grpc_port: Annotated[int, Field(ge=1, le=65535)] = 50051
    """Weaviate's gRPC port, on the same host."""
    weaviate_api_key: SecretStr | None = None
    """Its key, if it wants one."""
    weaviate_open_files: Annotated[int, Field(ge=256)] = 20_000
    """How many files a Weaviate that you run may open (``ulimit -n``). An open user takes 45: as many as fit into half
    of the limit are kept open, 217 by default, and using another one opens it."""
    redis_url: str | None = None
    """Redis' address, with its password if it has one. Without one, a local server is started."""
    task_queue: Name = TASK_QUEUE
    """The Temporal task queue that workers listen to and tasks are sent to."""

    examples: bool = False
    """Whether the examples that come with Perdure are there: their skills and tools; see docs/examples.md."""
    tools: tuple[Module, ...] = ()
    """Modules whose ``@tool`` functions this installation has: import paths, or files such as ``./tools.py``."""
    skills: tuple[Absolute, ...] = ()
    """Folders with skills in YAML."""
    agents: tuple[Absolute, ...] = ()
    """Folders with agents in YAML."""
    prompts: tuple[Absolute, ...] = ()
    """Folders with prompts in YAML, which skills and agents use by name."""
    policies: tuple[Absolute, ...] = ()
    """Folders with policies in YAML, which say what no tool may do; see docs/policies.md."""
    mcp_servers: tuple[Absolute, ...] = ()
    """Folders with MCP servers in YAML, whose tools skills and agents use; see docs/tools.md."""
    secrets: tuple[Absolute, ...] = ()
    """Folders with secrets of tools, each in a file of its name; variables ``PERDURE_SECRET_…`` win over them."""
    secrets_from: MemberName = ""
    """``module:name`` of where secrets are besides, the module by its import path or its file: see docs/tools.md."""

    embedding: ModelName = "auto"
    """The embedding model: ``auto``, ``all-MiniLM-L6-v2``, or a provider's."""
    language: str = ENGLISH
    """The language that words are stemmed in before they are searched, as Snowball names it. What is stored is bound to
    it, as to the embedding model; other languages are found by words too, where they are written alike."""
    openai_api_key: SecretStr | None = None
    """Without one, the library's own ``OPENAI_API_KEY`` is used."""
    openai_base_url: str | None = None
    """Any server that speaks OpenAI's API."""

    model: ModelName = ""
    """The language model that extracts memories from what is said, and that agents use which name none. Without one,
    rules extract."""
    model_api: Literal["responses", "chat"] = "responses"
    """How OpenAI's server is asked: by its Responses API, or chat completions, which compatible servers have."""
    summary_model: ModelName = ""
    """The language model that makes summaries of an agent's earlier turns; by default, the agent's own."""
    model_timeout: Annotated[float, Field(gt=0, le=3_600)] = 300.0
    """Seconds that an agent's model may take for one turn."""
    chat_idle_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 24.0
    """Hours that a conversation waits for the next message before it ends."""
    write_policies: Absolute | None = None
    """A YAML file of write policies, which says what may be believed; see docs/memory.md."""
    retention_rules: Absolute | None = None
    """A YAML file of retention rules, which says what is forgotten and when; see docs/rights.md."""

    memory_url: str | None = None
    """The service of another installation whose memory the tasks of this one's workers use; see docs/memory.md."""
    memory_token: SecretStr | None = None
    """A token for it, for all its users, with the scopes ``read`` and ``write``."""

    journal: Absolute | None = None
    """The folder of the journal, which all workers of an installation share; ``journal`` in ``home`` if not set."""
    recall_seconds: Annotated[float, Field(gt=0, le=60)] = 2.0
    """How long a recall may take before it answers with what it has."""
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Memories with less confidence are not recalled unless a question says otherwise."""
    trace_content: bool = False
    """Whether the texts of queries and memories may appear in spans."""
    summary_content: bool = False
    """Whether summaries of activities and timers may name elements of lists (``shops[North]``), which is content."""

    forgetting_cron: str = "0 3 * * *"
    """When the forgetting sweep runs, in UTC: minute, hour, day of the month, month, day of the week; or ``off``."""
    accesses_cron: str = "*/15 * * * *"
    """When recalls are recorded as uses, so that used memories do not age, in UTC."""
    promotion_cron: str = "*/10 * * * *"
    """When what is worth keeping of sessions goes to memory, before their episodes expire, in UTC."""
    consolidation_cron: str = "0 4 * * *"
    """When memories that say the same are merged, in UTC; only users with something new are looked at."""
    redating_cron: str = "0 2 * * *"
    """When entries that other retention rules dated are dated by today's, in UTC; it reads nothing if none changed."""
    reconciling_cron: str = "30 4 * * *"
    """When the stores are reconciled with each other even if none is known to have lost data, in UTC."""
    forgetting_grace_days: Annotated[int, Field(ge=0, le=3650)] = 30
    """How long something forgotten can be brought back before it is purged."""
    forgetting_guard: Annotated[float, Field(gt=0, le=1)] = 0.3
    """A sweep that would forget more than this part of a user's memories is held for a person."""

    webhook_url: SecretStr | None = None
    """The address that is told of every question to a person; see docs/questions.md."""
    webhook_secret: SecretStr | None = None
    """What deliveries to the webhook are signed with: at least 16 characters."""
    webhook_content: bool = False
    """Whether the text of a question, and what it is about, may be delivered as well."""

    http_host: str = "127.0.0.1"
    """Where the HTTP service listens; another address than loopback is for networks, behind TLS. See docs/http.md."""
    http_port: Annotated[int, Field(ge=0, le=65535)] = 8321
    """The HTTP service's port; 0: any that is free."""
    oidc_issuer: str = ""
    """The address of an OpenID provider whose tokens the HTTP service believes; empty: nobody's."""
    oidc_audience: str = ""
    """What these tokens name as their audience."""
    oidc_user_claim: str = "sub"
    """The claim of these tokens that holds the user's id."""
    oidc_keys_url: str = ""
    """Where the provider's keys are; empty: as its own configuration says."""

    heartbeat_timeout: Annotated[float, Field(ge=1, le=600)] = 2.0
    """Seconds without a heartbeat after which a worker counts as dead. With 2 and a sticky time-out of 1, a task goes
    on 4 s after its worker was killed; with the defaults of Temporal it took 21 s."""
    sticky_timeout: Annotated[float, Field(ge=1, le=600)] = 1.0
    """Seconds that a workflow waits for the worker that last ran it."""
    tool_attempts: Annotated[int, Field(ge=1, le=1000)] = 5
    """How often a tool that raises an exception of its own is tried; a killed attempt does not count."""
    continue_after: Annotated[int, Field(ge=0, le=40_000)] = 0
    """Events after which a task's history is rolled over; 0: after about 1,000."""
    claim_ttl_days: Annotated[float, Field(gt=0, le=3650)] = 90
    """How long claims on ``once`` effects are kept after their task's end: longer than the namespace's retention."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except SettingsError as error:
            name = next((field for field in type(self).model_fields if f'"{field}"' in str(error)), "settings")
            raise not_a_list(name) from None
        except ValidationError as error:
            raise unusable(error, type(self), values) from None

    def changed(self, **changes: Any) -> Self:
        """Return a copy with some settings changed, each checked."""
        return type(self)(**(dict(self) | changes))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments, then the environment, then the files that it names, then the one TOML file."""
        kinds = {name: field.rebuild_annotation() for name, field in settings_cls.model_fields.items()}
        warn_of_unknown(kinds)
        if isinstance(env_settings, EnvSettingsSource):
            # As variables, so that a list is JSON in a file as well. Pydantic knows them in small letters.
            in_files = {name.lower(): value for name, value in read_secrets(list(kinds)).items()}
            env_settings.env_vars = in_files | without_services(env_settings.env_vars)
        return init_settings, env_settings, InitSettingsSource(settings_cls, init_kwargs=read_file(kinds))

    @field_validator("language")
    @classmethod
    def _is_language(cls, language: str) -> str:
        if language != ENGLISH and language not in languages():
            raise ValueError(f"{language!r} is not a language of Snowball's; {nearest(language, languages())}")
        return language

    @field_validator("weaviate_url", "redis_url", "downloads", "openai_base_url", "memory_url", mode="after")
    @classmethod
    def _is_url(cls, url: str | None) -> str | None:
        parts = urlsplit(url) if url else None
        known = {"http", "https", "redis", "rediss", "unix"}
        if parts is not None and (parts.scheme not in known or (parts.scheme != "unix" and not parts.hostname)):
            raise ValueError("must be a URL such as http://host:8080 or redis://host:6379")
        return url.rstrip("/") if url else None

    @field_validator(
        "forgetting_cron", "accesses_cron", "promotion_cron", "consolidation_cron", "redating_cron", "reconciling_cron"
    )
    @classmethod
    def _is_cron(cls, cron: str) -> str:
        if cron != "off" and (problem := problem_of(cron)):
            raise ValueError(problem)
        return cron

    @field_validator("summary_model")
    @classmethod
    def _is_model(cls, name: str) -> str:
        # Otherwise only the first summary of a task would tell.
        if name and not re.fullmatch(r"[^:]+:.+", name):
            raise ValueError("must be openai:<model>, <module>:<model>, or empty")
        return name

    @field_validator("webhook_url")
    @classmethod
    def _is_webhook(cls, url: SecretStr | None) -> SecretStr | None:
        # Without the address itself, which may hold a secret.
        parts = urlsplit(url.get_secret_value()) if url else None
        if parts is not None and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("must be a URL such as https://host/path")
        return url

    @field_validator("webhook_secret")
    @classmethod
    def _is_long(cls, secret: SecretStr | None) -> SecretStr | None:
        if secret is not None and len(secret.get_secret_value()) < 16:
            raise ValueError("must have at least 16 characters")
        return secret

    @model_validator(mode="after")
    def _is_signed(self) -> Self:
        if self.webhook_url is not None and self.webhook_secret is None:
            fix = f"set {PREFIX}WEBHOOK_SECRET, which signs deliveries"
            raise InvalidInput("webhook_secret", "is missing", fix=fix)
        return self

    @model_validator(mode="after")
    def _may_ask_elsewhere(self) -> Self:
        if self.memory_url is not None:
            # The token that is sent there opens the memory of all users.
            require_safe("memory_url", self.memory_url)
        if self.memory_url is not None and self.memory_token is None:
            fix = f"set {PREFIX}MEMORY_TOKEN to one that 'perdure tokens create' made there"
            raise InvalidInput("memory_token", "is missing", fix=fix)
        return self

    @model_validator(mode="after")
    def _has_two_ports(self) -> Self:
        parts = urlsplit(self.weaviate_url or "")
        try:
            port = parts.port
        except ValueError:
            # Whoever connects says so; the doctor then goes on to all else.
            return self
        if parts.hostname and (port or {"https": 443}.get(parts.scheme, 80)) == self.weaviate_grpc_port:
            fix = f"set {PREFIX}WEAVIATE_GRPC_PORT to that of gRPC, 50051 by default"
            raise InvalidInput("weaviate_grpc_port", f"is {self.weaviate_grpc_port}, as that of weaviate_url", fix=fix)
        return self

    @property
    def tenant_key_file(self) -> Path:
        """The file of the tenant key."""
        return self.home / "tenant.key"

    @property
    def journal_folder(self) -> Path:
        """The folder of the journal."""
        return self.journal or self.home / "journal"

    def named_addresses(self) -> dict[str, Any]:
        """Return the fields of ``Addresses`` that the settings name."""
        names = ("weaviate_url", "weaviate_grpc_port", "weaviate_api_key", "weaviate_open_files")
        weaviate = names if self.weaviate_url else ()
        others = {"temporal": temporal_address(), "redis_url": self.redis_url}
        return {name: getattr(self, name) for name in weaviate} | {name: at for name, at in others.items() if at}

    def configured_addresses(self) -> Addresses | None:
        """Return the addresses if every server has one, in which case nothing needs to be started."""
        named = self.named_addresses()
        return Addresses(**named) if {"temporal", "weaviate_url", "redis_url"} <= named.keys() else None

    def environment(self) -> dict[str, str]:
        """Return the variables that make another process load exactly these settings."""
        secrets = {name: value.get_secret_value() for name, value in self if isinstance(value, SecretStr)}
        values = self.model_dump(mode="json", exclude_none=True) | secrets
        return {"PERDURE_CONFIG": os.devnull} | {
            PREFIX + name.upper(): value if isinstance(value, str) else json.dumps(value)
            for name, value in values.items()
        }

    @property
    def fingerprint(self) -> str:
        """A digest that distinguishes these settings from others without revealing them."""
        return digest("settings/1", *(f"{name}={value}" for name, value in self.environment().items()))
