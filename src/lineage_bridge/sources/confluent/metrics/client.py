"""Client of the Metrics API. A query returns one metric for many resources. Data arrives minutes late, so queries ask for minutes in the
past.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.times import MINUTE_US, format_time
from lineage_bridge.sources.common.http import MOST_PAGES, HttpClient
from lineage_bridge.sources.confluent.clients import page_entries

DELAY_US = 5 * MINUTE_US
"""The maximum delay until the Metrics API has the data of a minute."""
PAGE_SIZE = 1000
_DATASET = "/v2/metrics/cloud"
KAFKA, CONNECTOR = "resource.kafka.id", "resource.connector.id"
POOL, STATEMENT = "resource.compute_pool.id", "resource.flink_statement.name"
TOPIC, CLIENT, PRINCIPAL, GROUP = "metric.topic", "metric.client_id", "metric.principal_id", "metric.consumer_group_id"


class Metric(NamedTuple):
    """A metric to query. `by`: the labels to group by; `optional`: labels to group by only if the API has them; `resource`: the label with
    the ids of the measured resources.
    """

    name: str
    resource: str
    by: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    is_gauge: bool = False

    def is_offered(self, labels: Mapping[str, Collection[str]]) -> bool:
        """Whether the API has this metric with these labels."""
        return self.name in labels and {label for label in self.by if label.startswith("metric.")} <= set(labels[self.name])


class Row(NamedTuple):
    """A value of a metric, and its labels."""

    labels: Mapping[str, str]
    value: float


class Window(NamedTuple):
    """The time from `start_us` up to but not including `end_us`; both are whole minutes."""

    start_us: int
    end_us: int

    @property
    def interval(self) -> str:
        """The window as an ISO 8601 interval."""
        return f"{format_time(self.start_us)}/{format_time(self.end_us)}"


def newest_window(now_us: int, hours: float) -> Window:
    """Return the newest time, in whole minutes, for which all data has arrived."""
    end = (now_us - DELAY_US) // MINUTE_US * MINUTE_US
    return Window(end - max(1, round(hours * 60)) * MINUTE_US, end)


def list_metrics(http: HttpClient) -> dict[str, frozenset[str]]:
    """Fetch the list of metrics, each with its labels, which are named as in queries. Raises the errors of `HttpClient.get`."""
    found: dict[str, frozenset[str]] = {}
    for page in _pages(http, "GET", f"{_DATASET}/descriptors/metrics?page_size={PAGE_SIZE}", None):
        for entry in page:
            labels = [str(label.get("key") or "") for label in entry.get("labels") or () if isinstance(label, Mapping)]
            found[str(entry.get("name") or "")] = frozenset(key if "." in key else f"metric.{key}" for key in labels)
    return found


def query_metric(http: HttpClient, metric: Metric, labels: Collection[str], ids: Collection[str], window: Window) -> list[Row]:
    """Fetch a metric of these resources, summed over the window; for a gauge, its value in the last minute. Raises the errors of
    `HttpClient.get`.
    """
    queried = Window(window.end_us - MINUTE_US, window.end_us) if metric.is_gauge else window
    group_by = [metric.resource, *metric.by, *(label for label in metric.optional if label in labels)]
    filters = [{"field": metric.resource, "op": "EQ", "value": id_} for id_ in sorted(ids)]
    body = {
        "aggregations": [{"metric": metric.name}],
        "filter": filters[0] if len(filters) == 1 else {"op": "OR", "filters": filters},
        "granularity": "PT1M" if metric.is_gauge else "ALL",
        "group_by": group_by,
        "intervals": [queried.interval],
        "limit": PAGE_SIZE,
    }
    found: list[Row] = []
    for page in _pages(http, "POST", f"{_DATASET}/query", body):
        for entry in page:
            value = entry.get("value")
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
                found.append(Row({label: str(entry.get(label) or "") for label in group_by}, value))
    return found


def _pages(http: HttpClient, method: str, path: str, body: Mapping[str, Any] | None) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the data of an answer page by page. `meta.pagination` has the token of the next page. Raises the errors of `HttpClient.get`."""
    tokens: set[str] = set()
    next_path = path
    while len(tokens) < MOST_PAGES:
        answer = http.get(next_path) if method == "GET" else http.send(method, next_path, body)
        yield [entry for entry in page_entries(answer, f"{method} {path.partition('?')[0]}") if isinstance(entry, Mapping)]
        token = _next_token(answer)
        if not token:
            return
        if token in tokens:
            break
        tokens.add(token)
        next_path = f"{path}{'&' if '?' in path else '?'}page_token={quote(token, safe='')}"
    raise SourceError(
        f"{method} {path.partition('?')[0]} returned more pages than a query can have",
        "try again later; if it repeats, report it to Confluent",
    )


def _next_token(answer: Mapping[str, Any]) -> str:
    meta = answer.get("meta")
    pagination = meta.get("pagination") if isinstance(meta, Mapping) else None
    if not isinstance(pagination, Mapping):
        return ""
    return str(pagination.get("next_page_token") or pagination.get("page_token") or "")
