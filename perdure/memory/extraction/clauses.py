"""One sentence as its subject, verb and what follows, read by word lists and word order. Pure.

It looks for the clause that states something, takes off what people say around it, and turns a few ways of saying
("Ms Adeyemi is my barrister", "six is when we close", "Wanjiru leads my team") into the plain one.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from perdure.memory.extraction.clefts import straightened
from perdure.memory.extraction.lexicon import (
    CUES,
    DETERMINERS,
    FIRST_PERSON,
    NEGATIONS,
    PASSING,
    PREPOSITIONS,
    PRONOUNS,
    REVISIONS,
    word_list,
)
from perdure.memory.extraction.paraphrases import reworded, without_former
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.phrases import is_identifier
from perdure.memory.extraction.predicates import predicate_of, verb_at
from perdure.memory.extraction.preludes import without_prelude
from perdure.memory.extraction.speech import spoken, tokens_of
from perdure.memory.extraction.subordinates import without_circumstances
from perdure.memory.extraction.verbs import CHANGING, FORMS, QUITTING, SINGLE

_ABOUT_IT = word_list("of done complete completed finished")
"""How a label goes on whose first word is only an opening: "Update done:", "Change of room:"."""


class Clause(NamedTuple):
    """A clause in its parts; words are as they were said."""

    subject: tuple[str, ...]
    verb: str
    """Its base; empty where there is none."""
    rest: tuple[str, ...]
    fronted: tuple[str, ...] = ()
    """What was said before the subject: "on weekdays"."""
    negated: bool = False
    passive: bool = False
    third: bool = False
    """Whether the verb is of one who does it: "runs"."""
    past: bool = False
    """Whether the verb tells what was done: "ran"."""
    revises: bool = False
    """Whether it says itself that something has changed."""
    former: tuple[str, ...] = ()
    """What it says that it replaces."""
    label: tuple[str, ...] = ()
    """What stands before it with a colon: "cache eu: …"."""


_BREAK = regex(r"\s*(?:[;!?]|\.(?=\s|$)|\s[-–—]+\s|—|,(?=\s)|:(?=\s))\s*")
_LEADING = regex(
    r"^(?:after|since|once|because|as|now\s+that|when|while|if|although|given\s+that|with)\s", re.IGNORECASE
)
_REPORT = regex(
    r"\b(?:report|reports|check|checks|passed|failed|run|test|tests|deploy|deployment|config|configuration|log"
    r"|status|monitor|monitoring|result|results|"
    r"notes|changelog|audit|scan|build|release|verified|confirmed|confirmation|observed|inspection|output|info"
    r"|update|updated|note|reading|sensor|probe|summary|notice|"
    r"changed|change|news|decision|rule|startup|boot|ok|habit|correction|reminder|heads|sync|job|pipeline|ci|health"
    r"|diagnostic|diagnostics|survey|review|lookup|query|import|"
    r"upgrade|complete|completed|migration|rollout|installation|install|maintenance|finished|success|alert|warning"
    r"|outcome|"
    r"went|round|mind|back|told|tells|said|says|confirms|switched|moved|true|fact|thing|again|settings|calendar"
    r"|inventory|measurement|schedule|benchmark|detected|found|lint|validator|crawler|watchdog"
    r"|regression|incident|hotfix|retest|diff|syslog|merged|revert|reverted|rollback|protection|renovation)\b",
    re.IGNORECASE,
)
"""What stands before a colon and says where a statement comes from, rather than what it is about."""

_COMMAND = regex(r"(?:git|kubectl|docker|helm|terraform|npm|pip|curl|psql|aws|gcloud|az|systemctl|dig) [a-z]")
_DENIED = regex(r"\b(?:not|never|no\s+longer)\b", re.IGNORECASE)
_RAN = regex(
    r"\b(?:notes|release|changelog|patch|passed|failed|finished|done|ran|report|check|run|result|results|log|update)\b",
    re.IGNORECASE,
)
"""With one of these, a number before a colon is the number of a report."""
_NONE_FOR = regex(r"^no\s+(?P<what>[\w\s'-]{2,40}?)\s+for\s+(?P<who>me|us)\b", re.IGNORECASE)
_CLEFT = regex(
    r"^(?P<what>.{2,60}?)\s+(?:is|are|was|were)\s+(?:what|when|where|who|whom|how)\s+(?P<clause>(?:i|we|my|our|the"
    r"|his|her|their|he|she|they|[\w'-]+)\s.+)$",
    re.IGNORECASE,
)
_FLOATING = regex(r"\b(?P<verb>must|should|may|can|will|are|were|have\s+to)\s+(?:all|both|each)\s+", re.IGNORECASE)
_IT_IS_THAT = regex(r"^it(?:'s|\s+is|\s+was)\s+(?P<what>.{2,60}?)\s+that\s+(?P<clause>\S+\s.+)$", re.IGNORECASE)
_AS_MY = regex(
    r"^(?:i|we)(?:'ve)?\s+(?:now\s+)?(?:use|have|see|wear|drive|take|employ|keep|(?:have\s+)?(?:gone|went|switched|moved"
    r"|changed)(?:\s+back)?\s+to)\s+(?P<what>.{2,50}?)\s+(?:as|for)\s+(?:my"
    r"|our)\s+(?P<role>[\w\s-]{2,40})$",
    re.IGNORECASE,
)
_REPLACED = regex(
    r"^(?P<new>.{2,60}?)\s+(?:has\s+|have\s+)?(?:replaced|replaces|replace|took\s+over\s+from|takes\s+over\s+from"
    r"|succeeded|succeeds|is\s+replacing)\s+"
    r"(?P<old>.{2,60}?)(?:\s+as\s+(?:(?:my|our|the)\s+)?(?P<role>.+?))?[\s.!]*$",
    re.IGNORECASE,
)
_TOOK_OVER = regex(
    r"^(?P<new>.{2,60}?)\s+(?:has\s+|have\s+)?(?:took\s+over|takes\s+over|taken\s+over|stepped\s+in"
    r"|steps\s+in)\s+as\s+(?:(?:my|our|the)\s+)?(?P<role>.+?)[\s.!]*$",
    re.IGNORECASE,
)
_AS_ITS = regex(
    r"^(?P<what>(?:our|my|the) [\w' -]{2,40}?) (?:uses?|has|have) (?P<value>[\w.+#-]+(?: [\w.+#-]+){0,2}?) as "
    r"(?:its|their|his|her|the|our) (?P<role>[\w -]{2,40})$",
    re.IGNORECASE,
)
_NEW_ROLE = regex(r"^(?:my|our|the)\s+new\s+(?P<role>[\w\s'-]{2,50}?)\s+(?P<be>is|are)\b", re.IGNORECASE)


def clause_of(sentence: str) -> Clause | None:
    """Return the clause of a sentence that states something; None: none that can be recognised."""
    sentence, began = without_prelude(sentence)
    text, revises = spoken(sentence)
    revises |= began
    # What the end of a sentence says of a change, it says of its last clause: "…, our bus leaves at 7:40 again".
    ended = bool(REVISIONS.search(sentence.strip(" .!")))
    found: Clause | None = None
    best = 0
    topic: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    fronted: list[str] = []
    former: tuple[str, ...] = ()
    told_of_past = False
    for segment, stop in _segments(text):
        plain, changed = spoken(segment)
        revises |= changed
        words = tokens_of(plain)
        if not words:
            continue
        named = any(is_identifier(word) for word in words) and not _RAN.search(segment)
        reports = _COMMAND.match(segment) or (_REPORT.search(segment) and not named)
        if stop == ":" and ((reports and len(words) <= 5) or words[0].lower() in _ABOUT_IT):
            continue
        if stop == ":" and len(words) <= 5 and (named or verb_at(words) in (None, 0)):
            label = tuple(words)
            topic = label
            continue
        if words[0].lower() == "not" and found is not None and verb_at(words[1:]) is None:
            former = tuple(words[1:])
            continue
        if words[0].lower() in PREPOSITIONS and verb_at(words) is None:
            if found is None:
                # "With two children at home" is why, and "with fish" is when.
                fronted += words if words[0].lower() != "with" or len(words) < 4 else ()
            else:
                found = found._replace(rest=(*found.rest, *words))
            continue
        clause = _read(plain, topic)
        if clause is None:
            topic = topic or _noun_phrase(words)
            continue
        worth = _worth(clause, changed=changed or (not stop and ended)) - (stop == ":")
        worth += segment[:3].lower() == "so "
        if found is None or worth > best:
            # "Mornings got too hectic, I go after work": what happened is why something else holds now.
            revises |= told_of_past and (clause.verb in SINGLE or segment[:3].lower() == "so ")
            unsaid = label if not set(label) & {*clause.subject, *clause.rest} else ()
            found, best = clause._replace(fronted=(*fronted, *clause.fronted), label=unsaid), worth
        topic = topic or clause.subject
        told_of_past |= clause.past
    if found is None and label:
        listed, changed = spoken(_COMMENT.sub("", text[text.find(":") + 1 :]))
        return _listed(label, tokens_of(listed), revises=revises or changed)
    if found is None:
        return None
    return found._replace(
        revises=found.revises or revises or bool(CUES.search(sentence)), former=found.former or former
    )


_COMMENT = regex(r",\s+(?:after|approved|since|until|as|all|because|instead|from|starting)\b.*$", re.DOTALL)
"""What is said of a value behind it, unlike the next one of a list."""


def _listed(label: tuple[str, ...], words: Sequence[str], *, revises: bool) -> Clause | None:
    """Read "cache eu: eviction policy lru" and "locker: 40", which have no verb."""
    if not 1 <= len(words) <= 6 or verb_at(words) is not None:
        return None
    is_value = words[0][:1].isupper() or is_identifier(words[0])
    start = len(words) - 1 if len(words) > 1 and not is_value else 0
    named, value = words[:start], words[start:]
    if len(label) > 1 and not named and label[-1].lower() in _WHEREABOUTS:
        return Clause(label[:-1], "be", ("in", *value), revises=revises)
    return Clause((*label, *named), "be", tuple(value), revises=revises)


def _segments(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    for match in _BREAK.finditer(text):
        yield text[at : match.start()], match.group().strip()[:1]
        at = match.end()
    yield text[at:], ""


def _noun_phrase(words: Sequence[str]) -> tuple[str, ...]:
    kept = [word for word in words if word.lower() not in NEGATIONS | {"for", "me", "us"}]
    return tuple(kept[:4]) if len(words) <= 6 else ()


_PRELUDES = word_list(
    "change switch move go get come think say know leave quit retire finish lose drop cancel stop forget "
    "realise realize decide notice happen find hear turn reorganise reorganize look check test verify inspect open try "
    "ask see read compare review count measure hire buy"
)
"""Verbs of what led to a statement: "I've left Brightwell, I work at Harbour Dental now"."""


_UNTOLD = PRONOUNS - FIRST_PERSON - {"you"}
"""Subjects that do not say of whom or what something is said."""


def _worth(clause: Clause, *, changed: bool) -> int:
    worth = 4
    said = [word.lower() for word in clause.rest]
    led = clause.verb in ("change", "go", "move", "switch") or {word.lower() for word in clause.subject} & PRONOUNS
    if clause.verb in _PRELUDES and led and "to" not in said:
        worth -= 2
    if (
        (clause.verb == "be" and said[:1] in (["back"], ["to"]))
        or said in (["out"], ["gone"], ["history"], ["over"])
        or (clause.verb == "have" and "new" in said[:2])
    ):
        worth -= 2
    if not said or (clause.past and clause.verb not in CHANGING | QUITTING):
        worth -= 1
    if (said and said[0] in ("that", "it", "this", "them")) or "one" in said[:2]:
        worth -= 2
    if len(clause.subject) == 1 and clause.subject[0].lower() in _UNTOLD:
        worth -= 2
    if changed:
        worth += 1
    return worth


def _read(text: str, topic: tuple[str, ...]) -> Clause | None:  # noqa: PLR0911  one for each form of a clause
    """Read one segment, turned into the plain way of saying it."""
    if match := _NONE_FOR.match(text):
        return Clause(("i",) if match["who"] == "me" else ("we",), "eat", tuple(tokens_of(match["what"])), negated=True)
    if (match := _REPLACED.match(text)) and match["old"].lower() not in PRONOUNS | {"him", "her", "them"}:
        role = tokens_of(match["role"] or "")
        old = tuple(tokens_of(match["old"]))
        new = tuple(tokens_of(match["new"]))
        if role:
            return Clause(tuple(role), "be", new, revises=True, former=old)
        return Clause(old, "replace", ("to", *new), revises=True, former=old)
    if match := _TOOK_OVER.match(text):
        return Clause(tuple(tokens_of(match["role"])), "be", tuple(tokens_of(match["new"])), revises=True)
    if (match := _CLEFT.match(text) or _IT_IS_THAT.match(text)) and (found := _plain(match["clause"], topic)):
        what = tokens_of(match["what"])
        if " where " in match[0].lower() and what and what[0].lower() not in PREPOSITIONS:
            what = ["in", *what]
        timed = " when " in match[0].lower() and what[0].lower() not in PREPOSITIONS
        return found._replace(rest=(*found.rest, *(["at"] if timed else []), *what))
    if match := _AS_MY.match(text):
        return Clause(tuple(tokens_of(match["role"])), "be", tuple(tokens_of(match["what"])))
    changed = False
    text = _AS_ITS.sub(r"the \g<role> of \g<what> is \g<value>", text)
    text = straightened(text)
    if match := _NEW_ROLE.match(text):
        text, changed = f"my {match['role']} {match['be']}{text[match.end() :]}", True
    text, instead_of = without_former(text)
    former = tuple(tokens_of(instead_of))
    clause = _plain(text, topic)
    if clause and clause.verb == "be" and len(clause.subject) > 1 and clause.subject[-1].lower() in _WHEREABOUTS:
        clause = clause._replace(subject=clause.subject[:-1], rest=("in", *clause.rest))
    return clause._replace(former=former or clause.former, revises=changed or bool(former)) if clause else None


_WERE = frozenset({"was", "were", "had", "did"})
_WHEREABOUTS = word_list("location venue whereabouts region")


def _plain(text: str, topic: tuple[str, ...]) -> Clause | None:
    text, stopped = reworded(_FLOATING.sub(r"\g<verb> ", " ".join(tokens_of(text))))
    leading = bool(_LEADING.match(text))
    words = (text if leading else without_circumstances(text)).split()
    at = verb_at(words, last=leading)
    if at is None:
        return None
    subject, fronted = _subject(words[:at], leading=leading)
    verb, rest, negated, passive = predicate_of(words[at:])
    negated ^= stopped ^ bool(_DENIED.search(" ".join(words[:at])))
    if not verb:
        return None
    if subject and subject[0].lower() in ("no", "none", "nobody", "neither") and len(subject) > 1:
        subject, negated = subject[1:], not negated
    if rest and rest[0].lower() in ("no", "zero") and len(rest) > 1 and rest[1].lower() not in ("longer", "more"):
        rest, negated = rest[1:], not negated
    # "X and live in Y": the last of several verbs says it.
    if "and" in (word.lower() for word in rest):
        place = [word.lower() for word in rest].index("and")
        more = rest[place + 1 :]
        if more and FORMS.get(more[0].lower()) and len(more) > 1 and more[1].lower() in PREPOSITIONS | DETERMINERS:
            verb, rest, negated, passive = predicate_of(list(more))
    resolved = tuple(topic) if topic and topic[0].lower() not in PRONOUNS else ()
    if resolved and [word.lower() for word in subject] in (["it"], ["that"], ["this"], ["they"], ["he"], ["she"]):
        subject = resolved
    if (resolved and "it" in (word.lower() for word in rest)) or (
        resolved and "them" in (word.lower() for word in rest)
    ):
        rest = tuple(w for word in rest for w in (resolved if word.lower() in ("it", "them") else (word,)))
    form = words[at].lower()
    base = FORMS.get(form, form)
    third = form.endswith("s")
    past = form in _WERE or (base != form and base not in ("be", "have", "do") and not form.endswith(("s", "ing")))
    return Clause(tuple(subject), verb, tuple(rest), tuple(fronted), negated, passive, third=third, past=past)


def _subject(words: Sequence[str], *, leading: bool) -> tuple[list[str], list[str]]:
    """Return the subject, and what was said before it."""
    said = _DENIED.sub("", " ".join(words)).split()
    kept = [word for word in said if word.lower() not in PASSING and word.lower() not in NEGATIONS - {"no"}]
    if not kept:
        return [], []
    if not leading and len(kept) > 1 and kept[-1].lower() in ("i", "we") and kept[-2].lower() != "and":
        # "Fridays I never fly"
        on = ["on"] if kept[0].lower().endswith("days") else []
        return kept[-1:], [*on, *kept[:-1]]
    if len(kept) > 1 and kept[0].lower() == "all":
        kept = kept[1:]
    if len(kept) > 1 and kept[-1].lower() in ("here", "all", "both", "each"):
        kept = kept[:-1]
    lower = [word.lower() for word in kept]
    if leading or lower[0] in PREPOSITIONS:
        for place in range(len(kept) - 1, 0, -1):
            if lower[place] in FIRST_PERSON | PRONOUNS or (
                lower[place] in DETERMINERS
                and place > 1
                # "… was switched on the test suite takes …", unlike "the chair of the council".
                and (lower[place - 1] not in PREPOSITIONS or (leading and lower[place - 2].endswith("ed")))
            ):
                before = kept[:place]
                # "After noon" is when; "after the move" is why, as is what has a verb of its own.
                timed = lower[0] == "after" and lower[1] not in DETERMINERS and verb_at(before[1:]) is None
                return kept[place:], [] if leading and lower[0] != "with" and not timed else before
        # "For lunch orders go …" has no way to tell.
        return (kept[-1:], kept[:-1]) if len(kept) > 2 and not leading else (kept, [])
    return kept, []
