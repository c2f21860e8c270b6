"""Metrics v2: queries by minutes and longer, labels, descriptors."""

import re
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

from tests.confluent.apis.messages import Answer, Request, error
from tests.confluent.organization.values import Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud

HOUR = 3600
LONGEST = {
    "PT1M": 6 * HOUR,
    "PT5M": 24 * HOUR,
    "PT15M": 96 * HOUR,
    "PT30M": 168 * HOUR,
    "PT1H": None,
    "PT4H": None,
    "PT6H": None,
    "PT12H": None,
    "P1D": None,
    "ALL": None,
}
"""Granularities, and the seconds that an interval of each may have at most."""
MINUTES = {"PT1M": 1, "PT5M": 5, "PT15M": 15, "PT30M": 30, "PT1H": 60, "PT4H": 240, "PT6H": 360, "PT12H": 720, "P1D": 1440}
GAUGES = ("consumer_lag_offsets", "retained_bytes", "streaming_unit_count")
MOST_ROWS = 1000
RESOURCES = {
    "kafka": ["kafka.id"],
    "connector": ["connector.id"],
    "ksqldb": ["ksqldb.id"],
    "flink_statement": ["flink_statement.name", "flink_statement.uid", "compute_pool.id", "environment.id"],
}


class Interval(NamedTuple):
    """From `start`, with it, to `end`, without it."""

    start: datetime
    end: datetime


def answer(cloud: "Cloud", request: Request) -> Answer:
    """A request below `v2/metrics/cloud`."""
    match (request.method, request.parts[3:]):
        case ("POST", ("query",)):
            return _refusing(lambda: _query(cloud, request))
        case ("POST", ("attributes",)):
            return _refusing(lambda: _attributes(cloud, request))
        case ("GET", ("descriptors", "metrics")):
            return _page(request, [_descriptor(cloud, name) for name in sorted({row["metric"] for row in cloud.organization["metrics"]})])
        case ("GET", ("descriptors", "resources")):
            resources = [
                {"type": kind, "description": kind, "labels": [{"key": name, "description": "", "exportable": True} for name in names]}
                for kind, names in RESOURCES.items()
            ]
            return _page(request, resources)
    return error(404, f"no resource at {request.path}")


class Refused(Exception):  # noqa: N818 - the name of the answer
    """A query that is not answered."""


def _refusing(do) -> Answer:
    try:
        answer_: Answer = do()
    except Refused as refused:
        return error(400, str(refused))
    return answer_


def _page(request: Request, items: list[Json]) -> Answer:
    size = min(int(request.value("page_size") or 100), MOST_ROWS)
    start = int(request.value("page_token") or 0)
    pagination: Json = {"page_size": size, "total_size": len(items)}
    if start + size < len(items):
        pagination["next_page_token"] = str(start + size)
    return Answer(200, {"data": items[start : start + size], "meta": {"pagination": pagination}, "links": {}})


def _descriptor(cloud: "Cloud", name: str) -> Json:
    labels = sorted({label for row in cloud.organization["metrics"] if row["metric"] == name for label in row["labels"]})
    resources = [kind for kind, ids in RESOURCES.items() if f"resource.{ids[0]}" in labels]
    kind = "GAUGE_INT64" if name.rpartition("/")[2] in GAUGES else "COUNTER_INT64"
    own = [{"key": label.removeprefix("metric."), "description": "", "exportable": True} for label in labels if label.startswith("metric.")]
    return {
        "name": name,
        "description": name,
        "type": kind,
        "unit": "1",
        "lifecycle_stage": "GENERAL_AVAILABILITY",
        "exportable": True,
        "labels": own,
        "resources": resources,
    }


def _query(cloud: "Cloud", request: Request) -> Answer:
    body = request.body if isinstance(request.body, dict) else {}
    if unknown := sorted(set(body) - {"aggregations", "filter", "granularity", "group_by", "intervals", "limit", "format", "order_by"}):
        raise Refused(f"unknown member {unknown[0]}")
    aggregations = body.get("aggregations") or []
    if len(aggregations) != 1:
        raise Refused("exactly one aggregation is needed")
    rows, labels = _rows(cloud, str(aggregations[0].get("metric")))
    granularity, limit = body.get("granularity"), body.get("limit", 100)
    if granularity not in LONGEST:
        raise Refused(f"granularity must be one of {', '.join(LONGEST)}")
    if not isinstance(limit, int) or not 1 <= limit <= MOST_ROWS:
        raise Refused(f"limit must be between 1 and {MOST_ROWS}")
    grouped = body.get("group_by") or []
    if unknown := sorted(set(grouped) - labels):
        raise Refused(f"group_by: {unknown[0]} is no label of this metric")
    intervals = [_interval(text, cloud.organization["now"]) for text in body.get("intervals") or []]
    if not intervals:
        raise Refused("an interval is needed")
    longest = LONGEST[granularity]
    if longest and any((interval.end - interval.start).total_seconds() > longest for interval in intervals):
        raise Refused(f"an interval of granularity {granularity} is at most {longest // HOUR} h long")
    rows_ = _data_points([row for row in rows if _matches(row, body.get("filter"), labels)], grouped, granularity, intervals)
    return _page(request._replace(query={**request.query, "page_size": [str(limit)]}), rows_)


