"""Tools: their signature is their contract, and a bad one is refused when it is made."""

import asyncio
import datetime
import functools
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from perdure import CallLimit, Secret, ToolCall, tool
from perdure.agent.preparation import ToolShape
from perdure.errors import InvalidInput, ResultTooLarge
from perdure.frames import frames_of, own
from perdure.mcp.servers import McpServers
from perdure.mcp.shape import read_server
from perdure.model import DEEPEST_VALUE, Model
from perdure.names import RESERVED_TOOLS
from perdure.secrets.sources import SecretKeeper
from perdure.toolbox import Toolbox
from perdure.tools import LONGEST_TIMEOUT, Effect
from tests.support.modules import unloaded
from workflows.options import of_tool


class Size(StrEnum):
    SMALL = "small"


class Thing(Model):
    name: str
    at: datetime.date


@tool(effect="read")
async def measure(thing: Thing, size: Size = Size.SMALL, *, call: ToolCall, factor: float = 2) -> Thing:
    """Measure."""
    assert call.step == "here"
    return thing.changed(name=f"{thing.name} {size} {factor}")


CALL = ToolCall(idempotency_key="k", task_id="t", step="here", attempt=1, deadline=datetime.datetime.now(datetime.UTC))


async def test_arguments_are_made_of_json() -> None:
    keywords = measure.validate({"thing": {"name": "a", "at": "2026-01-02"}, "size": "small"})
    result = measure.jsonable(await measure.call(CALL, keywords))
    assert result == {"name": "a small 2", "at": "2026-01-02"}
    assert measure.parameters == {"thing": True, "size": False, "factor": False}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "args.thing: is missing"),
        ({"thing": {"name": 1, "at": "2026-01-02"}}, "args.thing.name"),
        (
            {"thing": {"name": "a", "at": "2026-01-02"}, "factor": "3"},
            r"PRD104 args.factor: is text \(write a number\)",
        ),
        ({"thing": {"name": "a", "at": "2026-01-02"}, "sise": "small"}, "args.sise: .*did you mean 'size'"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        measure.validate(arguments)


def test_what_is_not_json_or_too_large_is_refused() -> None:
    with pytest.raises(InvalidInput, match="float that is not JSON"):
        measure.jsonable(float("nan"))
    with pytest.raises(InvalidInput, match="object that is not JSON"):
        measure.jsonable(object())
    with pytest.raises(ResultTooLarge, match=r"2,000,002 bytes, and a step carries at most 2,000,000 \(return a ref"):
        measure.jsonable("x" * 2_000_000)
    assert measure.jsonable("x" * 1_999_998) is not None


@pytest.mark.parametrize("levels", [100, 128, 129, 195, 300])
def test_what_is_nested_deeper_than_a_task_can_carry_is_refused(levels: int) -> None:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    if levels <= DEEPEST_VALUE:
        assert measure.jsonable(value) == value
    else:
        with pytest.raises(InvalidInput, match="at most 128 lists and mappings within one another"):
            measure.jsonable(value)


def test_what_a_tool_is_when_only_its_effect_is_declared() -> None:
    @tool(effect="read")
    async def look() -> int:
        """Look."""
        return 1

    @tool(effect="once")
    async def act() -> int:
        return 1

    assert (look.name, look.description) == ("look", "Look.")
    assert (look.quick, look.limits, look.check, look.secrets) == (False, (), None, ())
    assert (look.timeout, act.timeout, act.description) == (30.0, 4.0, "")
    assert tool(effect="idempotent")(look.function).timeout == 30.0


async def some(number: int) -> int:
    return number


def plain(number: int) -> int:
    return number


def shown(key: Annotated[str, Secret("mail-key")]) -> str:
    return key


async def one_by_one(number: int) -> AsyncIterator[int]:
    yield number


def each(number: int) -> Iterator[int]:
    yield number


def worded(number: int = "seven") -> int:  # pyright: ignore[reportArgumentType]  it is what is refused
    return number


def nothing(number: int = None) -> int:  # pyright: ignore[reportArgumentType]  it is what is refused  # noqa: RUF013
    return number


BOTH = (CallLimit(at_once=1), CallLimit(per_minute=2))


@pytest.mark.parametrize(
    ("declared", "function", "problem", "fix"),
    [
        ({"effect": "once", "quick": True}, some, "may run again", "declare it read or idempotent"),
        ({"effect": "read", "quick": True}, plain, "a thread cannot be cut off", "write it with async def"),
        ({"effect": "read", "quick": True, "limits": BOTH}, some, "waits for no turn", "leave one of the two out"),
        ({"effect": "read", "limits": (*BOTH, CallLimit(at_once=3))}, some, "two limits of one kind", "give one of ea"),
        ({"effect": "read", "limits": 5}, some, "has the limits 5, which are not a list", "give a list: limits=[Call"),
        ({"effect": "read", "limits": BOTH[0]}, some, "has the limits CallLimit", "give a list: limits=[CallLimit("),
        ({"effect": "read", "limits": [5]}, some, "has 5 among its limits, which is not one", "give a list: limits="),
        ({"effect": None}, some, "has the effect None, which is not one of the choices", "there are: idempotent, on"),
        ({"effect": "once", "check": 5}, some, "has a check that is 5, not a function", "give a function: def"),
        ({"effect": "once", "check": one_by_one}, some, "has a check that yields its results one by", "return a lis"),
        ({"effect": "read"}, one_by_one, "yields its results one by one", "return a list of them"),
        ({"effect": "read"}, each, "yields its results one by one", "return a list of them"),
        ({"effect": "read"}, Thing, "is the class Thing, not a function", "give a function: def"),
        ({"effect": "read"}, worded, "has the default 'seven' for 'number', which is not int", "give one that is"),
        (
            {"effect": "read"},
            nothing,
            "has the default None for 'number', which is not int",
            "annotate it with int | N",
        ),
        ({"effect": "read", "check": plain}, some, "has a check, which only a once tool needs", ""),
        ({"effect": "read", "timeout": -1.0}, some, "has the timeout -1.0", "give the seconds"),
        ({"effect": "read", "timeout": 0}, some, "has the timeout 0", "give the seconds"),
        ({"effect": "read", "timeout": "3s"}, some, "has the timeout '3s'", "give the seconds"),
        ({"effect": "read", "timeout": True}, some, "has the timeout True", "give the seconds"),
        ({"effect": "once", "timeout": float("inf")}, some, "has the timeout inf", "give the seconds"),
        ({"effect": "read", "timeout": float("nan")}, some, "has the timeout nan", "give the seconds"),
        ({"effect": "read", "timeout": 1e300}, some, "has the timeout 1e+300", "give the seconds"),
        ({"effect": "read", "timeout": 86_401}, some, "has the timeout 86401", "give the seconds"),
        ({"effect": "read", "name": "a b"}, some, "", ""),
        ({"effect": "read"}, shown, "", ""),
    ],
)
def test_what_does_not_go_together_is_refused_with_what_to_change(
    declared: dict[str, Any], function: Any, problem: str, fix: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        tool(**declared)(function)
    assert caught.value.field.startswith("tool ")
    assert problem in caught.value.problem
    assert caught.value.fix.startswith(fix)


def test_the_longest_time_of_a_tool_fits_the_time_for_which_its_step_is_tried() -> None:
    shape = ToolShape(effect=Effect.ONCE, timeout=tool(effect="once", timeout=LONGEST_TIMEOUT)(some).timeout)
    options = of_tool(shape, 4.0)
    assert options["schedule_to_close_timeout"] is not None
    assert options["start_to_close_timeout"] < options["schedule_to_close_timeout"]


def test_a_tool_may_be_quick_or_limited_in_several_ways() -> None:
    assert tool(effect="idempotent", quick=True)(some).quick
    limits = (*BOTH, CallLimit(at_once=1, per_user=True))
    assert tool(effect="once", limits=limits)(some).limits == limits


@pytest.mark.parametrize(
    ("given", "field", "problem", "fix"),
    [
        (["thing", "sise"], "args.sise", "tool 'measure' takes no such argument", "did you mean 'size'?"),
        (["size"], "args.thing", "tool 'measure' needs it", "add it"),
    ],
)
def test_the_names_of_arguments_are_checked_before_their_values(
    given: list[str], field: str, problem: str, fix: str
) -> None:
    measure.require_names(["thing", "factor"], "args")
    with pytest.raises(InvalidInput) as caught:
        measure.require_names(given, "args")
    assert (caught.value.field, caught.value.problem, caught.value.fix) == (field, problem, fix)


Spare = Annotated[SecretStr | None, Secret("spare")]


async def test_a_tool_and_its_check_are_given_their_secrets_by_name() -> None:
    async def has_sent(to: str, token: Annotated[SecretStr, Secret("mail-token")]) -> str:
        return f"{to}, {len(token.get_secret_value())}"

    @tool(effect="once", check=has_sent)
    async def send(to: str, key: Annotated[SecretStr, Secret("mail-key")], spare: Spare = None) -> str:
        return f"{to}, {len(key.get_secret_value())}, {spare}"

    assert send.parameters == {"to": True}
    kept = {"mail-key": SecretStr("12345"), "mail-token": SecretStr("123")}
    keywords = send.validate({"to": "ada"})
    assert await send.call(CALL, keywords, kept) == "ada, 5, None"
    assert await send.run_check(CALL, keywords, kept) == (True, "ada, 3")


def test_a_bad_tool_is_refused_when_it_is_made() -> None:
    with pytest.raises(InvalidInput, match="no type for 'untyped'"):

        @tool(effect="read")
        async def vague(untyped) -> int:  # pyright: ignore  the missing type is what is refused
            return 1


def test_a_reserved_name_is_refused() -> None:
    @tool(effect="read", name="recall")
    async def own() -> int:
        return 1

    with pytest.raises(InvalidInput, match="recall: has a reserved name"):
        Toolbox([own], reserved=RESERVED_TOOLS)


def test_a_module_that_breaks_off_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "breaks_off.py").write_text("raise LookupError('no configuration')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InvalidInput, match="tools breaks_off: cannot be imported: LookupError: no configuration"):
        Toolbox.load(["breaks_off"])


MUTE = """
class Mute(LookupError):
    def __str__(self) -> str:
        raise KeyError("shop")


raise Mute
"""


def test_a_module_that_raises_what_cannot_say_its_text_is_refused_as_any(tmp_path: Path) -> None:
    (tmp_path / "mute.py").write_text(MUTE, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"Mute: its text is not known: its __str__ raised KeyError \(mute.py:7 in"):
        Toolbox.load([str(tmp_path / "mute.py")])


ONE_TOOL = """
from perdure import tool


@tool(effect="read")
def {name}() -> int:
    return 1
"""


def test_a_limit_that_is_none_is_told_without_the_words_of_pydantic(tmp_path: Path) -> None:
    text = ONE_TOOL.replace("import tool", "import CallLimit, tool").replace('"read"', '"read", limits=[{limit}]')
    for number, (limit, problem, fix) in enumerate(
        [
            ("CallLimit(at_once=0)", "CallLimit.at_once: 0 is too small", "write at least 1"),
            ("CallLimit()", "CallLimit: needs either at_once or per_minute", "give a tool two limits for both"),
            ("CallLimit(per_hour=2)", "CallLimit.per_hour: is not a field here", ""),
        ]
    ):
        file = tmp_path / f"limited_{number}.py"
        file.write_text(text.format(name="look", limit=limit), encoding="utf-8")
        with pytest.raises(InvalidInput) as caught:
            Toolbox.load([str(file)])
        assert caught.value.problem.startswith(f"cannot be imported: {problem} (")
        assert (caught.value.fix, f"{file.name}:5" in caught.value.problem) == (fix, True)


def test_a_box_is_loaded_from_a_file_whatever_it_is_called(tmp_path: Path) -> None:
    files = [tmp_path / "activities.py", tmp_path / "shop" / "activities.py"]
    for number, file in enumerate(files):
        file.parent.mkdir(exist_ok=True)
        file.write_text(ONE_TOOL.format(name=f"look_{number}"), encoding="utf-8")
    box = Toolbox.load(map(str, [*files, files[0]]))
    assert [one.name for one in box] == ["look_0", "look_1"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "./nowhere.py",
            "tools ./nowhere.py: there is no file nowhere.py (correct the path: a relative one leads from the folder "
            "of perdure.toml if it is written there, and otherwise from the folder in which the command runs)",
        ),
        ("activities", "holds no tool (it is Perdure's own; for a file of yours that is called so, give its path"),
        (
            "activities.mine",
            "cannot be imported: ModuleNotFoundError: No module named 'activities.mine' (a pack",
        ),
        (
            "no_such_tools",
            "No module named 'no_such_tools' (install it, put its folder on PYTHONPATH, or name its file)",
        ),
    ],
)
def test_a_module_that_is_not_found_is_refused_with_what_to_do(name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Toolbox.load([name])


def test_a_file_that_leaves_the_process_is_named(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(InvalidInput, match="cannot be imported: SystemExit: 3"):
            Toolbox.load([str(tmp_path / "leaves.py")])


def test_a_box_is_loaded_from_modules() -> None:
    box = Toolbox.load(["tests.support.tools"])
    assert box.get("append").effect is Effect.ONCE
    with pytest.raises(InvalidInput, match="did you mean 'append'"):
        box.get("apend")
    with pytest.raises(InvalidInput, match="cannot be imported"):
        Toolbox.load(["tests.support.nothing"])
    with pytest.raises(InvalidInput, match="holds no tool"):
        Toolbox.load(["perdure.model"])


def test_a_name_can_be_there_once_only() -> None:
    @tool(effect="read", name="measure")
    async def other() -> int:
        return 1

    with pytest.raises(InvalidInput, match="measure: is duplicated") as caught:
        Toolbox([measure, other])
    # Each with its file and the line.
    places = re.findall(re.escape(__file__) + r":(\d+)", caught.value.problem)
    assert len({*places}) == 2


def test_a_tool_of_python_and_one_of_a_server_that_share_a_name_are_told_apart() -> None:
    @tool(effect="read", name="drive.look")
    async def own() -> int:
        return 1

    [of_server] = McpServers([read_server("name: drive\ncommand: x\ntools: {look: read}")], SecretKeeper()).tools
    with pytest.raises(InvalidInput, match=rf"it is in {re.escape(__file__)}:\d+ and in the MCP server drive"):
        Toolbox([own, of_server])


def test_an_effect_that_this_build_does_not_know_counts_as_once() -> None:
    strange = ToolShape.model_validate({"effect": "rare", "timeout": 2.0})
    assert strange.effect.is_once
    assert of_tool(strange, 4.0) == of_tool(strange.changed(effect=Effect.ONCE), 4.0)
    assert of_tool(strange, 4.0) != of_tool(strange.changed(effect=Effect.READ), 4.0)
    with pytest.raises(InvalidInput, match=r"the effect 'onec', which is not one of the choices .did you mean 'once'"):
        tool(effect="onec")(measure.function)  # pyright: ignore[reportArgumentType]


async def test_calling_a_tool_calls_its_function() -> None:
    @tool(effect="read")
    async def double(number: int) -> int:
        return 2 * number

    assert await double(4) == await double(number=4) == 8


async def found(customer: str, cents: int = 5) -> str | None:
    return None


async def exists(customer: str, cents: int = 5) -> bool:
    return False


async def of_another(invoice: str) -> str | None:
    return None


async def of_one(customer: str) -> str | None:
    return None


async def of_any(call: ToolCall, **arguments: str | int) -> str | None:
    return f"{call.step} {arguments}"


async def by_place(customer: str, cents: int, /) -> str | None:
    return None


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (exists, r"tool send: has a check that returns bool \(return None if it did not happen"),
        (
            of_another,
            r"send: has a check whose parameters are not its own \(give it the tool's: customer, cents\)",
        ),
        (of_one, "parameters are not its own"),
        (by_place, "parameters are not its own"),
        (found, ""),
        (of_any, ""),
    ],
)
async def test_a_check_that_could_not_be_called_or_would_be_misread_is_refused(check: Any, message: str) -> None:
    async def send(customer: str, cents: int = 5) -> str:
        return customer

    if message:
        with pytest.raises(InvalidInput, match=message):
            tool(effect="once", check=check)(send)
    else:
        made = tool(effect="once", check=check)(send)
        happened, _ = await made.run_check(CALL, made.validate({"customer": "a"}))
        assert happened == (check is of_any)


