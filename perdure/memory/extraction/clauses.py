"""One sentence as its subject, verb and what follows, read by word lists and word order. Pure.

It looks for the clause that states something, takes off what people say around it, and turns a few ways of saying
("Ms Adeyemi is my barrister", "six is when we close", "Wanjiru leads my team") into the plain one.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from perdure.memory.extraction.lexicon import (
    AUXILIARIES,
    BE,
    CLOSINGS,
    CONTRACTIONS,
    CORRECTIONS,
    CUES,
    DETERMINERS,
    DO,
    ENDINGS,
    FIRST_PERSON,
    HAVE,
    MODALS,
    NEGATIONS,
    OPENINGS,
    PASSING,
    PREPOSITIONS,
    PRONOUNS,
    REVISIONS,
)
from perdure.memory.extraction.verbs import FORMS


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
    revises: bool = False
    """Whether it says itself that something has changed."""
    former: tuple[str, ...] = ()
    """What it says that it replaces."""
    label: tuple[str, ...] = ()
    """What stands before it with a colon: "cache eu: …"."""


_BREAK = re.compile(r"\s*(?:[;!?]|\.(?=\s|$)|\s[-–—]+\s|—|,(?=\s)|:(?=\s))\s*")
_TITLES = re.compile(
    r"\b(?:dr|mr|mrs|ms|prof|st|sr|jr|no|nr|vs|approx|dept|inc|ltd|co|rev|sgt|capt|e\.g|i\.e|[A-Z])\.(?=\s)",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"[\s,]+(?:now\s+that|because|since\s+(?!19|20)\w+|as\s+(?:the|my|our|we|i|it|they|he|she|that)\b|so\s+(?:that|we|i|please)|so\s+\w+\s+\w+|although|though|"
    r"even\s+though|whereas|while|which|who\s+|where\s+(?=we|i|they|he|she)|given\s+that|until\s+(?=the|my|our|further|we|i|it)|till\s+(?=the|further)|"
    r"unless|in\s+order\s+to|due\s+to|thanks\s+to|after\s+(?=the|my|our|a|that|we|i|all\s+the|last|some)|ever\s+since|if\s|when\s+(?=we|i|the|it|they)).*$",
    re.IGNORECASE | re.DOTALL,
)
"""Reasons and circumstances after the clause."""

_LEADING = re.compile(
    r"^(?:after|since|once|because|as|now\s+that|when|while|if|although|given\s+that|with)\s", re.IGNORECASE
)
_REPORT = re.compile(
    r"\b(?:report|reports|check|checks|passed|failed|run|test|tests|deploy|deployment|config|configuration|log|status|monitor|monitoring|result|results|"
    r"audit|scan|build|release|verified|confirmed|confirmation|observed|inspection|output|info|update|updated|note|reading|sensor|probe|summary|notice|"
    r"changed|change|news|decision|correction|reminder|heads|sync|job|pipeline|ci|health|diagnostic|diagnostics|survey|review|lookup|query|import|"
    r"went|round|mind|back|switched|moved|true|fact|thing|again|settings|calendar|inventory|measurement|schedule|benchmark|detected|found)\b",
    re.IGNORECASE,
)
"""What stands before a colon and says where a statement comes from, rather than what it is about."""

_BACK_TO = re.compile(
    r"\b(?P<who>i|we)\s+(?:am|are|have|has)?\s*(?:(?:gone|went|go|going|switched|got|come|came)\s+)?back\s+(?:to|on|at|in)\s+(?P<verb>\w+ing)\b",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    r"\b(?P<who>i|we|he|she|they|[\w\s'-]{2,40}?)\s+(?:(?:have|has|had)\s+)?(?P<stop>stop(?:ped|s)?|quit|quits|g[ai]ves?\s+up|given\s+up)\s+(?P<verb>\w+ing)\b",
    re.IGNORECASE,
)
_STARTED = re.compile(
    r"\b(?P<who>i|we|he|she|they)\s+(?:(?:have|has|had)\s+)?(?:start(?:ed|s)?|took\s+up|taken\s+up|beg[au]n|resumed?)\s+(?P<verb>\w+ing)\b",
    re.IGNORECASE,
)
_RATHER = re.compile(
    r"\b(?P<who>i|we)\s+would\s+(?:(?:much|far)\s+)?(?:rather|sooner)\s+(?:not\s+)?(?:have\s+)?", re.IGNORECASE
)
_NONE_FOR = re.compile(r"^no\s+(?P<what>[\w\s'-]{2,40}?)\s+for\s+(?P<who>me|us)\b", re.IGNORECASE)
_CLEFT = re.compile(
    r"^(?P<what>.{2,60}?)\s+(?:is|are|was|were)\s+(?:what|when|where|who|whom|how)\s+(?P<clause>(?:i|we|my|our|the|his|her|their|he|she|they|[\w'-]+)\s.+)$",
    re.IGNORECASE,
)
_IT_IS_THAT = re.compile(r"^it\s+(?:is|was)\s+(?P<what>.{2,60}?)\s+(?:that|who)\s+(?P<clause>\S+\s.+)$", re.IGNORECASE)
_AS_MY = re.compile(
    r"^(?:i|we)\s+(?:now\s+)?(?:use|have|see|wear|drive|take|employ|keep)\s+(?P<what>.{2,50}?)\s+(?:as|for)\s+(?:my|our)\s+(?P<role>[\w\s-]{2,40})$",
    re.IGNORECASE,
)
_LET_ME = re.compile(
    r"\b(?:i|we)\s+(?:want|would\s+like|need|like|wish)\s+you\s+to\s+|^you\s+(?:should|must|can|may)\s+", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"(?:\s+(?:instead\s+of|rather\s+than|in\s+place\s+of|and\s+not|and\s+no\s+longer|replacing)|,\s*(?:not|no\s+longer))\s+(?P<former>[^,;]+?)[\s.!]*$",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"^(?P<new>.{2,60}?)\s+(?:has\s+|have\s+)?(?:replaced|replaces|replace|took\s+over\s+from|takes\s+over\s+from|succeeded|succeeds|is\s+replacing)\s+"
    r"(?P<old>.{2,60}?)(?:\s+as\s+(?:(?:my|our|the)\s+)?(?P<role>.+?))?[\s.!]*$",
    re.IGNORECASE,
)
_TOOK_OVER = re.compile(
    r"^(?P<new>.{2,60}?)\s+(?:has\s+|have\s+)?(?:took\s+over|takes\s+over|taken\s+over|stepped\s+in|steps\s+in)\s+as\s+(?:(?:my|our|the)\s+)?(?P<role>.+?)[\s.!]*$",
    re.IGNORECASE,
)
_NEW_ROLE = re.compile(r"^(?:my|our|the)\s+new\s+(?P<role>[\w\s'-]{2,50}?)\s+(?P<be>is|are)\b", re.IGNORECASE)

_IN_CHARGE = re.compile(r"\b(?:is|are|'s)\s+(?:now\s+)?(?:in\s+charge\s+of|responsible\s+for)\s+", re.IGNORECASE)
_PLACE = re.compile(r"(\b)(?:take(s)?|took|taking|taken)\s+place\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|no\s+longer)\b", re.IGNORECASE)
_PARTICLES = frozenset(["up", "out", "off", "down", "away", "back", "over"])


def spoken(text: str) -> tuple[str, bool]:
    """Return a sentence without what people say before and after it, and whether that says that something changed."""
    revises = False
    text = re.sub(r"[“”\"]", "", text.replace("’", "'")).strip().lstrip("-*• ")
    text = _TITLES.sub(lambda match: match[0][:-1], text)
    while True:
        before = text
        if match := CORRECTIONS.match(text):
            text, revises = text[match.end() :], True
        elif (match := OPENINGS.match(text)) and match.end() < len(text):
            text = text[match.end() :]
        if match := REVISIONS.search(text):
            text, revises = text[: match.start()], True
        elif match := CLOSINGS.search(text):
            text = text[: match.start()]
        text = text.strip(" ,;.!\t\n")
        if text == before or not text:
            return text or before, revises


def tokens_of(text: str) -> list[str]:
    """Return a text's words, with contractions written out and stops taken off their ends."""
    words: list[str] = []
    for raw in text.split():
        word = raw.strip(',;.!?()[]"“”…')
        if not re.search(r"\w|[$€£%]", word):
            continue
        lower = word.lower()
        if lower in CONTRACTIONS:
            words += CONTRACTIONS[lower].split()
            continue
        for ending, full in ENDINGS.items():
            if lower.endswith(ending) and len(lower) > len(ending):
                words += [word[: -len(ending)], full]
                break
        else:
            words.append(word)
    return words


