"""``perdure policies``: list them, and show what they would decide about a call. Asks no server."""

from pathlib import Path
from typing import Annotated

import typer

from perdure.errors import InvalidInput, InvalidPolicy
from perdure.plurals import counted
from perdure.policies.cases import read_cases, tried
from perdure.policies.decision import SHORT
from perdure.policies.library import PolicyLibrary
from perdure.policies.shape import PolicySet
from perdure.registry.folders import text_of
from perdure.settings import Settings
from perdure.yaml_text import placing
from worker.cli.tasks import AsJson
from worker.configuration_checks import unguarded
from worker.exit_status import Exit
from worker.terminal.output import out, say, show_json


def list_(*, as_json: AsJson = False) -> None:
    """Show the policies that are in the folders now, with their versions; exits with 2 if they cannot be used.

    Example: perdure policies list
    """
    settings = Settings()
    policies = PolicyLibrary(settings.policies).read()
    if as_json:
        listed = [
            {"version": one.digest, "outcome": one.outcome, **one.model_dump(mode="json")} for one in policies.policies
        ]
        show_json({"version": policies.version, "policies": listed})
        return
    for one in policies.policies:
        how = f"{one.outcome.value:<5}  {one.digest[:SHORT]}  {one.name}: {one.rationale}"
        out.print(how + (f" (deprecated: {one.deprecated})" if one.deprecated else ""), markup=False)
    _tell_doubts(policies, settings)
    say(f"{counted(len(policies.policies), 'policy')}, version {policies.version[:SHORT]}")


def try_(
    cases: Annotated[Path, typer.Argument(metavar="CASES.yaml", help="Calls, and the expected outcome of each.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Test the policies that are in the folders now on cases; exits with 1 if an outcome is not as expected.

    Example: perdure policies test cases.yaml
    """
    if not cases.is_file():
        told = f"{cases} is no file" if cases.exists() else f"there is no file {cases}"
        raise InvalidInput("CASES.yaml", told, fix="give the path of a file with cases")
    settings = Settings()
    policies = PolicyLibrary(settings.policies).read()
    text = text_of(cases, InvalidPolicy)
    with placing(cases, text):
        found = [(case, tried(policies, case)) for case in read_cases(text, cases.name)]
    differing = 0
    shown: list[dict[str, object]] = []
    for place, (case, decision) in enumerate(found):
        differences = case.differences(decision)
        differing += bool(differences)
        called = case.name or f"cases[{place}]"
        if differences and not as_json:
            out.print(f"{called}: {'; '.join(differences)}", markup=False)
            for one in decision.findings:
                out.print(f"    {one.outcome}: {one.reason}", markup=False)
        spoke = [one.policy for one in decision.findings]
        shown.append({"case": called, "expect": case.expect, "outcome": decision.outcome, "policies": spoke})
        shown[-1]["differences"] = differences
    if as_json:
        show_json({"version": policies.version, "cases": shown})
    else:
        _tell_doubts(policies, settings)
        differ = f"{differing} not as expected" if differing else "all as expected"
        say(f"{counted(len(found), 'case')}, {differ}; policies {policies.version[:SHORT]}")
    if differing:
        raise typer.Exit(Exit.FAILED)


def _tell_doubts(policies: PolicySet, settings: Settings) -> None:
    for doubt in unguarded(policies.policies, settings):
        say(f"note: {doubt}")
