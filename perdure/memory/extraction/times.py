"""From when and until when a statement holds, as its own words say it. Pure."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from perdure.memory.extraction.lexicon import MONTHS, NUMBERS, SHORT_DAYS, SHORT_MONTHS, WEEKDAYS
from perdure.memory.extraction.patterns import regex


class Period(NamedTuple):
    """What a sentence says of its own time, and the sentence without it."""

    text: str
    valid_from: datetime | None = None
    valid_until: datetime | None = None


class _Span(NamedTuple):
    """The days that a phrase names, without the last one's end."""

    start: datetime
    end: datetime


_DAYS = "|".join([*WEEKDAYS, *SHORT_DAYS])
_MONTHS = "|".join([*MONTHS, *SHORT_MONTHS])
_PARTS = "day|week|month|quarter|year"
_SEASON = "spring|summer|autumn|fall|winter"
_COUNT = rf"\d{{1,3}}|an?|a\ couple\ of|{'|'.join(NUMBERS)}"
_UNIT = r"days?|weeks?|fortnights?|months?|quarters?|years?"
_WHEN = rf"""(?:
    (?:the\ )?(?P<end>end|start|beginning)\ of\ (?:(?:the|this)\ (?P<endunit>day|week|month|quarter|year)
      | next\ (?P<endnext>week|month|quarter|year) | (?P<endmonth>{_MONTHS}))\b
  | (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})
  | (?:the\ )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\ of)?\ (?P<month>{_MONTHS})\b(?:,?\ (?P<year>\d{{4}}))?
  | (?P<month2>{_MONTHS})\ (?:the\ )?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\ (?P<year2>\d{{4}}))?
  | the\ (?P<dayalone>\d{{1,2}})(?:st|nd|rd|th)\b
  | (?:(?P<next>next|this|coming|the\ coming)\ )?(?P<weekday>{_DAYS})\b(?:\ (?:morning|afternoon|evening|night))?
  | (?P<which>next|this|the\ coming|coming)\ (?P<unit>week(?:end)?|month|quarter|year|{_SEASON})\b
  | (?P<monthonly>{_MONTHS})\b(?:\ (?P<year3>\d{{4}}))?
  | (?P<yearonly>20\d\d)\b
  | (?P<near>today|tonight|tomorrow|the\ day\ after\ tomorrow|now
      |the\ (?:week|month|year)\ after\ next)\b
)"""