def _rows(cloud: "Cloud", metric: str) -> tuple[list[Json], set[str]]:
    """The rows of a metric, and the labels that they have."""
    rows = [row for row in cloud.organization["metrics"] if row["metric"] == metric]
    if not rows:
        raise Refused(f"there is no metric {metric}")
    return rows, {label for row in rows for label in row["labels"]}


def _interval(text: str, now: str) -> Interval:
    first, slash, second = text.partition("/")
    if not slash:
        raise Refused(f"{text} is no interval")
    start, end = _moment(first, now), _moment(second, now)
    if isinstance(start, timedelta) and isinstance(end, datetime):
        start = end - start
    elif isinstance(end, timedelta) and isinstance(start, datetime):
        end = start + end
    if isinstance(start, timedelta) or isinstance(end, timedelta) or start >= end:
        raise Refused(f"{text} is no interval")
    return Interval(start, end)


def _moment(text: str, now: str) -> datetime | timedelta:
    if length := re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?", text):
        days, hours, minutes = (int(part or 0) for part in length.groups())
        return timedelta(days=days, hours=hours, minutes=minutes)
    name, _, rounding = text.partition("|")
    if name.startswith("now"):
        moment = datetime.fromisoformat(now.replace("Z", "+00:00"))
        back = re.search(r"-(\d+)([mhd])", name)
        if back:
            moment -= timedelta(**{{"m": "minutes", "h": "hours", "d": "days"}[back[2]]: int(back[1])})
        return moment.replace(second=0, microsecond=0, minute=0 if rounding == "h" else moment.minute)
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise Refused(f"{text} is no time") from None
    if moment.tzinfo is None:
        raise Refused(f"{text} has no time zone")
    return moment.astimezone(timezone.utc)


def _matches(row: Json, filter_: object, labels: set[str]) -> bool:
    """Whether a row passes the filter, which must name a resource."""
    if not isinstance(filter_, dict) or not any(name.startswith("resource.") for name in _fields(filter_)):
        raise Refused("a filter with the id of a resource is needed")
    if unknown := sorted(_fields(filter_) - labels):
        raise Refused(f"filter: {unknown[0]} is no label of this metric")
    return _passes(row, filter_)


def _fields(filter_: Json) -> set[str]:
    inner = [*(filter_.get("filters") or []), *([filter_["filter"]] if "filter" in filter_ else [])]
    return {str(filter_["field"])} if "field" in filter_ else {name for condition in inner for name in _fields(condition)}


def _passes(row: Json, filter_: Json) -> bool:
    match filter_.get("op"):
        case "AND":
            return all(_passes(row, condition) for condition in filter_["filters"])
        case "OR":
            return any(_passes(row, condition) for condition in filter_["filters"])
        case "NOT":
            return not _passes(row, filter_["filter"])
        case "EQ":
            return bool(row["labels"].get(filter_["field"]) == filter_["value"])
    raise Refused(f"{filter_.get('op')} is no operation of a filter")


def _data_points(rows: list[Json], grouped: list[str], granularity: str, intervals: list[Interval]) -> list[Json]:
    """A row for each group and step of time; a count grows with the minutes, a gauge does not."""
    sums: dict[tuple[str | None, ...], float] = defaultdict(float)
    for row in rows:
        sums[tuple(row["labels"].get(name) for name in grouped)] += row["per_minute"]
    gauge = bool(rows) and rows[0]["metric"].rpartition("/")[2] in GAUGES
    points = []
    for start, end in intervals:
        length = (end - start) if granularity == "ALL" else timedelta(minutes=MINUTES[granularity])
        at = start
        while at < end:
            minutes = min(length, end - at).total_seconds() / 60
            for group, value in sorted(sums.items(), key=str):
                labels = {name: part for name, part in zip(grouped, group, strict=True) if part is not None}
                points.append({"timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "value": value if gauge else value * minutes, **labels})
            at += length
    return points


def _attributes(cloud: "Cloud", request: Request) -> Answer:
    body = request.body if isinstance(request.body, dict) else {}
    rows, labels = _rows(cloud, str(body.get("metric")))
    grouped = body.get("group_by") or []
    if not grouped or set(grouped) - labels:
        raise Refused("group_by must name labels of this metric")
    found = [row for row in rows if _matches(row, body.get("filter"), labels)]
    values = sorted({tuple((name, row["labels"].get(name)) for name in grouped) for row in found}, key=str)
    return _page(request._replace(query={**request.query, "page_size": [str(body.get("limit", 100))]}), [dict(value) for value in values])
