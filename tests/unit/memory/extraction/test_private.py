"""Private data and secrets leave an item wherever they stand in it, or have it refused, as the policy says."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from perdure.errors import InvalidItem
from perdure.memory.extraction.private import screened, screened_json, with_kept_names
from perdure.memory.write_policies import POLICIES, Private, WritePolicy
from perdure.model import LONGEST_TEXT
from perdure.names import EXACT_POLICY
from perdure.values.assertions import Assertion
from perdure.values.entries import Lane, Relation
from perdure.values.items import LARGEST_METADATA, LARGEST_PAYLOAD, Item, MemoryItem, PatternItem, TurnItem
from perdure.values.jobs import UnusableItem
from perdure.values.requests import RememberRequest
from perdure.values.statements import Said

NOW = datetime(2026, 5, 1, tzinfo=UTC)
POLICY = WritePolicy()
STRICT = WritePolicy(private=Private.REFUSE)
EMAIL = "lena.m@example.com"
TEXT = f"Invoices go to {EMAIL} on Mondays."
CLEAN = "Invoices go to [email] on Mondays."

MEMORY = MemoryItem(content=TEXT, occurrence="o", occurred_at=NOW)
PLAIN = MEMORY.changed(content="Invoices go out on Mondays.", names=("Invoices",))
TURN = TurnItem(content=TEXT, speaker="Kim", session="s", position=0, occurrence="o", occurred_at=NOW)
RECORD = PatternItem(
    lane=Lane.PATTERN, key="k", payload={"to": [EMAIL, 3]}, summary=TEXT, occurrence="o", occurred_at=NOW
)


@pytest.mark.parametrize("item", [MEMORY, TURN, RECORD], ids=lambda item: item.kind)
def test_it_is_taken_out_wherever_it_stands(item: Item) -> None:
    clean = screened(item, POLICY)
    assert EMAIL not in clean.model_dump_json()
    assert "[email]" in clean.model_dump_json()
    refused = screened(item, STRICT)
    assert isinstance(refused, UnusableItem)
    assert "email" in refused.reason
    assert EMAIL not in refused.reason


def test_what_has_none_stays_as_it_is() -> None:
    item = MEMORY.changed(content="Invoices go out on Mondays.", metadata_json={"ticket": "ABC-12", "port": 8080})
    assert screened(item, STRICT) is item
    assert screened(MEMORY, POLICY.changed(allow=(EMAIL,))) == MEMORY


PLACE = f"mail from {EMAIL}, card 4111 1111 1111 1111"


@pytest.mark.parametrize("policy", [POLICY, STRICT, WritePolicy(private=Private.KEEP)])
@pytest.mark.parametrize("item", [PLAIN, RECORD.changed(summary="", payload=1)], ids=lambda item: item.kind)
def test_where_it_was_observed_is_kept_as_a_digest(item: Item, policy: WritePolicy) -> None:
    found = screened(item.changed(occurrence=PLACE), policy)
    assert not isinstance(found, UnusableItem)
    assert found.occurrence.startswith("private-")
    assert screened(found, policy) == found, "what stands for it is not replaced again"
    assert screened(item.changed(occurrence=f"{PLACE}#2"), policy) == found.changed(occurrence=f"{found.occurrence}#2")
    assert screened(item.changed(occurrence=f"{PLACE}!"), policy) != found, "the control: another place is another one"
    allowed = policy.changed(allow=(EMAIL, "4111 1111 1111 1111"))
    assert screened(item.changed(occurrence=PLACE), allowed) == item.changed(occurrence=PLACE)


@pytest.mark.parametrize("occurrence", ["chat/7#1", f"import/mem_{'0123456789abcdef' * 4}", "task-a-1f/steps[2]#3"])
def test_where_nothing_is_private_it_stays_as_it_is(occurrence: str) -> None:
    item = PLAIN.changed(occurrence=occurrence)
    assert screened(item, POLICY) is item


def test_what_identifies_a_request_and_its_parts_is_kept_as_a_digest() -> None:
    turn = Said(text="Hello.", at=NOW, occurrence=PLACE)
    item: JsonValue = {"occurrence": f"{PLACE}#1", "content": "x"}
    request = RememberRequest(user_id="ada", key=PLACE, session=EMAIL, items=(item, 3), turns=(turn,))
    found = with_kept_names(request, POLICY)
    assert EMAIL not in found.model_dump_json()
    assert "4111" not in found.model_dump_json()
    assert found == with_kept_names(found, POLICY)
    assert found.items == ({"occurrence": f"{found.turns[0].occurrence}#1", "content": "x"}, 3)
    assert len({found.key, found.session}) == 2
    plain = request.changed(key="k", session="s", items=(), turns=(turn.changed(occurrence="o"),))
    assert with_kept_names(plain, POLICY) == plain


@pytest.mark.parametrize("content", [EMAIL, f"mail: {EMAIL}", "[email]"])
def test_what_says_nothing_without_it_is_refused(content: str) -> None:
    found = screened(MEMORY.changed(content=content), POLICY)
    assert isinstance(found, UnusableItem)
    assert "it says nothing" in found.reason


@pytest.mark.parametrize("item", [MEMORY, TURN, RECORD], ids=lambda item: item.kind)
def test_it_leaves_an_item_that_nobody_has_read_yet(item: Item) -> None:
    written: JsonValue = item.model_dump(mode="json") | {"unknown": 3}
    clean = screened_json(written, POLICY, "items[0]")
    assert isinstance(clean, dict)
    assert EMAIL not in str(clean)
    assert clean["unknown"] == 3
    with pytest.raises(InvalidItem, match=r"items\[0\]: it holds email"):
        screened_json(written, STRICT, "items[0]")


@pytest.mark.parametrize(
    ("item", "field", "left"),
    [
        (RECORD.changed(payload={"n": 1}, summary="", intent=TEXT), "intent", CLEAN),
        (RECORD.changed(payload={EMAIL: 1}, summary=""), "payload", {"[email]": 1}),
        (RECORD.changed(payload={EMAIL: 1, "m@example.com": [2]}), "payload", {"[email]": 1, "[email] 1": [2]}),
        (PLAIN.changed(metadata_json={"by": {EMAIL: TEXT}}), "metadata_json", {"by": {"[email]": CLEAN}}),
        (PLAIN.changed(names=("Invoices", EMAIL)), "names", ("Invoices",)),
        (PLAIN.changed(relations=({"kind": "goes to", "to": EMAIL}, {"kind": "of", "to": "Kim"})), "relations", None),
    ],
    ids=["intent", "payload key", "payload keys", "metadata key", "names", "relations"],
)
def test_a_text_beside_the_content_loses_it_too(item: Item, field: str, left: object) -> None:
    clean = screened(item, POLICY)
    assert isinstance(clean, type(item))
    written: JsonValue = item.model_dump(mode="json")
    assert screened_json(written, POLICY, "items[0]") == clean.model_dump(mode="json")
    assert EMAIL not in clean.model_dump_json()
    assert getattr(clean, field) == (left if left is not None else (Relation(kind="of", to="Kim"),))
    assert isinstance(screened(item, STRICT), UnusableItem)
    with pytest.raises(InvalidItem, match="it holds email"):
        screened_json(written, STRICT, "items[0]")


@pytest.mark.parametrize("part", ["subject", "value", "former", "said"])
@pytest.mark.parametrize("policy", [POLICY, STRICT], ids=["redact", "refuse"])
def test_what_is_asserted_goes_as_a_whole(part: str, policy: WritePolicy) -> None:
    asserted = Assertion(subject="invoice", attribute="go", value="out on monday")
    item = PLAIN.changed(assertion=asserted.changed(**{part: f"to {EMAIL}"}))
    assert screened(item, policy) == PLAIN
    assert screened_json(item.model_dump(mode="json"), policy, "items[0]") == PLAIN.model_dump(mode="json")
    control = PLAIN.changed(assertion=asserted)
    assert screened(control, policy) is control


CARD = "4111111111111111"


@pytest.mark.parametrize(
    ("item", "field"),
    [
        (RECORD.changed(payload={"n": 1}, summary="", key=EMAIL), "key"),
        (TURN.changed(content="Invoices go out.", speaker=EMAIL), "speaker"),
        (TURN.changed(content="Invoices go out.", session=CARD), "session"),
        (PLAIN.changed(tags=("invoice", CARD)), "tags"),
        (PLAIN.changed(scopes=(CARD,)), "scopes"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
@pytest.mark.parametrize("policy", [POLICY, STRICT], ids=["redact", "refuse"])
def test_what_an_item_is_found_by_is_refused_with_its_field(item: Item, field: str, policy: WritePolicy) -> None:
    refused = screened(item, policy)
    assert isinstance(refused, UnusableItem)
    assert refused.reason.startswith(f"{field}: holds ")
    assert EMAIL not in refused.reason
    with pytest.raises(InvalidItem, match=rf"items\[0\]\.{field}: holds ") as problem:
        screened_json(item.model_dump(mode="json"), policy, "items[0]")
    assert EMAIL not in str(problem.value)
    assert screened(item, POLICY.changed(allow=(EMAIL, CARD))) is item


@pytest.mark.parametrize("item", [None, 3, "text", [EMAIL], {}, {"content": None}, {"payload": {"a": {"b": [None]}}}])
def test_what_is_no_item_is_left_to_whoever_reads_it(item: JsonValue) -> None:
    assert screened_json(item, POLICY, "items[0]") == item


@pytest.mark.parametrize("content", ["x" * 1_000_000, ["x" * 1_000] * 1_000], ids=["a text", "a list"])
def test_what_is_far_too_large_is_cut_before_it_is_looked_through(content: JsonValue) -> None:
    clean = screened_json({"kind": "memory", "content": content, "payload": {"a": 1}}, POLICY, "items[0]")
    assert isinstance(clean, dict)
    assert clean["payload"] == {"a": 1}
    assert len(str(clean["content"])) == 20_001


ADDRESS = " host 1.2.3.4"


def up_to(length: int, end: str = ADDRESS) -> str:
    return ("the printers of team blue run there, " * length)[: length - len(end)] + end


def addresses(size: int) -> JsonValue:
    return [ADDRESS for _ in range((size - 2) // (len(ADDRESS) + 3))]


@pytest.mark.parametrize(
    ("item", "field", "full"),
    [
        (PLAIN, "content", up_to(LONGEST_TEXT)),
        (PLAIN, "metadata_json", addresses(LARGEST_METADATA)),
        (TURN.changed(content="It runs."), "content", up_to(LONGEST_TEXT)),
        (RECORD.changed(payload={"n": 1}), "summary", up_to(500)),
        (RECORD.changed(payload={"n": 1}, summary=""), "intent", up_to(200)),
        (RECORD.changed(payload={"n": 1}, summary=""), "payload", addresses(LARGEST_PAYLOAD)),
    ],
    ids=["memory content", "metadata", "turn content", "summary", "intent", "payload"],
)
def test_what_no_longer_fits_without_it_is_refused_with_its_field(item: Item, field: str, full: JsonValue) -> None:
    refused = screened(item.changed(**{field: full}), POLICY)
    assert isinstance(refused, UnusableItem)
    assert refused.reason.startswith(f"{field}: ")
    assert refused.reason.endswith("(shorten it, or leave the private data out)")
    assert "1.2.3.4" not in refused.reason
    # The control: half as much fits.
    half = full[len(full) // 2 :] if isinstance(full, str | list) else full
    assert isinstance(screened(item.changed(**{field: half}), POLICY), type(item))


SECRET = "The password is hunter2-Xk9!"


def test_an_exact_record_keeps_private_data_and_no_secret() -> None:
    exact = POLICIES[EXACT_POLICY]
    secret = RECORD.changed(payload=SECRET, summary="")
    assert screened(RECORD, exact) == RECORD
    assert screened_json(RECORD.model_dump(mode="json"), exact, "items[0]") == RECORD.model_dump(mode="json")
    refused = screened(secret, exact)
    assert isinstance(refused, UnusableItem)
    assert "password" in refused.reason
    with pytest.raises(InvalidItem, match="password"):
        screened_json(secret.model_dump(mode="json"), exact, "items[0]")
    for item in (MEMORY, TURN):
        assert EMAIL not in screened(item, exact).model_dump_json(), "the control: anything else is redacted"
