"""``perdure reconcile``: restore what a store lost from the others."""

from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.requests import Reconciled, ReconcileRequest, ReconcileResult
from worker.cli.memory import Of, require_member
from worker.cli.reach import gateway, person
from worker.terminal.output import out, say, show_json

_PLACES = {"merged": "in both", "local": "in the journal alone", "remote": "in the store alone"}


async def reconcile(
    *,
    user: Annotated[
        str,
        typer.Option("--user", help="Only this user's memories; other users' losses are not repaired."),
    ] = "",
    of: Of = None,
    new_journal: Annotated[
        bool, typer.Option("--new-journal", help="Start a new journal: its folder is lost, and there is no backup.")
    ] = False,
    new_collections: Annotated[
        bool,
        typer.Option(
            "--new-collections",
            help="Delete the collections in Weaviate, for workers with another embedding model or language to rebuild.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Merge store, journal and deletion log, and restore what one of them lost. Workers also do so on their own.

    Example: perdure reconcile --user ada
    """
    require_member(user, of)
    settings = Settings()
    if new_journal and new_collections:
        raise InvalidInput("new-collections", "needs a whole journal", fix="begin the new journal first, by itself")
    if new_collections:
        async with gateway(settings) as here:
            await here.drop_collections(by=person())
        if as_json:
            show_json({"collections": "deleted"})
        else:
            out.print("deleted the collections in Weaviate: the journal has all that is remembered", markup=False)
        return say("start a worker: it rebuilds them with its own embedding model; 'perdure reconcile' waits for it")
    if new_journal:
        async with gateway(settings) as here:
            id_ = await here.begin_journal(by=person())
        if as_json:
            show_json({"journal": id_, "folder": str(settings.journal_folder)})
        else:
            out.print(f"began the journal {id_} in {settings.journal_folder}", markup=False)
        return say("start the workers that stopped: they rebuild it; 'perdure reconcile' then shows what is gone")
    request = validated(ReconcileRequest, {"user_id": user, "of": of}, "")
    result = await gateway(settings).reconcile(request, by=person())
    if as_json:
        show_json(result)
    else:
        show(result)
    if result.found.failed or result.late_kept:
        raise typer.Exit(1)


def show(result: ReconcileResult) -> None:
    """Print how a reconciliation ended, for a person."""
    found = result.found
    entries = counted(sum(found.origins.values()), "entry")
    places = ", ".join(f"{found.origins[place]} {where}" for place, where in _PLACES.items() if place in found.origins)
    out.print(f"reconciled {counted(found.tenants, 'user')}: {entries}" + (f" ({places})" if places else ""))
    for text in _done(found):
        out.print(f"  {text}", markup=False)
    if result.late:
        out.print(f"deleted: {counted(result.late, 'history')} of erased users, begun after their erasure")
    if result.late_kept:
        out.print(f"histories of erased users may be left: {result.late_kept}", markup=False)
    for failed in found.failed:
        out.print(f"not reconciled: {failed}", markup=False)
    for loss in result.losses:
        out.print(f"whole again: {loss}", markup=False)
    for gone in result.gone:
        out.print(f"gone for good: {gone}", markup=False)


def _done(found: Reconciled) -> list[str]:
    numbers = {
        "written to the store again": found.written,
        "written to the journal again": found.journaled,
        "purged again": found.purged,
        "lines of the deletion log restored": found.deletions,
        "jobs started that had never begun": found.jobs,
    }
    return [f"{number} {what}" for what, number in numbers.items() if number]