async def test_a_check_of_unknown_type_that_says_false_skips_nothing() -> None:
    async def unclear():
        return False

    @tool(effect="once", check=unclear)
    async def act() -> None:
        pass

    with pytest.raises(InvalidInput, match="has a check that returned False"):
        await act.run_check(CALL, {})


async def test_defaults_that_a_skill_omits_reach_tool_and_check_alike() -> None:
    async def look(customer: str, cents: int) -> list[str | int] | None:
        return [customer, cents]

    @tool(effect="once", check=look)
    async def send(customer: str, cents: int = 5) -> list[str | int]:
        return [customer, cents]

    keywords = send.validate({"customer": "a"})
    assert await send.run_check(CALL, keywords) == (True, ["a", 5])
    assert await send.call(CALL, keywords) == ["a", 5]


async def test_a_plain_function_is_a_tool_that_leaves_the_loop_free() -> None:
    main = threading.get_ident()

    def look(call: ToolCall, factor: int) -> int | None:
        return factor if threading.get_ident() != main else None

    @tool(effect="once", check=look)
    def multiply(call: ToolCall, factor: int) -> bool:
        return threading.get_ident() != main

    keywords = multiply.validate({"factor": 3})
    assert await multiply.call(CALL, keywords)
    assert await multiply(CALL, 3)
    assert await multiply.run_check(CALL, keywords) == (True, 3)


