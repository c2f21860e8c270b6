"""The Metrics API: one query tells one metric of all resources. Data arrive some minutes late, and are asked for by whole minutes."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.times import MINUTE_US, format_time
from lineage_bridge.sources.common.http import MOST_PAGES, HttpClient

LATE_US = 5 * MINUTE_US
"""How late data may be."""
LARGEST_PAGE = 1000
_DATASET = "/v2/metrics/cloud"
KAFKA, CONNECTOR = "resource.kafka.id", "resource.connector.id"
POOL, STATEMENT = "resource.compute_pool.id", "resource.flink_statement.name"
TOPIC, CLIENT, PRINCIPAL, GROUP = "metric.topic", "metric.client_id", "metric.principal_id", "metric.consumer_group_id"


class Metric(NamedTuple):
    """What is asked. `by`: labels that its rows need; `more`: labels that are taken if there are such; `resource`: the label of the ids."""

    name: str
    resource: str
    by: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    is_gauge: bool = False

    def fits(self, labels: Mapping[str, Collection[str]]) -> bool:
        """Whether there is such a metric, by these labels."""
        return self.name in labels and {label for label in self.by if label.startswith("metric.")} <= set(labels[self.name])


class Row(NamedTuple):
    """A number, and the labels that it is of."""

    labels: Mapping[str, str]
    value: float


class Window(NamedTuple):
    """A time, from `start_us` on and before `end_us`, both on the minute."""

    start_us: int
    end_us: int

    @property
    def told(self) -> str:
        """As an ISO 8601 interval."""
        return f"{format_time(self.start_us)}/{format_time(self.end_us)}"


def window(now_us: int, hours: float) -> Window:
    """The newest whole minutes that have all their data."""
    end = (now_us - LATE_US) // MINUTE_US * MINUTE_US
    return Window(end - max(1, round(hours * 60)) * MINUTE_US, end)


def labels_of(http: HttpClient) -> dict[str, frozenset[str]]:
    """The metrics that there are, and the labels of each as queries name them. Raises as `Http.get` does."""
    found: dict[str, frozenset[str]] = {}
    for page in _pages(http, "GET", f"{_DATASET}/descriptors/metrics?page_size={LARGEST_PAGE}", None):
        for one in page:
            labels = [str(label.get("key") or "") for label in one.get("labels") or () if isinstance(label, Mapping)]
            found[str(one.get("name") or "")] = frozenset(key if "." in key else f"metric.{key}" for key in labels)
    return found


def rows_of(http: HttpClient, metric: Metric, labels: Collection[str], ids: Collection[str], during: Window) -> list[Row]:
    """A metric of these resources, over the whole window; of a gauge what it was in its last minute. Raises as `Http.get` does."""
    asked = Window(during.end_us - MINUTE_US, during.end_us) if metric.is_gauge else during
    group_by = [metric.resource, *metric.by, *(label for label in metric.more if label in labels)]
    fields = [{"field": metric.resource, "op": "EQ", "value": one} for one in sorted(ids)]
    body = {
        "aggregations": [{"metric": metric.name}],
        "filter": fields[0] if len(fields) == 1 else {"op": "OR", "filters": fields},
        "granularity": "PT1M" if metric.is_gauge else "ALL",
        "group_by": group_by,
        "intervals": [asked.told],
        "limit": LARGEST_PAGE,
    }
    found: list[Row] = []
    for page in _pages(http, "POST", f"{_DATASET}/query", body):
        for one in page:
            value = one.get("value")
            if isinstance(value, int | float) and not isinstance(value, bool):
                found.append(Row({label: str(one.get(label) or "") for label in group_by}, value))
    return found


def _pages(http: HttpClient, method: str, path: str, body: Mapping[str, Any] | None) -> Iterator[list[Mapping[str, Any]]]:
    """The data of an answer, page by page; the token of the next page lies in `meta.pagination`. Raises as `Http.get` does."""
    tokens: set[str] = set()
    following = path
    while len(tokens) < MOST_PAGES:
        answer = http.get(following) if method == "GET" else http.send(method, following, body)
        data = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(data, list):
            raise SourceError(f"{method} {path.partition('?')[0]} answered no data")
        yield [one for one in data if isinstance(one, Mapping)]
        token = _next_of(answer)
        if not token:
            return
        if token in tokens:
            break
        tokens.add(token)
        following = f"{path}{'&' if '?' in path else '?'}page_token={quote(token, safe='')}"
    raise SourceError(f"{method} {path.partition('?')[0]} leads from page to page without an end")


def _next_of(answer: Mapping[str, Any]) -> str:
    meta = answer.get("meta")
    pagination = meta.get("pagination") if isinstance(meta, Mapping) else None
    if not isinstance(pagination, Mapping):
        return ""
    return str(pagination.get("next_page_token") or pagination.get("page_token") or "")
