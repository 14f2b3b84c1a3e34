import json
import os
from pathlib import Path
from typing import Any

import pytest

from localservers.fleet import worker_environment
from perdure.errors import InvalidInput
from perdure.settings import Addresses, Settings


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in list(os.environ):
        if variable.startswith("PERDURE_"):
            monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)


def test_defaults_are_in_the_users_folders(tmp_path: Path) -> None:
    settings = Settings()

    assert settings.home == tmp_path / "me/.local/share/perdure"
    assert settings.cache == tmp_path / "me/.cache/perdure"
    assert settings.journal_folder == settings.home / "journal"
    assert settings.configured_addresses() is None


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "perdure.toml").write_text('task_queue = "file"\nclaim_ttl_days = 7\n')
    monkeypatch.setenv("PERDURE_TASK_QUEUE", "environment")

    settings = Settings()

    assert (settings.task_queue, settings.claim_ttl_days) == ("environment", 7)


def test_the_users_file_is_read_where_there_is_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "me/.config/perdure"
    folder.mkdir(parents=True)
    (folder / "perdure.toml").write_text('task_queue = "mine"\n')

    assert Settings().task_queue == "mine"


def test_relative_paths_in_the_file_lead_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop").mkdir()
    written = (
        'skills = ["skills", "/all"]\ntools = ["./tools.py", "shop.tools"]\njournal = "~/j"\nmodel = "./m.py:small"\n'
        'home = "../data"\nretention_rules = "rules.yaml"\nembedding = "openai:text"\n'
    )
    (tmp_path / "shop/perdure.toml").write_text(written)
    monkeypatch.setenv("PERDURE_CONFIG", "shop/perdure.toml")
    monkeypatch.setenv("PERDURE_AGENTS", '["agents"]')
    settings, shop = Settings(), tmp_path / "shop"
    assert settings.skills == (shop / "skills", Path("/all"))
    assert settings.tools == (str(shop / "tools.py"), "shop.tools")
    assert settings.journal == tmp_path / "me/j"
    assert settings.model == f"{shop}/m.py:small"
    assert settings.agents == (tmp_path / "agents",)
    assert (settings.home, settings.retention_rules) == (tmp_path / "data", shop / "rules.yaml")
    assert settings.embedding == "openai:text"

    # The same file by another way is the same settings.
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    monkeypatch.setenv("PERDURE_CONFIG", "../shop/perdure.toml")
    monkeypatch.setenv("PERDURE_AGENTS", json.dumps([str(tmp_path / "agents")]))
    assert Settings().fingerprint == settings.fingerprint


def test_what_is_wrong_in_the_file_is_said_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "perdure.toml").write_text("claim_ttl_days = 0")
    with pytest.raises(InvalidInput, match=r"set PERDURE_CLAIM_TTL_DAYS or its line in perdure\.toml"):
        Settings()


def test_where_there_is_no_file_its_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_CONFIG", os.devnull)
    monkeypatch.setenv("PERDURE_CLAIM_TTL_DAYS", "0")
    with pytest.raises(InvalidInput, match=r"or its line in perdure\.toml"):
        Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('task_que = "x"', "task_que: is not a setting (did you mean 'task_queue'?)"),
        ('task_queue = "a b"', "task_queue: 'a b' is not a valid name (letters"),
        ("claim_ttl_days = 0", "claim_ttl_days: 0 is too small"),
        ('summary_model = "cheap"', "summary_model: must be openai:<model>, <module>:<model>, or empty"),
        ('weaviate_url = "localhost"', "weaviate_url: must be a URL"),
        ("task_queue", "is not TOML"),
        ("tools = [./tools.py]", "is not TOML: Invalid value (at line 1, column 10) (write name = value, and text in"),
        ('# first\ntool = ["./a.py"]', "perdure.toml:2: tool: is not a setting (did you mean 'tools'?)"),
        ("http_port = 80\nclaim_ttl_days = 0", "perdure.toml:2: claim_ttl_days: 0 is too small"),
        ("[redis_url]\nhost = 1", "perdure.toml:1: redis_url: is a mapping"),
    ],
)
def test_a_bad_file_is_refused_naming_the_field(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "perdure.toml").write_text(text)

    with pytest.raises(InvalidInput) as raised:
        Settings()

    assert message in str(raised.value)


def test_only_what_the_file_sets_is_said_to_be_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "perdure.toml").write_text("claim_ttl_days = 1")
    with pytest.raises(InvalidInput, match=r"^PRD100 claim_ttl_days: 0 is too small"):
        Settings(claim_ttl_days=0)
    monkeypatch.setenv("PERDURE_CLAIM_TTL_DAYS", "0")
    with pytest.raises(InvalidInput, match=r"^PRD100 claim_ttl_days: '0' is too small"):
        Settings()