async def test_a_plain_function_whose_iterator_has_ended_fails_and_its_line_is_told() -> None:
    @tool(effect="read")
    def first() -> int:
        return next(number for number in [1, 2] if number > 5)

    @tool(effect="read")
    async def first_of_all() -> int:
        return next(number for number in [1, 2] if number > 5)

    for one in (first, first_of_all):
        with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
            async with asyncio.timeout(5):
                await one.call(CALL, {})
        assert own(frames_of(caught.value))[0].function.endswith(f"<locals>.{one.name}")


async def test_what_a_plain_decorator_makes_of_a_coroutine_function_is_awaited() -> None:
    def around(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            return function(*args, **keywords)

        return call

    @around
    async def look(cents: int) -> int | None:
        return cents

    @tool(effect="once", check=look)
    @around
    async def pay(cents: int) -> int:
        return cents

    keywords = pay.validate({"cents": 3})
    assert await pay.call(CALL, keywords) == 3
    assert await pay.run_check(CALL, keywords) == (True, 3)


async def test_a_check_that_is_declared_to_return_what_it_found_may_find_false() -> None:
    async def look() -> bool | None:
        return False

    @tool(effect="once", check=look, timeout=7, name="look_up")
    async def act() -> bool:
        return True

    assert await act.run_check(CALL, {}) == (True, False)
    assert (act.effect, act.timeout, act.name) == (Effect.ONCE, 7.0, "look_up")


IMPORTS = """
import {0}
from perdure import tool

@tool(effect="read")
def {0}_s() -> str:
    import {0}_later
    return {0}.NAME + {0}_later.NAME
"""


async def test_a_file_with_tools_imports_what_is_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unloaded(monkeypatch, "shop_beside", "shop_beside_later")
    (tmp_path / "tools.py").write_text(IMPORTS.format("shop_beside"))
    for name in ("shop_beside", "shop_beside_later"):
        (tmp_path / f"{name}.py").write_text("NAME = __name__\n")

    [found] = Toolbox.load([str(tmp_path / "tools.py")])

    assert await found() == "shop_besideshop_beside_later"


async def test_what_another_module_hides_beside_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("import worker\nworker.mine()\n")
    (tmp_path / "worker.py").write_text("def mine(): ...\n")

    with pytest.raises(InvalidInput, match=r"another module is called worker, and comes before the one beside tools"):
        Toolbox.load([str(tmp_path / "tools.py")])


async def test_two_modules_of_one_name_beside_files_with_tools_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unloaded(monkeypatch, "twice_beside")
    # A file is loaded once for its path, and pytest gives a path that it has removed to a later run of this process.
    place = tmp_path / uuid4().hex
    for folder in ("one", "two"):
        (place / folder).mkdir(parents=True)
        (place / folder / "tools.py").write_text(IMPORTS.format("twice_beside"))
        (place / folder / "twice_beside.py").write_text(f"NAME = {folder!r}\n")

    with pytest.raises(InvalidInput, match=r"two/tools.py: has the module twice_beside beside it.*rename one"):
        Toolbox.load([str(place / folder / "tools.py") for folder in ("one", "two")])


def test_a_box_gives_its_tools_and_names_what_it_has_not() -> None:
    assert list(Toolbox([measure])) == [measure]
    with pytest.raises(InvalidInput, match="PRD100 tool: "):
        Toolbox([measure]).get("measur")