def clause_of(sentence: str) -> Clause | None:
    """Return the clause of a sentence that states something; None: none that can be told."""
    text, revises = spoken(sentence)
    found: Clause | None = None
    best = 0
    topic: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    fronted: list[str] = []
    former: tuple[str, ...] = ()
    for segment, stop in _segments(text):
        plain, changed = spoken(segment)
        revises |= changed
        words = tokens_of(plain)
        if not words:
            continue
        if stop == ":" and _REPORT.search(segment) and len(words) <= 5:
            continue
        if stop == ":" and not _REPORT.search(segment) and len(words) <= 5 and not _verb_at(words):
            label = tuple(words)
            topic = label
            continue
        if words[0].lower() == "not" and found is not None and not _verb_at(words[1:]):
            former = tuple(words[1:])
            continue
        if words[0].lower() in PREPOSITIONS and _verb_at(words) is None:
            if found is None:
                fronted += words
            else:
                found = found._replace(rest=(*found.rest, *words))
            continue
        clause = _read(plain, topic)
        if clause is None:
            topic = topic or _noun_phrase(words)
            continue
        worth = _worth(clause, segment)
        if found is None or worth > best:
            unsaid = label if not set(label) & {*clause.subject, *clause.rest} else ()
            found, best = clause._replace(fronted=(*fronted, *clause.fronted), label=unsaid), worth
        topic = topic or clause.subject
    if found is None and label:
        return _listed(label, tokens_of(text[text.find(":") + 1 :]), revises=revises)
    if found is None:
        return None
    return found._replace(
        revises=found.revises or revises or bool(CUES.search(sentence)), former=found.former or former
    )


