"""The minimum number of calls that a full observation of the organization takes, and the minimum time under the rate limits.

`minimum_calls` counts, for each bucket of the rate limits, the calls without which something in the organization is not observed:

- the Cloud key: one page each of environments, service accounts, users, keys and custom plugins; for each environment the lists of
  Kafka, Schema Registry and ksqlDB clusters, compute pools, provider integrations and both lists of self-managed clusters; for each Kafka
  cluster its connectors (one expanded listing); for each running connector its offsets.
- each Kafka key: topics, their configurations in one call, three lists of groups, links, mirrors in one call; for each group the lag, which
  includes the members, on clusters that report it, otherwise the members of groups that have some; for streams groups the subtopologies.
  The list of share groups includes their partitions.
- each registry: contexts, one page of all schemas, the compatibility and mode of all, exporters and of each its settings and state; where
  there is a catalog, the tags of topics and of fields, both lists of definitions and the business metadata of each topic that has any.
- each Flink key: in each region the pages of statements and of materialized tables, and the exceptions of each statement that failed.
- each ksqlDB key: one call for all streams, tables and queries, one for the service's id.
- each Tableflow key: topics and catalogs of each Kafka cluster of the environment.
- the address that asks for metrics: for each Kafka cluster records and bytes, received and sent, and lag; for all connectors records, bytes
  and dead letters, for all statements records in and out (a filter may name many).

In windows, the last window costs no time: its calls do not wait for its end.
"""

import math
from typing import NamedTuple

from tests.confluent.apis import rate_limits
from tests.confluent.organization.build import build
from tests.confluent.organization.values import Json

PAGE = 100


class Minimum(NamedTuple):
    """Calls of a bucket, and the seconds that they take at least."""

    calls: int
    seconds: float


def minimum_calls(organization: Json, scale: float = 1.0) -> dict[str, Minimum]:
    """The minimum of each bucket: `cloud`, `metrics`, and `kafka`, `registry`, `flink`, `ksqldb`, `tableflow`, each with an id."""
    counts = {"cloud": _cloud(organization), "metrics": 5 * len(organization["kafka_clusters"]) + 5 + 2}
    counts |= {f"kafka {cluster['id']}": _kafka(organization, cluster) for cluster in organization["kafka_clusters"]}
    counts |= {f"registry {registry['id']}": _registry(organization, registry) for registry in organization["schema_registries"]}
    counts |= {f"flink {environment}": _flink(organization, environment) for environment in organization["credentials"]["flink"]}
    counts |= {f"ksqldb {cluster['id']}": 2 for cluster in organization["ksqldb_clusters"]}
    for environment in organization["environments"]:
        counts[f"tableflow {environment['id']}"] = 2 * sum(
            cluster["environment"] == environment["id"] for cluster in organization["kafka_clusters"]
        )
    return {name: Minimum(calls, _seconds(calls, _limit(name), scale)) for name, calls in counts.items()}


def _limit(bucket: str) -> tuple[int, float]:
    return {"metrics": rate_limits.METRICS, "registry": rate_limits.REGISTRY}.get(bucket.partition(" ")[0], rate_limits.OTHERS)


def _seconds(calls: int, limit: tuple[int, float], scale: float) -> float:
    return max(0, math.ceil(calls / max(1, int(limit[0] * scale))) - 1) * limit[1]


def _pages(count: int) -> int:
    return max(1, math.ceil(count / PAGE))


def _cloud(organization: Json) -> int:
    lists: int = sum(
        _pages(len(organization[name])) for name in ("environments", "service_accounts", "users", "api_keys", "custom_connector_plugins")
    )
    running = sum(any(task["state"] == "RUNNING" for task in connector["tasks"]) for connector in organization["connectors"])
    return lists + 7 * len(organization["environments"]) + len(organization["kafka_clusters"]) + running


def _kafka(organization: Json, cluster: Json) -> int:
    groups = [group for group in organization["consumer_groups"] if group["cluster"] == cluster["id"]]
    plain = [group for group in groups if group["type"] in ("CLASSIC", "CONSUMER")]
    lags: int = len(plain) if cluster["lag_offered"] else 0
    members: int = sum(bool(group["members"]) for group in groups if not lags or group not in plain)
    streams: int = sum(group["type"] == "STREAMS" for group in groups)
    return 7 + lags + members + streams


def _registry(organization: Json, registry: Json) -> int:
    exporters: int = sum(exporter["registry"] == registry["id"] for exporter in organization["exporters"])
    described = [
        entity for entity in organization["catalog"]["entities"] if entity["registry"] == registry["id"] and entity["businessMetadata"]
    ]
    return 5 + 2 * exporters + (4 + len(described) if registry["package"] == "ADVANCED" else 0)


def _flink(organization: Json, environment: str) -> int:
    calls = 0
    for resource in organization["credentials"]["flink"][environment]["resources"]:
        region = resource.partition("/")[2]
        statements, tables = (
            [
                entry
                for entry in organization[name]
                if entry["environment"] == environment and f"{entry['cloud']}.{entry['region']}" == region
            ]
            for name in ("statements", "materialized_tables")
        )
        calls += _pages(len(statements)) + _pages(len(tables)) + sum(entry["phase"] == "FAILED" for entry in statements)
    return calls


if __name__ == "__main__":
    for name, minimum in minimum_calls(build()).items():
        print(f"{name:32} {minimum.calls:4} calls {minimum.seconds:6.1f} s")  # noqa: T201 - what it is for
