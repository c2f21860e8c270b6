"""The organization of the stand-in of Confluent Cloud: its resources and their lineage.

`build` returns one JSON object, always the same; `python -m tests.confluent.organization.build` prints it. Its lists are named as in
Confluent's APIs; the members of their entries are the APIs' fields, flattened (`environment`, `cluster`, `registry` are ids). A member
`lineage` is not served. It describes the lineage that must be found:

- connector: `flows`, each with a topic, the dataset outside of Kafka (namespace, name) and pairs of columns in the direction of the data
  (from the dataset to the topic for a source, from the topic to the dataset for a sink; none if columns are unknown); `dead_letters`;
  `side`: topics beside the data, to their role.
- statement, materialized table, ksqlDB query: `reads` and `writes` as [cluster, topic]; `columns` as pairs of [cluster, topic, column].
- group: the topics that it `reads`; `owner`: the connector or `lksqlc-../query` whose group it is.
- Tableflow topic: `tables`, each in the terms of its catalog. Exporter: pairs of [registry, subject].

Columns are dotted paths in a topic's value; `_key` is a whole key, `_key.name` a field of one.
"""

import json
import sys
from functools import cache

from tests.confluent.organization import links, resources
from tests.confluent.organization.activity import PRODUCERS, TAILS, audit_events, metrics
from tests.confluent.organization.catalog import catalog
from tests.confluent.organization.connectors import connectors, plugins
from tests.confluent.organization.flink import flink_statements, materialized_tables, pools
from tests.confluent.organization.groups import groups
from tests.confluent.organization.ksqldb import ksqldb_clusters
from tests.confluent.organization.topics import Topics, add_unusual_subjects
from tests.confluent.organization.values import NOW, Json, Secrets

TOPICS = 400


def build() -> Json:
    """A new copy of the organization, which a test may change."""
    organization: Json = json.loads(_text())
    return organization


def secrets(organization: Json) -> list[str]:
    """All secrets of the organization. Some are in texts that Confluent's APIs return."""
    return list(organization["secrets"])


@cache
def _text() -> str:
    topics, given = Topics(), Secrets()
    add_unusual_subjects(topics)
    cluster_links = links.cluster_links(topics)
    managed = connectors(topics, given)
    statements = flink_statements(topics, given)
    materialized = materialized_tables(topics)
    ksqldb = ksqldb_clusters(topics)
    read = groups(topics, managed, ksqldb)
    topics.add(resources.ORDERS, "audit_trail", "event_id actor", kind="AVRO")
    topics.fill(TOPICS)
    exporters = links.exporters(topics, given)
    integrations = links.catalog_integrations(given)
    credentials = resources.credentials(given, ksqldb)
    every = list(topics.topics.values())
    return json.dumps(
        {
            "now": NOW,
            "organization": {"id": resources.ORGANIZATION, "display_name": "Acme"},
            "environments": resources.environments(),
            "kafka_clusters": resources.kafka_clusters(),
            "schema_registries": resources.registries(),
            "flink_regions": [
                f"{cloud}.{region}"
                for cloud, region in sorted({tuple(name.split(".")) for names in resources.REGIONS.values() for name in names})
            ],
            "compute_pools": pools(),
            **resources.people(),
            "api_keys": resources.api_keys(credentials),
            "topics": every,
            "subjects": topics.subjects,
            "connectors": managed,
            "connector_plugins": plugins(managed),
            "custom_connector_plugins": [
                {
                    "id": "ccp-l3dg3r",
                    "display_name": "Ledger",
                    "connector_class": "com.acme.kafka.LedgerSinkConnector",
                    "connector_type": "SINK",
                    "cloud": "AWS",
                    "sensitive_config_properties": [],
                }
            ],
            "statements": statements,
            "materialized_tables": materialized,
            "ksqldb_clusters": ksqldb,
            "consumer_groups": read,
            "cluster_links": cluster_links,
            "exporters": exporters,
            "provider_integrations": links.provider_integrations(),
            "catalog_integrations": integrations,
            "tableflow_topics": links.tableflow_topics(integrations),
            "catalog": catalog(topics),
            "usm_connect_clusters": [
                {
                    "id": "usmcc-s3lf01",
                    "environment": resources.PROD,
                    "display_name": "own-connect",
                    "kafka_cluster_id": "usmkc-s3lf02",
                    "group_id": "connect-own",
                }
            ],
            "usm_kafka_clusters": [
                {
                    "id": "usmkc-s3lf02",
                    "environment": resources.PROD,
                    "display_name": "own-kafka",
                    "confluent_platform_kafka_cluster_id": "4L6g3nShT-eMCtK--X86sw",
                    "cloud": "ON_PREM",
                    "region": "berlin",
                }
            ],
            "producers": [
                {"cluster": producer[0], "client_id": producer[1], "principal_id": producer[2], "topics": producer[3].split()}
                for producer in PRODUCERS
            ],
            "readers_without_group": [
                {"cluster": tail[0], "client_id": tail[1], "principal_id": tail[2], "topics": tail[3].split()} for tail in TAILS
            ],
            "metrics": metrics(managed, statements, ksqldb, read, every),
            "audit_events": audit_events(managed, statements),
            "credentials": credentials,
            "secrets": given.given,
        }
    )


if __name__ == "__main__":
    json.dump(build(), sys.stdout, indent=1)