def _listed(label: tuple[str, ...], words: Sequence[str], *, revises: bool) -> Clause | None:
    """Read "cache eu: eviction policy lru" and "locker: 40", which have no verb."""
    if not 1 <= len(words) <= 6 or _verb_at(words) is not None:
        return None
    start = len(words) - 1 if len(words) > 1 and not words[0][:1].isupper() else 0
    named, value = words[:start], words[start:]
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


def _worth(clause: Clause, segment: str) -> int:
    worth = 4
    said = [word.lower() for word in clause.rest]
    if clause.verb in ("change", "switch", "move", "go", "get", "come", "think", "say", "know") and "to" not in said:
        worth -= 2
    if not said:
        worth -= 1
    if (said and said[0] in ("that", "it", "this", "them")) or "one" in said[:2]:
        worth -= 2
    if CUES.search(segment):
        worth += 1
    return worth


def _read(text: str, topic: tuple[str, ...]) -> Clause | None:  # noqa: PLR0911
    """Read one segment, turned into the plain way of saying it."""
    if match := _NONE_FOR.match(text):
        return Clause(("i",) if match["who"] == "me" else ("we",), "eat", tuple(tokens_of(match["what"])), negated=True)
    if match := _REPLACED.match(text):
        role = tokens_of(match["role"] or "")
        old = tuple(tokens_of(match["old"]))
        new = tuple(tokens_of(match["new"]))
        if role:
            return Clause(tuple(role), "be", new, revises=True, former=old)
        return Clause(old, "replace", ("to", *new), revises=True, former=old)
    if match := _TOOK_OVER.match(text):
        return Clause(tuple(tokens_of(match["role"])), "be", tuple(tokens_of(match["new"])), revises=True)
    if (match := _CLEFT.match(text) or _IT_IS_THAT.match(text)) and (found := _plain(match["clause"], topic)):
        return found._replace(rest=(*found.rest, *tokens_of(match["what"])))
    if match := _AS_MY.match(text):
        return Clause(tuple(tokens_of(match["role"])), "be", tuple(tokens_of(match["what"])))
    changed = False
    if match := _NEW_ROLE.match(text):
        text, changed = f"my {match['role']} {match['be']}{text[match.end() :]}", True
    text = _IN_CHARGE.sub(" handles ", text)
    text = _LET_ME.sub("", text)
    former: tuple[str, ...] = ()
    if (match := _INSTEAD.search(text)) and not re.search(
        r"\brather\s+have\b|\bprefer|\bchoose|\bpick|\bfavou?r", text
    ):
        former, text = tuple(tokens_of(match["former"])), text[: match.start()]
    clause = _plain(text, topic)
    return clause._replace(former=former or clause.former, revises=changed or bool(former)) if clause else None


