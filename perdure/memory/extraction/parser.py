"""Reads what was said: its sentences and clauses, and its words without names, quotations and conditions. Pure."""

import re
from collections.abc import Iterator

from perdure.memory.extraction.patterns import regex

_ABBREVIATION = regex(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|no|nr|nos|vs|etc|e\.g|i\.e|eg|ie|approx|max|min|inc|ltd|co|corp"
    r"|dept|est|fig|vol|pp|ca"
    r"|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|a\.m|p\.m|resp|incl|tel|ext|str|[A-Z])\.$",
    re.IGNORECASE,
)
_END = regex(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*(?=\s)|\n+|[。！？]+")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, with their punctuation, without the space around them."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        closes = end.group()[-1] in "\"'”’)]" and text[end.end() : end.end() + 2].strip().islower()
        if closes or (end.group() == "." and _ABBREVIATION.search(text, max(0, end.start() - 12), end.end())):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    return [sentence.strip() for sentence in found if re.search(r"\w", sentence)]


_CLAUSE = regex(
    r"\s*;\s+|\s+[-–—]+\s+|,?\s+(?:but|though|although|whereas|however)\s+(?!not\b|rather\b|only\b|also\b|never\b)"
    r"|,\s+(?:and|so)\s+(?=(?:i|i'm|i've|we|we're|my|our|the|it|he|she|they|please|right now|today"
    r"|currently|maybe|perhaps|what|which|where|how|can|could|should)\b)"
    r"|\s+and\s+(?=(?:i|i'm|i've|we|we're|my|our|right now|today|currently|maybe|perhaps|will|am going)\b)"
    r"|,\s+(?=(?:maybe|perhaps|right now|today|currently|tomorrow|i think|i might|i'll|what|who|where"
    r"|when (?:is|are|do)|how|which (?:of|one|ones))\b)",
    re.IGNORECASE,
)


def clauses(sentence: str) -> list[str]:
    """Return the parts of a sentence that could be said alone: split at "but", at ";", and before a new subject."""
    return [part.strip(" ,") for part in _CLAUSE.split(sentence) if re.search(r"\w", part)]


_QUOTED = regex(
    "\"[^\"\n]{1,120}\"|“[^”\n]{1,120}”|«[^»\n]{1,120}»|`[^`\n]{1,120}`|(?<!\\w)'[^'\n]{2,60}'(?!\\w)|‘[^’\n]{2,60}’"
)
_CALLED = regex(
    r"\b(?:called|named|titled|entitled|nicknamed|dubbed|known as|goes by|brand|label|codename|code-named)\s+"
    r"((?:[A-Z][\w'’!?-]*)(?:\s+(?:[A-Z][\w'’!?-]*|of|the|and|for|in|on|to|a))*)"
)
_IDENTIFIER = regex(
    r"https?://\S+|[@#]\w[\w-]*|(?<![^\W_])[^\W_]*+[_/\\]\w[\w./\\-]*|\b\w++(?:-\w+)+\b"
    r"|\b[^\W\d]\w*+\.\w{2,4}\b|\b\w++\(\)"
)
_PREFIXES = frozenset(
    re.findall(
        r"\S+",
        "half second third re e double left right far job trade same self ill well mm uh to non part full check sign "
        "log low high day real",
    )
)
_CAPITAL = regex(r"(?<![\w'’])[A-Z][\w'’-]*")
_TWO_CAPITALS = regex(r"^(?!I\b)[A-Z][\w']*(?:\s+(?!I\b)[A-Z][\w']*)+")
_KEPT = regex(
    r"(?:I(?:['’](?:m|ve|d|ll))?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April"
    r"|June|July|August"
    r"|September|October|November|December)"
)
_CUE_WORDS = frozenset(
    re.findall(
        r"\S+",
        "now today tonight soon later then yet maybe perhaps not sure probably possibly just right never mind "
        "next week time being tomorrow morning evening moment ever and or of the for to be it that this all you "
        "we i us me",
    )
)


def words_of(sentence: str) -> str:
    """Return a sentence in small letters, where names, titles, quotations and identifiers are ``Xxx``.

    What stands in a name says nothing about the sentence: a chat tool called "Just For Now" is not momentary. The
    result has the length of the sentence.
    """
    masked = sentence.replace("’", "'")
    quoted = [match.span() for match in _QUOTED.finditer(masked) if len(match.group()) < 0.8 * len(masked)]
    names = [match.span(1) for match in _CALLED.finditer(masked)]
    identifiers = [match.span() for match in _IDENTIFIER.finditer(masked) if not _is_compound(match.group())]
    spans = [*quoted, *names, *identifiers, *_capitals(masked)]
    characters = list(masked.lower())
    for start, end in spans:
        for at in range(start, end):
            first = at == start or not (masked[at - 1].isalnum() or masked[at - 1] in "'-_")
            if masked[at].isalnum() or masked[at] in "'-_":
                characters[at] = "X" if first else "x"
            elif masked[at] in "?!.;:":
                characters[at] = " "
    return "".join(characters)


def _is_compound(written: str) -> bool:
    """Whether a hyphen joins plain words as grammar does: "half-sure", "second-hand"."""
    return written.split("-", maxsplit=1)[0] in _PREFIXES and written.count("-") == 1


def _capitals(text: str) -> Iterator[tuple[int, int]]:
    words = re.findall(r"[^\W\d_]+", text)
    if sum(word[0].isupper() for word in words) > 0.6 * len(words) and len(words) > 3:
        return
    opening = _TWO_CAPITALS.match(text)
    if (opening and any(word.lower() in _CUE_WORDS for word in opening.group().split()[1:])) or (
        opening and re.match(r"[A-Z]\w*'s\s", text)
    ):
        yield opening.span()
    for match in _CAPITAL.finditer(text):
        before = text[: match.start()].rstrip(" \"'“([{*-")
        if before and before[-1] not in ".!?:;>\n" and not _KEPT.fullmatch(match.group()):
            yield match.span()


_CONDITION = regex(
    r"\b(?:if|when|whenever|in case|unless|while|once|as soon as|wherever|^should)\s+(?!all goes|more\b|i had to"
    r"|i remember|i recall|memory serves|(?:i'm|i am) (?:not )?(?:mistaken|wrong|misremembering)"
    r"|do\b|does\b|did\b|is\b|are\b|will\b|can\b)[^,;:]{3,120}?(?=,|;|:|$|\.| (?:i|we|they|he|she)(?:'m|'ll|'d| am"
    r"| will| are| is)\b)"
)


_CONSEQUENCE = regex(r"(?<=[a-z]),? (?:or(?: else)?|otherwise) (?:it|they|he|she|you|we|i)\b.*$")
_DEMAND = regex(r"\b(?:must|have to|has to|needs? to|never|always|do not|don't)\b")


def without_conditions(words: str) -> str:
    """Return the words of a sentence without its conditions: "if the server is down" does not say that it is.

    Nor does "or they are blocked" after what must be done.
    """
    words = _CONDITION.sub(lambda match: "if " + "x" * (len(match.group()) - 3), words)
    return _CONSEQUENCE.sub("", words) if _DEMAND.search(words) else words


_WORD = regex(r"[^\W_](?:[\w'-]*[^\W_])?")


def plain_words(text: str) -> list[str]:
    """Return the words and numbers of a text in small letters."""
    return [match.group().lower() for match in _WORD.finditer(text.replace("’", "'"))]


_ENGLISH = frozenset(
    re.findall(
        r"\S+",
        "the a an is are was were be been to of in on at for and or with by from as not no never always my our "
        "your i i'm we you it this that have has had do does did will would should must can may only but than "
        "then all any each every when where who which what how before after use used like prefer so if there "
        "their they he she his her its don't can't",
    )
)
_FOREIGN = (
    frozenset(
        re.findall(
            r"\S+",
            "der das und ist nicht ich wir ein eine einen dem den mit für auf zu von nur immer sind mein meine unser "
            "kein keine el la los las que es un una y en por para con mi mis nuestro nuestra siempre nunca soy está "
            "son prefiero se le les des et est une dans pour avec je nous mon ma mes notre pas toujours jamais du ne "
            "c'est j'aime suis il lo gli di che è sono sempre mai nostro nostra della del al mio mia os um uma não "
            "meu minha nosso nossa em com sempre prefiro ik wij we het een niet met voor mijn ons onze altijd nooit "
            "zijn jag vi och är inte på alltid aldrig min mitt vår som det ett jest się na w mój moja nasz zawsze "
            "nigdy minä ja ei olen aina jeg og ikke alltid",
        )
    )
    - _ENGLISH
)


def is_english(text: str) -> bool:
    """Whether a text can be judged by English words: Latin letters, and not more foreign small words than English."""
    letters = [character for character in text if character.isalpha()]
    if sum(character.isascii() for character in letters) < 0.7 * len(letters):
        return False
    words = plain_words(text)
    foreign = sum(word in _FOREIGN for word in words)
    accented = any(character.isalpha() and not character.isascii() for character in text)
    return foreign < (1 if accented else 2) or foreign <= sum(word in _ENGLISH for word in words)
