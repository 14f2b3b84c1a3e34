"""What the command line refuses by itself, before it asks any server."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli.commands import app

TASKS = {
    "hello\n": "is text (write a mapping: name: value)",
    "": "is empty (write a mapping: name: value)",
    "task_id: t\ntask_id: u\n": "task.yaml:2: is not YAML: the key 'task_id' is duplicated",
    "task_id: t\nuser_id: ada\nskil: x\n": "skil: is not a field here (did you mean 'skill'?)",
    "task_id: t\nskill: dependency-audit\n": "user_id: is missing",
    "task_id: t\nuser_id: ada\nskill: s\nlimits: {steps: none}\n": "limits.steps: 'none' is not a whole number",
    "task_id: t\nuser_id: ada\nskill: s\nmemory: of\n": "memory: 'of' is not one of the choices (did you mean 'off'?)",
}

COMMANDS = {
    "run nothing.yaml": "nothing.yaml: cannot be read: No such file or directory",
    "recall --user u --key k": "--key: needs a lane (add --lane recommendation or feedback or pattern)",
    "recall --user u": "text: is missing (say what it is about, or name a log with --lane, or list with --strategy "
    "structured)",
    "recall LONG --user u": "text: has 1,000,000 characters (ask in at most 8,000)",
    "recall x --user u --since 2026-02-01 --until 2026-01-01": "--since: 2026-02-01 00:00:00 is not before --until "
    "2026-01-01 00:00:00: nothing lies between (swap them, or leave one out)",
    "memories refine mem_1 --user u": "--helpful: is missing (say whether it helped: --helpful or --not-helpful)",
    "recall x --user=": "--user: is empty (say whose memory)",
    "remember --user u": "content: is missing (give either a statement, or --file with a JSON list of items, or --lane",
    "forget --user=": "--user: is empty (say whose, or leave --user out)",
    "forget --user=u --of=": "--of: is empty (say which team or agent, or leave --of out)",
    "reconcile --user=": "--user: is empty (say whose, or leave --user out)",
    "tasks list --user=": "--user: is empty (say whose, or leave --user out)",
    "inbox --user=": "--user: is empty (say whose, or leave --user out)",
    "lessons list --user=": "--user: is empty (say whose, or leave --user out)",
    "run task.yaml --from=": "--from: is empty (say which step, or leave --from out)",
    "remember x --user=": "--user: is empty (say whose memory)",
    "remember x --user u --file object.json": "content: is given together with --file (give either a statement, or",
    "remember --user u --file object.json": "object.json: is not a JSON list of items",
    "remember --user u --file object.json --supersedes mem_1": "--supersedes: does not fit what is remembered (write",
    "remember --user u --file object.json --type preference": "--type: does not fit what is remembered (write",
    "remember --user u --file nothing.json": "nothing.json: cannot be read: No such file or directory",
    "remember --user u --file nan.json": "--file: NaN is no JSON number (write null, or leave the field out)",
    "recall x --user \udcff": "--user: is not UTF-8 text",
    "recall x --user u --lane pattern --key a --key \udcff": "--key: is not UTF-8 text",
    "remember \udcff --user u": "content: is not UTF-8 text",
    "forget --user \udcff": "--user: is not UTF-8 text",
    "forget --undo --sweep \udcff": "--sweep: is not UTF-8 text",
    "reconcile --user \udcff": "--user: is not UTF-8 text",
    "status \udcff": "task: is not UTF-8 text",
    "answer task-x q \udcff": "value: is not UTF-8 text",
    "answer task-x q yes --by \udcff": "--by: is not UTF-8 text",
    "remember --user u --file deep.json": "deep.json: is not a JSON list of items",
    "remember --user u --file nested.json": "nested.json: is not a JSON list of items",
    "remember --user u --file cut.json": "cut.json: is not JSON: expecting property name enclosed in double quotes in "
    "line 3, column 2",
    "remember --user u --file half.json": "half.json: is not a JSON list of items",
    "answer task-x --by=me  yes": "question_id: is empty",
    "observe --user u --session s --file said.jsonl": "said.jsonl:3: is not JSON (write an object in each line",
    "observe --user u --session s --file list.jsonl": "list.jsonl:1: is a list (write an object in each line",
    "forget --undo": "--undo: needs a user or a sweep (add --user, or --sweep with the id of one)",
    "forget --undo --user u --dry-run": "--undo: is not for --dry-run or --approve (leave them out)",
    "forget --undo --user u --approve": "--undo: is not for --dry-run or --approve (leave them out)",
    "forget --of team:ops": "--of: needs a user who belongs to it (add --user)",
    "forget --user u --of ops": "of: 'ops' is not a valid team or agent (write team:NAME or agent:NAME",
    "reconcile --of team:ops": "--of: needs a user who belongs to it (add --user)",
    "reconcile --user u --of ops": "of: 'ops' is not a valid team or agent (write team:NAME or agent:NAME",
    "lessons promote mem_1 --user=": "--user: is empty (say whose lesson)",
    "lessons promote mem_1 --user \udcff": "--user: is not UTF-8 text",
    "lessons withdraw ": "id: is empty (fill it in)",
    "audit show --user a --of team:b": (
        "--user: is given with another of the three (give one of --user, --of and --installation)"
    ),
    "forget --sweep s": "--sweep: is only for --undo (add --undo, or leave --sweep out)",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "object.json").write_text("{}")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "nested.json").write_text("[" * 400 + "]" * 400)
    (tmp_path / "cut.json").write_text('[\n  {"kind": "memory"},\n{')
    (tmp_path / "said.jsonl").write_text('{"text": "a"}\n\nhello\n')
    (tmp_path / "list.jsonl").write_text("[]\n")
    (tmp_path / "half.json").write_text('["\\ud800"]')
    (tmp_path / "nan.json").write_text('[{"kind": "record", "payload": {"x": NaN}}]')


def refused(*arguments: str) -> str:
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 2, ran.output
    assert ran.stdout == ""
    assert ran.stderr.count("\n") == 1
    return ran.stderr


@pytest.mark.parametrize("text", TASKS)
def test_a_task_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(text)

    assert TASKS[text] in refused("run", "task.yaml")


@pytest.mark.parametrize(
    "line",
    [
        "check FILE",
        "run FILE",
        "skills test FILE",
        "policies test FILE",
        "remember --user u --file FILE",
        "observe --user u --session s --file FILE",
    ],
)
def test_a_file_that_is_not_utf8_is_named_as_it_was_given(line: str, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "utf16.yaml").write_bytes(b"\xff\xfe\x00")
    told = refused(*line.replace("FILE", "below/utf16.yaml").split(" "))
    assert " below/utf16.yaml: is not UTF-8 text (save it as plain text, in UTF-8)\n" in told


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_refused(line: str) -> None:
    assert COMMANDS[line] in refused(*line.replace("LONG", "x" * 1_000_000).split(" "))


def test_a_misspelt_command_is_put_right() -> None:
    ran = CliRunner().invoke(app, ["statu"])

    assert ran.exit_code == 2
    assert "did you mean 'status'?" in ran.stderr