_FROM_ON = (
    r"(?:starting|beginning|effective|commencing)(?:\ (?:from|on|in|as\ of))?|as\ (?:of|from)|with\ effect\ from|from"
)
_RULES = (
    ("from", rf"(?P<count>{_COUNT})\ (?P<countunit>{_UNIT})\ from\ (?:now|today)(?=$|[\s,;.])"),
    ("from-until", rf"from\ {_WHEN.replace('?P<', '?P<a_')}\ (?:until|till|to|through)\ (?:and\ including\ )?{_WHEN}"),
    ("between", rf"between\ {_WHEN.replace('?P<', '?P<a_')}\ and\ {_WHEN}"),
    ("until", rf"(?:only\ )?(?:until|till|til|up\ to|up\ until|through|thru)\ (?:and\ including\ )?{_WHEN}"),
    (
        "for",
        rf"(?:just\ |only\ )?(?:for|over|during)\ the\ (?:next|coming)\ (?:(?P<count>{_COUNT})\ )?"
        rf"(?P<countunit>{_UNIT})\b",
    ),
    ("for", rf"(?:just\ |only\ )?for\ (?:the\ )?(?:rest|remainder)\ of\ (?:the|this)\ (?P<restunit>{_PARTS})\b"),
    ("from", rf"(?:{_FROM_ON})\ {_WHEN}(?:\ (?:on(?:wards?)?|forward))?(?=$|[\s,;.])"),
    ("this", r"(?:just\ |only\ )?(?:for\ )?(?P<near>today|tonight)(?:\ only)?\b"),
    ("this", r"(?:just\ |only\ )?(?:for\ )?(?:this|the\ current)\ (?P<now>week(?:end)?|month|quarter)(?:\ only)?\b"),
    ("this", r"(?:just\ |only\ )?(?<![^:;,]\ )over\ the\ (?P<now>weekend)"),
    ("window", r"(?:just\ |only\ )?(?:for\ )?(?P<near>tomorrow)(?:\ only)\b"),
    ("window", r"(?:just|only)\ (?:for\ )?next\ (?P<nextonly>week|month|quarter)\b"),
    ("window", r"(?:for\ )?next\ (?P<nextonly>week|month|quarter)\ only\b"),
    (
        "from",
        r"(?:starting|beginning|effective|commencing)\ (?:in\ )?"
        rf"(?P<count>{_COUNT})\ (?P<countunit>{_UNIT})(?:\ from\ now)?(?=$|[\s,;.])",
    ),
    (
        "for",
        rf"(?:(?<=[,:;]\ )|^)for\ (?P<count>{_COUNT})\ "
        r"(?P<countunit>days?|weeks?|fortnights?)(?=,?\ (?:the|we|i|our|my)\ )",
    ),
    (
        "for",
        rf"^for\ (?P<count>{_COUNT})\ (?P<countunit>months?|years?)"
        r"(?=,?\ (?:the|our|my)\ [^,.;]{2,40}?\ (?:is|are|will\ be)\b)",
    ),
    ("from", rf"in\ (?P<count>{_COUNT})\ (?P<countunit>{_UNIT})(?:['’]?\ time)?(?=$|[\s,;.])"),
    ("soon", r"(?P<which>next)\ (?P<unit>week|month|quarter|year)\b(?P<on>\ on(?:wards?)?)?"),
    ("soon", r"(?P<near>tomorrow|the\ day\ after\ tomorrow)\b(?P<on>\ on(?:wards?)?)?"),
)  # fmt: skip
_PATTERNS = tuple(
    (kind, regex(rf"(?<![\w-]){pattern}[\s,:–—-]*", re.IGNORECASE | re.VERBOSE)) for kind, pattern in _RULES
)

_PERIODIC = regex(
    r"\b(?:every|each|open|opens?|closes?|runs?|works?|valid|lasts?|booked|available|due)\s*$", re.IGNORECASE
)
"""Before "from" and "until": the time is what is said, and not when it holds."""

_UNFINISHED = regex(r"\b(?:is|are|was|be|will be|on|at|in|for|to|by|due)[\s.!]*$", re.IGNORECASE)
"""What is left of a sentence whose time is what it says: "The meeting is tomorrow"."""

_LASTING = regex(
    r"\b(?:mov(?:es?|ing)|chang(?:es?|ing)|switch(?:es|ing)?|becom(?:es?|ing)|start(?:s|ing)?|begin(?:s|ning)?|"
    r"takes? over|taking over|will|going to|replac(?:es?|ing)|stop(?:s|ping)?|no longer|instead)\b",
    re.IGNORECASE,
)
"""What begins and does not end: "next week we switch to …", unlike "next week the demo is in Lund"."""

_CLOCK_AFTER = regex(r"\s*(?:at\s+)?\d{1,2}(?::\d\d|\s*(?:am|pm|o'clock))", re.IGNORECASE)
_RECENT = timedelta(days=150)
"""A day without a year is the last one if it was less than this ago; a choice."""
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def period_of(text: str, at: datetime) -> Period:
    """Return from when and until when a sentence says that it holds.

    "Until Friday" includes Friday. What names no day ("until further notice", "until the repair is done") has no end
    that is known, and stays in the text, as does what repeats ("from Monday to Friday") or is a time of day.

    Args:
        text: One sentence.
        at: When it was said; days are counted in its time zone.
    """
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            rest = _without(text, match)
            if not rest or _PERIODIC.search(text[: match.start()]) or _CLOCK_AFTER.match(text, match.end()):
                continue
            if kind == "soon":
                lasting = match["on"] or _LASTING.search(rest)
                kind_read = "from" if lasting else "window"
            else:
                kind_read = kind
            found = _PERIOD[kind_read](match.groupdict(), at)
            if found is None:
                continue
            start, end = found
            if end is not None and end <= at:
                continue
            if end is None and start is not None and (later := period_of(rest, at)).valid_until:
                return Period(later.text, later.valid_from or start, later.valid_until)
            if start is None and end is not None and (first := period_of(rest, at)).valid_until is None:
                rest, start = first.text, first.valid_from
            return Period(rest, start if start is None or start > at or end is None else None, end)
    return Period(text)


