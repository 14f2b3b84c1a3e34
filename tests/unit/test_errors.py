"""Types and codes cross into Temporal, logs and people's searches, so they are pinned here by their literal values."""

import re
from collections.abc import Iterator
from pathlib import Path

from localservers import LocalServersError
from perdure import error_kinds, refusals
from perdure.errors import PerdureError
from perdure.models.errors import ModelRefused
from perdure.values.call_limits import LimitReached
from worker.exit_status import Exit, status_of

PAGE = Path("docs/errors.md").read_text(encoding="utf-8")

PINNED = {
    "InvalidInput": ("PRD100", False),
    "InvalidTask": ("PRD101", False),
    "Unconfirmed": ("PRD115", False),
    "TaskConflict": ("PRD117", False),
    "InvalidSkill": ("PRD102", False),
    "InvalidExpression": ("PRD103", False),
    "InvalidArguments": ("PRD104", False),
    "InvalidItem": ("PRD105", False),
    "InvalidAnswer": ("PRD106", False),
    "UnknownOwner": ("PRD107", False),
    "UnknownThing": ("PRD116", False),
    "InvalidEvent": ("PRD114", False),
    "InvalidAgent": ("PRD108", False),
    "InvalidPolicy": ("PRD109", False),
    "ResultTooLarge": ("PRD110", False),
    "ExpectationFailed": ("PRD111", False),
    "ToolFailed": ("PRD112", True),
    "ResultExpired": ("PRD113", False),
    "Unavailable": ("PRD209", True),
    "StoreUnavailable": ("PRD200", True),
    "StoreLost": ("PRD231", True),
    "ModelBusy": ("PRD222", True),
    "ReplyUnusable": ("PRD224", True),
    "WorkerUnavailable": ("PRD204", True),
    "LimitReached": ("PRD233", True),
    "NothingRuns": ("PRD205", True),
    "TenantKeyMissing": ("PRD206", True),
    "EmbeddingMismatch": ("PRD201", False),
    "ModelKeyRefused": ("PRD223", False),
    "TenantKeyMismatch": ("PRD202", False),
    "JournalMismatch": ("PRD203", True),
    "SchemaMismatch": ("PRD207", False),
    "NamespaceUnusable": ("PRD208", False),
    "VectorIndexDamaged": ("PRD230", True),
    "EntryUnreadable": ("PRD237", True),
    "LocalServersError": ("PRD210", False),
    "ServerNotFound": ("PRD211", False),
    "ServerNotStarted": ("PRD212", False),
    "ServerNotStopped": ("PRD214", False),
    "HomeUnusable": ("PRD213", False),
    "StoreRefused": ("PRD232", False),
    "AnswerUnusable": ("PRD234", False),
    "ContentRefused": ("PRD235", False),
    "ModelRefused": ("PRD220", False),
    "ContextExceeded": ("PRD221", False),
    "VersionConflict": ("PRD300", True),
    "LeaseLost": ("PRD301", True),
    "ErasedMeanwhile": ("PRD306", True),
    "ModelFileDamaged": ("PRD225", False),
    "SecretUnreadable": ("PRD236", True),
    "ClaimLost": ("PRD302", True),
    "NotDone": ("PRD303", True),
    "TenantErased": ("PRD304", False),
    "Blocked": ("PRD305", False),
    "TaskFailed": ("PRD400", False),
    "JobFailed": ("PRD401", False),
    "StillRunning": ("PRD402", True),
    "WorkflowFailed": ("PRD403", False),
    "WorkflowCancelled": ("PRD404", False),
    "NotAuthenticated": ("PRD500", False),
    "NotPermitted": ("PRD501", False),
    "TooManyRequests": ("PRD502", True),
    "KeyReused": ("PRD503", False),
    "RequestRefused": ("PRD510", False),
    "NoSuchPath": ("PRD511", False),
    "NoSuchMethod": ("PRD512", False),
    "BodyTooLarge": ("PRD513", False),
    "BodyUnsupported": ("PRD514", False),
    "BodyTooSlow": ("PRD515", False),
}
"""The code of each error, and whether it is retried."""


def tree(kind: type[PerdureError]) -> dict[str, tuple[str, bool]]:
    found: dict[str, tuple[str, bool]] = {}
    for child in kind.__subclasses__():
        # Other tests may define errors too.
        if not child.__module__.startswith("tests"):
            found |= {child.__name__: (child.code, child.retryable)} | tree(child)
    return found


def kinds(kind: type[PerdureError]) -> Iterator[type[PerdureError]]:
    for child in kind.__subclasses__():
        if not child.__module__.startswith("tests"):
            yield child
            yield from kinds(child)


def test_every_type_and_code_is_the_one_that_was_published() -> None:
    assert tree(PerdureError) == PINNED
    assert {LocalServersError.__name__, LimitReached.__name__, ModelRefused.__name__} < PINNED.keys()
    assert refusals.KeyReused.__name__ in PINNED


def test_no_two_errors_share_a_code() -> None:
    codes = [code for code, _ in PINNED.values()]
    assert len(set(codes)) == len(codes)


def test_the_drawing_shows_every_error_under_the_one_that_it_is_a_kind_of() -> None:
    above: dict[int, str] = {0: "PerdureError"}
    drawn: dict[str, tuple[str, str]] = {}
    for line in (error_kinds.__doc__ or "").splitlines():
        if found := re.match(r"([│ ]*)[├└]── (\w+) +(PRD\d+)", line):
            depth = 1 + len(found[1]) // 4
            above[depth] = found[2]
            drawn[found[2]] = (found[3], above[depth - 1])
    bases = {kind.__name__: kind.__bases__[0].__name__ for kind in kinds(PerdureError)}
    assert drawn == {name: (code, bases[name]) for name, (code, _) in PINNED.items()}


def test_the_page_lists_every_error_as_it_is() -> None:
    rows = re.findall(r"^\| (PRD\d+) \| `(\w+)` \| (yes|no) \|", PAGE, re.MULTILINE)
    assert {name: (code, retried == "yes") for code, name, retried in rows} == PINNED
    assert len(rows) == len(PINNED)


def test_the_page_says_how_the_command_line_exits() -> None:
    said = PAGE.split("exits with 2")[1].split("for the others")[0]
    for status, named in zip((Exit.REFUSED, Exit.UNAVAILABLE), said.split("with 3"), strict=True):
        spans = re.findall(r"PRD(\d+)(?: to PRD(\d+))?", named)
        listed = {code for low, high in spans for code in range(int(low), int(high or low) + 1)}
        codes = {int(kind.code[3:]) for kind in kinds(PerdureError) if status_of(kind.__new__(kind)) is status}
        assert codes == listed & {int(code[3:]) for code, _ in PINNED.values()}
        assert codes