def test_an_unknown_variable_is_warned_of_once_naming_the_nearest(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # A name of its own: whatever ran before in this process may have been warned of the usual one.
    monkeypatch.setenv("PERDURE_REDIS_URI", "redis://h")
    for _ in range(2):
        Settings()
    told = [one.getMessage() for one in caplog.records]
    assert told == ["PERDURE_REDIS_URI is not a setting, and is ignored (did you mean 'PERDURE_REDIS_URL'?)"]


def test_what_kubernetes_says_of_its_services_is_no_setting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in (
        *("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT_7233_TCP", "PORT_7233_TCP_ADDR"),
        *("WORKER_SERVICE_HOST", "REDIS_PORT_6379_TCP_PROTO"),
    ):
        monkeypatch.setenv(f"PERDURE_{name}", "10.0.0.7")
    for name in ("PORT", "REDIS_PORT"):
        monkeypatch.setenv(f"PERDURE_{name}", "tcp://10.0.0.7:6379")
    monkeypatch.setenv("PERDURE_HTTP_PORT", "tcp://10.0.0.7:80")
    monkeypatch.setenv("PERDURE_WEAVIATE_GRPC_PORT", "tcp://10.0.0.8:50051")
    settings = Settings()
    assert (settings.http_port, settings.weaviate_grpc_port) == (8321, 50051)
    assert caplog.records == []
    monkeypatch.setenv("PERDURE_HTTP_PORT", "80")
    assert Settings().http_port == 80, "the control"


@pytest.mark.parametrize("name", ["CONFIG_FILE", "CONFIGS", "CRASH_ATT", "GRPC_PORT", "WEAVIATE_PORT"])
def test_what_only_looks_like_a_variable_of_others_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    monkeypatch.setenv(f"PERDURE_{name}", "50052")
    Settings()
    assert [one.getMessage().partition(",")[0] for one in caplog.records] == [f"PERDURE_{name} is not a setting"]


def test_a_value_is_read_from_the_file_that_a_variable_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("k-1\n", encoding="utf-8")
    monkeypatch.setenv("PERDURE_WEAVIATE_API_KEY_FILE", str(tmp_path / "key"))
    key = Settings().weaviate_api_key
    assert key is not None
    assert key.get_secret_value() == "k-1"

    monkeypatch.setenv("PERDURE_WEAVIATE_API_KEY", "k-2")
    with pytest.raises(InvalidInput, match="PERDURE_WEAVIATE_API_KEY: is given, and PERDURE_WEAVIATE_API_KEY_FILE as"):
        Settings()


def test_a_list_in_a_file_of_its_own_is_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file := tmp_path / "tools").write_text('["a.b", "c"]\n', encoding="utf-8")
    monkeypatch.setenv("PERDURE_TOOLS_FILE", str(file))
    assert Settings().tools == ("a.b", "c")

    file.write_text("a.b\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"tools: is not a list .write it as JSON"):
        Settings()


def test_a_child_loads_the_settings_of_its_parent_also_where_one_is_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("k-1\n", encoding="utf-8")
    monkeypatch.setenv("PERDURE_OPENAI_API_KEY_FILE", str(tmp_path / "key"))
    settings = Settings()
    addresses = Addresses(redis_url="redis://h:1", temporal="h:2", weaviate_url="http://h:3", weaviate_grpc_port=4)

    environment = worker_environment(settings, addresses)

    assert environment["PERDURE_OPENAI_API_KEY"] == "k-1"
    for name in filter(lambda name: name not in environment, list(os.environ)):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Settings().openai_api_key == settings.openai_api_key


def test_a_secrets_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_REDIS_URL_FILE", "/run/secrets/nothing")
    with pytest.raises(InvalidInput, match="PERDURE_REDIS_URL_FILE: /run/secrets/nothing cannot be read: No such file"):
        Settings()


def test_files_that_are_not_utf8_are_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (file := tmp_path / "perdure.toml").write_bytes(b"\xff\xfe\x00")
    monkeypatch.setenv("PERDURE_CONFIG", str(file))
    with pytest.raises(InvalidInput, match=r"perdure\.toml: is not UTF-8 text .save it as plain text, in UTF-8"):
        Settings()
    monkeypatch.delenv("PERDURE_CONFIG")
    monkeypatch.setenv("PERDURE_REDIS_URL_FILE", str(file))
    with pytest.raises(InvalidInput, match=r"PERDURE_REDIS_URL_FILE: .* is not UTF-8 text .save it as plain text"):
        Settings()


def test_a_list_that_is_none_is_refused_with_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_TOOLS", "my.tools")

    with pytest.raises(InvalidInput, match=r"tools: is not a list .write it as JSON: PERDURE_TOOLS="):
        Settings()


def test_a_missing_named_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_CONFIG", "/nowhere.toml")

    with pytest.raises(InvalidInput, match=r"there is no file /nowhere\.toml .correct PERDURE_CONFIG, or unset"):
        Settings()


def test_a_refused_secret_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_REDIS_URL", "hunter2")

    with pytest.raises(InvalidInput) as raised:
        Settings()

    assert "hunter2" not in str(raised.value)


def test_another_process_loads_the_same_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(
        home=tmp_path / "home",
        tools=("a.b", "c"),
        skills=(tmp_path / "skills",),
        weaviate_api_key="secret",
        trace_content=True,
        redis_url="redis://:pw@host:1",
    )
    (tmp_path / "perdure.toml").write_text('openai_base_url = "http://elsewhere"\n')
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)

    assert Settings() == settings


