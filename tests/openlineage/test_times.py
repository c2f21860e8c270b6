from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.openlineage.times import ParsedTime, format_time, parse_time

NOON_US = 1_795_176_000_000_000


@pytest.mark.parametrize(
    ("written", "us"),
    [
        ("2026-11-20T12:00:00Z", NOON_US),
        ("2026-11-20t12:00:00z", NOON_US),
        ("2026-11-20 12:00:00Z", NOON_US),
        ("2026-11-20 12:00:00 +00:00", NOON_US),
        ("2026-11-20T12:00Z", NOON_US),
        ("2026-11-20T12:00:00+00:00", NOON_US),
        ("2026-11-20T12:00:00Z[UTC]", NOON_US),
        ("2026-11-20T13:00:00.000+01:00[Europe/Berlin]", NOON_US),
        ("2026-11-20T12:00:00Z[Etc/GMT+0]", NOON_US),
        ("2026-11-20T14:30:00+02:30", NOON_US),
        ("2026-11-20T14:30:00+0230", NOON_US),
        ("2026-11-20T10:00:00-02", NOON_US),
        ("2026-11-20T12:00:00.5Z", NOON_US + 500_000),
        ("2026-11-20T12:00:00,5Z", NOON_US + 500_000),
        ("2026-11-20T12:00:00.665235985Z", NOON_US + 665_235),
        ("2026-11-20T12:00:00." + "9" * 40 + "Z", NOON_US + 999_999),
        ("2026-11-20T11:59:60Z", NOON_US),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ],
)
def test_a_time_with_a_zone(written: str, us: int) -> None:
    assert parse_time(written) == ParsedTime(us, zone_missing=False, date_only=False)


def test_what_a_text_leaves_unsaid() -> None:
    assert parse_time("2026-11-20T12:00:00.000001") == ParsedTime(NOON_US + 1, zone_missing=True, date_only=False)
    assert parse_time("2026-11-20") == ParsedTime(NOON_US - 43_200_000_000, zone_missing=False, date_only=True)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "now",
        "1795176000",
        "2026-11-20T",
        "2026-11-20T12:00:00[UTC]",
        "2026-11-20T12:00:00Z[]",
        "2026-11-20T12:00:00Z[UTC",
        "2026-11-20T12Z",
        "2026-11-20T24:00:00Z",
        "2026-11-20T12:60:00Z",
        "2026-11-20T12:00:61Z",
        "2026-13-01T00:00:00Z",
        "2025-02-29",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "10000-01-01T00:00:00Z",
        "2026-11-20T12:00:00+24:00",
        "2026-11-20T12:00:00Z\n",
        "٢٠٢٦-11-20T12:00:00Z",
        "2026-11-20Z",
        "20261120T120000Z",
    ],
)
def test_what_is_no_time(written: str) -> None:
    assert parse_time(written) is None


@given(st.datetimes(), st.integers(-23 * 60, 23 * 60))
def test_agrees_with_the_calendar(naive: datetime, offset: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    try:
        utc = moment.astimezone(timezone.utc)
    except OverflowError:
        assert parse_time(moment.isoformat()) is None
        return
    parsed = parse_time(moment.isoformat())
    assert parsed is not None
    assert datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=parsed.us) == utc
    assert parse_time(format_time(parsed.us)) == parsed


@given(st.text() | st.from_regex(r"\d{4}-[0-3]\d-[0-3]\d([T ][0-2]\d:[0-6]\d(:[0-6]\d(\.\d+)?)?([Zz]|[+-]\d\d)?)?", fullmatch=True))
def test_any_text_is_a_time_that_can_be_written_or_none(written: str) -> None:
    parsed = parse_time(written)
    if parsed is not None:
        assert parse_time(format_time(parsed.us)) == ParsedTime(parsed.us, False, False)


def test_format() -> None:
    assert format_time(NOON_US) == "2026-11-20T12:00:00.000000Z"
    assert format_time(-62_135_596_800_000_000) == "0001-01-01T00:00:00.000000Z"
    with pytest.raises(OverflowError):
        format_time(2**62)
