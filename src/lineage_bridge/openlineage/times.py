"""Parsing and formatting times. A time is UTC microseconds since the epoch."""

import re
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
DAY_US = 24 * 60 * MINUTE_US

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_FIRST_US = (date.min.toordinal() - _EPOCH_ORDINAL) * DAY_US
_END_US = (date.max.toordinal() + 1 - _EPOCH_ORDINAL) * DAY_US
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d+))?)?"
    r"(?: ?([Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)(?:\[[A-Za-z0-9_+/:.~-]{1,64}\])?)?)?",
    re.ASCII,
)


class ParsedTime(NamedTuple):
    """A time that was parsed, and which parts its text did not state."""

    us: int
    zone_missing: bool
    date_only: bool


def parse_time(text: str) -> ParsedTime | None:
    """Parse an RFC 3339 time, tolerantly; None if it is not a time in the years 1 to 9999.

    A space for the T, lower case, a missing zone (UTC), a missing time (00:00Z), missing seconds, an offset without minutes or colon, and
    the name of a zone after an offset, as Java prints it (`Z[UTC]`), are accepted. Fraction digits beyond microseconds are cut off. A leap
    second is the first instant of the next minute.
    """
    match = _TIME.fullmatch(text)
    day_us = _day_us(match[1]) if match else None
    if match is None or day_us is None:
        return None
    _, hour, minute, second, fraction, zone, sign, zone_hour, zone_minute = match.groups()
    if hour is None:
        return ParsedTime(day_us, False, True)
    us = day_us + (int(hour) * 60 + int(minute)) * MINUTE_US
    if second:
        us += int(second) * SECOND_US
    if fraction:
        us += int(fraction[:6].ljust(6, "0"))
    if sign:
        offset = (int(zone_hour) * 60 + int(zone_minute or 0)) * MINUTE_US
        us += offset if sign == "-" else -offset
    return ParsedTime(us, zone is None, False) if _FIRST_US <= us < _END_US else None


def format_time(us: int) -> str:
    """The RFC 3339 text of a time: UTC, six digits, `Z`. Raises OverflowError outside the years 1 to 9999."""
    moment = _EPOCH + timedelta(microseconds=us)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


@lru_cache(1024)
def _day_us(text: str) -> int | None:
    """The start of a day written YYYY-MM-DD; None if the calendar has no such day."""
    try:
        day = date(int(text[:4]), int(text[5:7]), int(text[8:]))
    except ValueError:
        return None
    return (day.toordinal() - _EPOCH_ORDINAL) * DAY_US