_CLAUSE = 4
"""Words of which a clause has at least so many; a choice."""


def _without(text: str, match: re.Match[str]) -> str:
    before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip(" ,;:–—-")
    said_before = before.endswith((";", "–", "—", " -")) and len(after.split()) >= _CLAUSE
    # What holds from then on is what is said after it: "We've hired two; from tomorrow on the shop is open".
    rest = after if said_before else f"{before.rstrip(',;:–—- ')} {after}".strip()
    return rest if re.search(r"\w", rest) and not _UNFINISHED.search(rest) else ""


_Groups = dict[str, str | None]
_Bounds = tuple[datetime | None, datetime | None]


def _from(groups: _Groups, at: datetime) -> _Bounds | None:
    if groups.get("count"):
        return _later(_midnight(at), _count(groups["count"]), groups["countunit"] or ""), None
    span = _span(groups, at, past=True)
    return (span.start, None) if span else None


def _until(groups: _Groups, at: datetime) -> _Bounds | None:
    span = _span(groups, at)
    if span is None:
        return None
    # "Until Friday" ends with that day; "until March" and "until next week" end where those begin.
    if groups.get("end") == "end" or span.end - span.start <= timedelta(days=1):
        return None, span.end
    return None, span.start if span.start > at else span.end


def _for(groups: _Groups, at: datetime) -> _Bounds | None:
    if unit := groups.get("restunit"):
        return None, _unit_span(unit, at, 0).end
    return None, _later(_midnight(at), _count(groups.get("count") or "1"), groups["countunit"] or "") + timedelta(
        days=1
    )


def _this(groups: _Groups, at: datetime) -> _Bounds | None:
    if unit := groups.get("now"):
        return None, _unit_span("week" if unit == "weekend" else unit, at, 0).end
    return None, _midnight(at) + timedelta(days=1)


def _window(groups: _Groups, at: datetime) -> _Bounds | None:
    if unit := groups.get("nextonly"):
        return _unit_span(unit, at, 1)
    return _span(groups, at)


def _both(groups: _Groups, at: datetime) -> _Bounds | None:
    first = {name[2:]: value for name, value in groups.items() if name.startswith("a_")}
    start = _span(first, at, past=True)
    if start is None or (first.get("weekday") and not first.get("next")):
        return None  # "From Monday to Friday" is every week.
    end = _span({name: value for name, value in groups.items() if not name.startswith("a_")}, max(at, start.start))
    return (start.start, end.end) if end else None


_PERIOD: dict[str, Callable[[_Groups, datetime], _Bounds | None]] = {
    "from-until": _both,
    "between": _both,
    "until": _until,
    "for": _for,
    "this": _this,
    "window": _window,
    "from": _from,
}


