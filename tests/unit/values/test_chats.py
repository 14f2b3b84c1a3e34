"""A reply as its pieces come: in order, each once, and of each turn only those of the attempt that began last."""

from perdure.values.chats import PieceKind, ReplyPiece, ReplyReader, ShownKind, chat_workflow_id

BEGUN, TEXT, ENDED = PieceKind.BEGUN, PieceKind.TEXT, PieceKind.ENDED


def pieces(turn: int, attempt: str, *texts: str) -> list[ReplyPiece]:
    """Return the pieces of one attempt at a turn."""
    said = [(BEGUN, ""), *((TEXT, text) for text in texts), (ENDED, "")]
    return [
        ReplyPiece(turn=turn, attempt=attempt, number=number, kind=kind, text=text)
        for number, (kind, text) in enumerate(said)
    ]


def shown(*given: ReplyPiece) -> tuple[list[str], str]:
    """Return what a reader sees, and what the last turn said in the end."""
    reader = ReplyReader()
    seen = [one.text or one.kind.value for piece in given for one in reader.take(piece)]
    return seen, reader.text


def test_each_piece_is_shown_once_though_it_comes_twice() -> None:
    once = pieces(1, "a", "One ", "two")
    twice = [piece for piece in once for _ in range(2)]
    assert shown(*once) == shown(*twice) == (["One ", "two"], "One two")


def test_a_killed_attempt_is_begun_anew_with_a_mark_and_without_one_where_it_had_said_nothing() -> None:
    killed, whole = pieces(1, "a", "One ", "tw")[:-1], pieces(1, "b", "Uno")
    assert shown(*killed, *whole) == (["One ", "tw", ShownKind.ANEW.value, "Uno"], "Uno")
    assert shown(killed[0], *whole) == (["Uno"], "Uno")


def test_an_attempt_that_was_thought_dead_is_not_heard_any_more() -> None:
    dead, live = pieces(1, "a", "One ", "two"), pieces(1, "b", "Uno ", "due")
    mixed = [*dead[:2], live[0], dead[2], live[1], dead[3], live[2], dead[0], live[3]]
    assert shown(*mixed) == (["One ", ShownKind.ANEW.value, "Uno ", "due"], "Uno due")


def test_a_further_turn_leaves_the_text_of_the_one_before_it() -> None:
    assert shown(*pieces(3, "a", "Let me see."), *pieces(4, "b", "It is 7.")) == (
        ["Let me see.", ShownKind.TURN.value, "It is 7."],
        "It is 7.",
    )
    late = pieces(3, "c", "again")
    assert shown(*pieces(4, "b", "It is 7."), *late) == (["It is 7."], "It is 7.")


def test_an_unknown_kind_of_piece_is_passed_over() -> None:
    odd = ReplyPiece.model_validate({"turn": 1, "attempt": "a", "number": 1, "kind": "of_a_later_build", "text": "x"})
    assert shown(pieces(1, "a")[0], odd) == ([], "")


def test_a_session_has_its_own_workflow_for_each_user_and_says_no_name() -> None:
    ada, bob = chat_workflow_id("ada", "work"), chat_workflow_id("bob", "work")
    assert ada != bob
    assert ada.startswith("chat-work-")
    assert "ada" not in ada
    assert chat_workflow_id("ada", "home") != ada