def _plain(text: str, topic: tuple[str, ...]) -> Clause | None:  # noqa: PLR0912
    text = _PLACE.sub(lambda match: match[1] + "happen" + (match[2] or ""), " ".join(tokens_of(text)))
    stopped = False
    if match := _BACK_TO.search(text):
        base = FORMS.get(match["verb"].lower(), "")
        text = f"{text[: match.start()]}{match['who']} {base}{text[match.end() :]}" if base else text
    elif match := _RATHER.search(text):
        text = f"{text[: match.start()]}{match['who']} prefer {text[match.end() :]}"
    elif match := _STARTED.search(text):
        base = FORMS.get(match["verb"].lower(), "")
        text = f"{text[: match.start()]}{match['who']} {base}{text[match.end() :]}" if base else text
    elif match := _STOPPED.search(text):
        base = FORMS.get(match["verb"].lower(), "")
        if base:
            text, stopped = f"{text[: match.start()]}{match['who']} {base}{text[match.end() :]}", True
    leading = bool(_LEADING.match(text))
    cut = text if leading else _SUBORDINATE.sub("", text)
    words = cut.split()
    at = _verb_at(words, last=leading)
    if at is None:
        return None
    subject, fronted = _subject(words[:at], leading=leading)
    verb, rest, negated, passive = _predicate(words[at:])
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
            verb, rest, negated, passive = _predicate(list(more))
    resolved = tuple(topic) if topic and topic[0].lower() not in PRONOUNS else ()
    if resolved and [word.lower() for word in subject] in (["it"], ["that"], ["this"], ["they"], ["he"], ["she"]):
        subject = resolved
    if (resolved and "it" in (word.lower() for word in rest)) or (
        resolved and "them" in (word.lower() for word in rest)
    ):
        rest = tuple(w for word in rest for w in (resolved if word.lower() in ("it", "them") else (word,)))
    return Clause(tuple(subject), verb, tuple(rest), tuple(fronted), negated, passive)


def _verb_at(words: Sequence[str], *, last: bool = False) -> int | None:
    """Return where the verb of a clause begins, with its auxiliaries; None: it has none that is known."""
    lower = [word.lower() for word in words]
    places: list[int] = []
    for place, word in enumerate(lower):
        if (
            (word in AUXILIARIES and not (place and lower[place - 1] in DETERMINERS))
            or (word in ("used",) and lower[place + 1 : place + 2] == ["to"])
            or (word in FORMS and _is_verb(words, lower, place))
        ):
            places.append(place)
    if not places:
        return _unknown_verb(lower)
    return places[-1] if last else places[0]


def _is_verb(words: Sequence[str], lower: Sequence[str], place: int) -> bool:  # noqa: PLR0911
    word, before = lower[place], lower[place - 1] if place else ""
    after = lower[place + 1] if place + 1 < len(lower) else ""
    base = FORMS[word]
    if place == 0:
        # An imperative: "Book me a window seat". "Invoice A-700 was paid" is none.
        if word != base or not after or after in AUXILIARIES or word in ("back", "last", "right"):
            return False
        return after in DETERMINERS | {"me", "us"} or not any(
            other in AUXILIARIES or (other in FORMS and other.endswith("s")) for other in lower[1:5]
        )
    if before in DETERMINERS or before in PREPOSITIONS or word.endswith("ing"):
        return False
    if before in PRONOUNS or before in PASSING or before in NEGATIONS or before == "longer":
        return True
    plural = before.endswith("s") and not before.endswith("ss")
    if word == base and plural:
        return True
    if after in AUXILIARIES - HAVE - DO:
        return False
    if after in FORMS and base != "get":
        # Of two verbs in a row the second one is it where it agrees: "lunch orders go", "the build runs".
        noun_is_plural = word.endswith("s")
        if after.endswith("ed") or (after == FORMS[after]) == noun_is_plural:
            return False
    if word == base:
        return "and" in lower[:place] or (any(character.isupper() for character in words[place - 1][:1]) and place > 1)
    return True


_UNKNOWN_AFTER = PREPOSITIONS | DETERMINERS | {"daily", "weekly", "hourly", "monthly", "nightly", "every", "only"}


