"""Cuts off the last segments of a path if they name only a part of a dataset, such as a partition or a date.

A path of one segment is not cut, nor is a year alone or a segment such as `prefix_date`.
"""

import re
from functools import lru_cache

_YEAR, _MONTH, _DAY = r"(?:19|20|21)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_HOUR = r"(?:[01]\d|2[0-3])"
_NOISE = r"(?:[T_ -]?\d\d[:.-]?\d\d(?:[:.-]?\d\d(?:[.,]?\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_YEAR}-{_MONTH}-{_DAY}{_NOISE}",
        rf"{_YEAR}{_MONTH}{_DAY}{_NOISE}",
        rf"{_YEAR}{_MONTH}",
        rf"{_YEAR}-{_MONTH}",
        rf"{_YEAR}/{_MONTH}",
        rf"{_YEAR}/{_MONTH}/{_DAY}",
        rf"{_YEAR}/{_MONTH}/{_DAY}/{_HOUR}",
    )
)
_MOST_SEGMENTS = 4


def cut_segment(path: str, pattern: str) -> str:
    """The path without its last segment, if this segment fully matches the pattern and is not the only one; else an empty string."""
    above, found, last = path.rstrip("/").rpartition("/")
    return above.rstrip("/") if found and above.strip("/") and _compiled(pattern).fullmatch(last) else ""


def cut_date(path: str) -> str:
    """The path without the date at its end, which is one segment or year/month(/day(/hour)); empty if there is no date, or nothing before
    it.
    """
    segments = path.rstrip("/").split("/")
    for count in range(_MOST_SEGMENTS, 0, -1):
        date = "/".join(segments[-count:])
        if count < len(segments) and date.count("/") == count - 1 and any(pattern.fullmatch(date) for pattern in _DATES):
            return "/".join(segments[:-count]).rstrip("/")
    return ""


@lru_cache(64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