def _span(groups: _Groups, at: datetime, *, past: bool = False) -> _Span | None:  # noqa: PLR0911  one for each form of a time
    """Return the days that a phrase names; ``past``: a day without a year may be one of the last weeks."""
    today = _midnight(at)
    get = groups.get
    if near := get("near"):
        if near.lower().endswith("after next"):
            return _unit_span(near.split()[1].lower(), at, 2)
        days = {"tomorrow": 1, "the day after tomorrow": 2}.get(near.lower(), 0)
        return _Span(today + timedelta(days=days), today + timedelta(days=days + 1))
    if get("end"):
        return _end_of(groups, at)
    if iso := get("iso"):
        year, month, day = (int(part) for part in iso.split("-"))
        return _day(today, year, month, day)
    if (month := get("month") or get("month2")) and (day := get("day") or get("day2")):
        return _dated(today, month, int(day), get("year") or get("year2"), past)
    if alone := get("dayalone"):
        found = _day(today, today.year, today.month, int(alone))
        if found and found.start < today:
            return _day(today, *_month_after(today), int(alone))
        return found
    if weekday := get("weekday"):
        name = SHORT_DAYS.get(weekday.lower(), weekday.lower())
        ahead = (WEEKDAYS.index(name) - today.weekday()) % 7 or 7
        start = today + timedelta(days=ahead)
        return _Span(start, start + timedelta(days=1))
    if unit := get("unit"):
        return _unit_span(unit.lower(), at, 0 if (get("which") or "").lower() == "this" else 1)
    if month := get("monthonly"):
        start = _dated(today, month, 1, get("year3"), past)
        return _Span(start.start, _later(start.start, 1, "month")) if start else None
    if year := get("yearonly"):
        return _Span(today.replace(year=int(year), month=1, day=1), today.replace(year=int(year) + 1, month=1, day=1))
    return None


def _end_of(groups: _Groups, at: datetime) -> _Span | None:
    if month := groups.get("endmonth"):
        whole = _span({"monthonly": month}, at)
    else:
        unit = groups.get("endunit") or groups.get("endnext") or ""
        whole = _unit_span(unit.lower(), at, 1 if groups.get("endnext") else 0)
    if whole is None:
        return None
    if (groups.get("end") or "").lower() == "end":
        return _Span(whole.end - timedelta(days=1), whole.end)
    return _Span(whole.start, whole.start + timedelta(days=1))


def _unit_span(unit: str, at: datetime, ahead: int) -> _Span:
    today = _midnight(at)
    if unit in _SEASONS:
        start = today.replace(month=_SEASONS[unit], day=1)
        start = start if start > today else start.replace(year=start.year + 1)
        return _Span(start, _later(start, 3, "month"))
    if unit == "day":
        return _Span(today + timedelta(days=ahead), today + timedelta(days=ahead + 1))
    if unit.startswith("week"):
        start = today - timedelta(days=today.weekday()) + timedelta(days=7 * ahead)
        return _Span(start, start + timedelta(days=7))
    if unit == "year":
        return _Span(
            today.replace(year=today.year + ahead, month=1, day=1),
            today.replace(year=today.year + ahead + 1, month=1, day=1),
        )
    months = 3 if unit == "quarter" else 1
    first = today.replace(month=(today.month - 1) // months * months + 1, day=1)
    start = _later(first, months * ahead, "month")
    return _Span(start, _later(start, months, "month"))


def _dated(today: datetime, month: str, day: int, year: str | None, past: bool) -> _Span | None:
    number = MONTHS.index(SHORT_MONTHS.get(month.lower(), month.lower())) + 1
    if year:
        return _day(today, int(year), number, day)
    found = _day(today, today.year, number, day)
    earliest = today - _RECENT if past else today
    if found and found.start < earliest:
        return _day(today, today.year + 1, number, day)
    return found


def _day(today: datetime, year: int, month: int, day: int) -> _Span | None:
    try:
        start = today.replace(year=year, month=month, day=day)
    except ValueError:
        return None
    return _Span(start, start + timedelta(days=1))


def _month_after(today: datetime) -> tuple[int, int]:
    following = _later(today.replace(day=1), 1, "month")
    return following.year, following.month


def _later(start: datetime, count: int, unit: str) -> datetime:
    unit = unit.lower().rstrip("s")
    if unit in ("day", "week", "fortnight"):
        return start + timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[unit])
    months = start.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = start.year + months // 12, months % 12 + 1
    for day in range(start.day, 27, -1):
        try:
            return start.replace(year=year, month=month, day=day)
        except ValueError:
            continue
    return start.replace(year=year, month=month, day=min(start.day, 28))


def _count(text: str | None) -> int:
    word = (text or "1").lower()
    if word in ("a", "an"):
        return 1
    return 2 if word.startswith("a couple") else int(NUMBERS.get(word, word))


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)