def _unknown_verb(lower: Sequence[str]) -> int | None:
    """Return where a verb that no list has may stand: it ends in s, and what follows is no noun."""
    if len(lower) > 2 and lower[0] in FIRST_PERSON | {"they"} and lower[1].isalpha() and lower[1] not in PREPOSITIONS:
        return 1
    for place in range(1, len(lower) - 1):
        word, after = lower[place], lower[place + 1]
        if (
            word.endswith("s")
            and not word.endswith(("ss", "us", "is"))
            and lower[place - 1] not in DETERMINERS | PREPOSITIONS
            and (after in _UNKNOWN_AFTER or after[0].isdigit() or after.endswith("ly"))
            and not lower[place - 1].endswith("s")
        ):
            return place
    return None


def _subject(words: Sequence[str], *, leading: bool) -> tuple[list[str], list[str]]:
    """Return the subject, and what was said before it."""
    said = _DENIED.sub("", " ".join(words)).split()
    kept = [word for word in said if word.lower() not in PASSING and word.lower() not in NEGATIONS - {"no"}]
    lower = [word.lower() for word in kept]
    if not kept:
        return [], []
    if leading or lower[0] in PREPOSITIONS:
        for place in range(len(kept) - 1, 0, -1):
            if lower[place] in FIRST_PERSON | PRONOUNS or (
                lower[place] in DETERMINERS and place > 1 and (leading or lower[place - 1] not in PREPOSITIONS)
            ):
                return kept[place:], [] if leading else kept[:place]
        # "For lunch orders go …" has no way to tell.
        return (kept[-1:], kept[:-1]) if len(kept) > 2 and not leading else (kept, [])
    return kept, []


def _predicate(words: Sequence[str]) -> tuple[str, tuple[str, ...], bool, bool]:  # noqa: C901, PLR0912
    """Return the verb's base, what follows, whether it is denied, and whether it is passive."""
    place, negated, be, verb, passive = 0, False, False, "", False
    ended = False
    while place < len(words):
        word = words[place].lower()
        if word == "used" and place + 1 < len(words) and words[place + 1].lower() == "to":
            ended, place = True, place + 2
        elif word == "no" and place + 1 < len(words) and words[place + 1].lower() in ("longer", "more"):
            negated, place = True, place + 2
        elif word in ("not", "never"):
            negated, place = not negated, place + 1
        elif word in PASSING and not (verb and word in ("very",)):
            place += 1
        elif verb:
            break
        elif word in BE:
            be, place = True, place + 1
        elif word in MODALS or (word in DO and _helps(words[place + 1 :])):
            place += 1
        elif word in HAVE:
            following = [w.lower() for w in words[place + 1 :] if w.lower() not in PASSING | {"not", "never"}]
            if following and (following[0] in BE or (following[0] in FORMS and _participle(following[0]))):
                place += 1
            elif following and following[0] == "to":
                place += [w.lower() for w in words[place:]].index("to") + 1
            else:
                verb, place = "have", place + 1
        elif word in FORMS or (not be and not place):
            base = FORMS.get(word, word.removesuffix("s"))
            if be and not _participle(word) and not word.endswith("ing"):
                break
            after = [w.lower() for w in words[place + 1 : place + 2]]
            if be and word == base and not after:
                break
            if be and word == "going" and after == ["to"]:
                place += 2
                continue
            if word in ("get", "gets", "got") and after and after[0] in FORMS and _participle(after[0]):
                be, place = True, place + 1
                continue
            verb, passive, place = base, be and not word.endswith("ing"), place + 1
        else:
            break
    if verb and place < len(words) and words[place].lower() in _PARTICLES:
        verb, place = f"{verb} {words[place].lower()}", place + 1
    rest = [word for word in words[place:] if word.lower() not in PASSING or word.lower() in ("once", "again")]
    return verb or ("be" if be else ""), tuple(rest), negated != ended, passive


def _helps(after: Sequence[str]) -> bool:
    """Return whether a form of "do" before these words only helps another verb."""
    following = [word.lower() for word in after if word.lower() not in PASSING]
    return bool(following) and (following[0] in NEGATIONS or following[0] in FORMS)


def _participle(word: str) -> bool:
    base = FORMS.get(word)
    return (
        base is not None
        and (
            word != base
            or base
            in ("set", "put", "cut", "run", "come", "become", "read", "hit", "let", "quit", "shut", "split", "cost")
        )
        and not word.endswith("s")
    )
