"""What a model did becomes a skill when a person approves it, and asks what had to be approved before."""

from pathlib import Path
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer

from tests.conftest import Servers
from tests.integration.worker.cli.installation import Installation, installation
from tests.support.tools import lines_in
from tests.support.turn_server import Asked, Call, Says, TurnServer

WRITER = "name: writer\nmodel: openai:test\ntools: [append]\napprove: [append]\n"

pytestmark = pytest.mark.slow


async def approved(given: Installation, file: str) -> str:
    """Run a task, say yes to what it asks, and return the command's last output."""
    following = await given.start("run", file)
    answer = await following.says("perdure answer")
    assert (await given.typed(answer.replace("ANSWER", "yes"))).status == 0
    ended = await following.ended()
    assert ended.status == 0, ended.err
    return answer


async def test_a_draft_is_shown_and_saved_only_when_somebody_approves_it(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer
) -> None:
    ledger, user = str(tmp_path / "ledger"), f"ada {uuid4().hex}"

    def script(asked: Asked) -> Says:
        calls = () if asked.outputs else (Call("append", {"ledger": ledger, "line": "hello"}),)
        return Says("" if calls else "It is written.", calls)

    for name in ("agents", "skills"):
        (tmp_path / name).mkdir()
    (tmp_path / "agents" / "writer.yaml").write_text(WRITER)
    place = tmp_path / "skills" / "hello.yaml"
    async with installation(
        servers,
        tmp_path,
        skills=(tmp_path / "skills",),
        agents=(tmp_path / "agents",),
        tools=("tests.support.tools",),
        openai_api_key="k",
        openai_base_url=TurnServer(httpserver, script).url,
    ) as given:
        await given.ready_worker()
        asked = f"task_id: one\nuser_id: {user}\nagent: writer\ngoal: Write hello into the ledger\n"
        await approved(given, done := given.write("goal.yaml", asked))

        draft = await given.perdure("skills", "propose", done, "--name", "hello")
        assert (draft.status, "May append be called?" in draft.out) == (0, True), draft.err
        assert not place.exists()
        unknown = await given.perdure("skills", "propose", done, "--name", "hello", PERDURE_TOOLS="[]")
        assert (unknown.status, "'append'" in unknown.complaint) == (2, True), unknown.out

        saved = await given.perdure("skills", "propose", done, "--name", "hello", "--approve")
        assert (saved.status, saved.out.strip()) == (0, str(place)), saved.err
        assert "Approved by" in place.read_text()
        again = await given.perdure("skills", "propose", done, "--name", "hello", "--approve")
        assert (again.status, "there is a skill 'hello' already" in again.complaint) == (2, True)

        # What the goal names is an input, and what it does not is written down.
        wanted = f"task_id: two\nuser_id: {user}\nskill: hello\ninputs: {{line: hello again}}\n"
        await approved(given, given.write("skill.yaml", wanted))
        assert lines_in(ledger) == ["hello", "hello again"]