def test_temporal_is_configured_temporals_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "temporal.example:7233")
    monkeypatch.setenv("PERDURE_WEAVIATE_URL", "http://weaviate.example:8080/")
    monkeypatch.setenv("PERDURE_REDIS_URL", "redis://redis.example")

    addresses = Settings().configured_addresses()

    assert addresses is not None
    assert addresses.temporal == "temporal.example:7233"
    assert addresses.weaviate_url == "http://weaviate.example:8080"


def test_folders_are_those_of_whoever_wrote_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_SKILLS", '["skills", "~/skills"]')
    environment = Settings().environment()

    # As the supervisor and its worker do.
    monkeypatch.chdir("/")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Settings().skills == (tmp_path / "skills", tmp_path / "me/skills")


@pytest.mark.parametrize("cron", ["nonsense", "0 3 * *", "0 3 * * * *", "@daily", "0 3 * * *; x"])
def test_a_cron_that_is_none_is_refused_naming_the_field(monkeypatch: pytest.MonkeyPatch, cron: str) -> None:
    for name in ("forgetting_cron", "accesses_cron", "redating_cron", "reconciling_cron"):
        monkeypatch.setenv(f"PERDURE_{name.upper()}", cron)
        with pytest.raises(InvalidInput, match=f"{name}: must be five fields .*set PERDURE_{name.upper()}"):
            Settings()
        monkeypatch.setenv(f"PERDURE_{name.upper()}", "*/5 0-3,9 1 JAN-mar MON")
        Settings()


@pytest.mark.parametrize(
    ("cron", "problem"),
    [
        ("61 * * * *", "has 61 where at most 59 is meant"),
        ("0 24 * * *", "has 24 where at most 23 is meant"),
        ("0 3 1,32 * *", "has 32 where at most 31 is meant"),
        ("0 3 * 1-13 *", "has 13 where at most 12 is meant"),
        ("0 3 * * 8", "has 8 where at most 7 is meant"),
    ],
)
def test_a_number_that_no_clock_or_calendar_has_is_refused(
    monkeypatch: pytest.MonkeyPatch, cron: str, problem: str
) -> None:
    monkeypatch.setenv("PERDURE_FORGETTING_CRON", cron)
    with pytest.raises(InvalidInput, match=f"forgetting_cron: {problem}"):
        Settings()
    monkeypatch.setenv("PERDURE_FORGETTING_CRON", "*/90 0-23/48 31 12 0,7")
    Settings()


def test_a_language_that_cannot_be_stemmed_is_refused_naming_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_LANGUAGE", "germann")
    with pytest.raises(InvalidInput, match="did you mean 'german'"):
        Settings()


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"webhook_url": "https://host/path"}, "webhook_secret: is missing"),
        ({"webhook_url": "ftp://host/token", "webhook_secret": "x" * 16}, "webhook_url: must be a URL"),
        ({"webhook_url": "https:///token", "webhook_secret": "x" * 16}, "webhook_url: must be a URL"),
        ({"webhook_url": "https://host", "webhook_secret": "short"}, "webhook_secret: must have at least 16"),
    ],
)
def test_a_webhook_that_cannot_be_signed_or_reached_is_refused_without_its_address(
    values: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        Settings(**values)
    assert "token" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://memory.example.org", "http://10.0.0.7:8321", "redis://127.0.0.1:6379"])
def test_a_token_for_all_users_is_sent_to_no_address_where_others_can_read_it(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("PERDURE_MEMORY_TOKEN", "hush")
    monkeypatch.setenv("PERDURE_MEMORY_URL", url)
    with pytest.raises(InvalidInput, match=r"memory_url: .* is not an address by https .write https://"):
        Settings()
    for safe in ("https://memory.example.org", "http://127.0.0.1:8321"):
        monkeypatch.setenv("PERDURE_MEMORY_URL", safe)
        assert Settings().memory_url == safe


def test_the_address_of_a_webhook_is_a_secret() -> None:
    values: dict[str, Any] = {"webhook_url": "https://host/hush", "webhook_secret": "a long secret, this"}
    settings = Settings(**values)
    assert "hush" not in repr(settings)
    assert settings.environment()["PERDURE_WEBHOOK_URL"] == "https://host/hush"
