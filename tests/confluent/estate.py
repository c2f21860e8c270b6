"""The estate that the stand-in of Confluent Cloud serves: what there is, and what it means.

`build` gives one JSON object, the same each time; `python -m tests.confluent.estate` prints it. Lists bear the names of Confluent's APIs,
their members the fields, flattened (`environment`, `cluster`, `registry` are ids). A member `means` is not served. It tells the lineage:

- connector: `flows`, each a topic, the dataset outside of Kafka (namespace, name) and pairs of columns in the direction of the data
  (a source's from the outside to the topic, a sink's from the topic to the outside; none where columns are not known); `dead_letters`;
  `side`, topics beside the data to their role.
- statement, materialized table, ksqlDB query: `reads`, `writes` as [cluster, topic]; `columns` as pairs of [cluster, topic, column].
- group: the topics that it `reads`; `owner`: the connector's name or `lksqlc-../query` whose group it is.
- Tableflow topic: `tables`, each in the words of its catalog. Exporter: pairs of [registry, subject].

Columns are dotted paths of a topic's value; `_key` is a whole key, `_key.name` a field of one.
"""

import json
import sys
from functools import cache

from tests.confluent import lake, places
from tests.confluent.activity import PRODUCERS, TAILS, audit_events, metrics
from tests.confluent.catalog import catalog
from tests.confluent.connectors import connectors, plugins
from tests.confluent.flink import flink_statements, materialized_tables, pools
from tests.confluent.groups import groups
from tests.confluent.ksql import ksqldb_clusters
from tests.confluent.topics import Topics, told_otherwise
from tests.confluent.words import NOW, Json, Secrets

TOPICS = 400


def build() -> Json:
    """The estate, new: a test may change what it got."""
    made: Json = json.loads(_text())
    return made


def secrets(estate: Json) -> list[str]:
    """All secrets of the estate. Each is found in it, some of them in texts that Confluent shows."""
    return list(estate["secrets"])


@cache
def _text() -> str:
    topics, given = Topics(), Secrets()
    told_otherwise(topics)
    links = lake.cluster_links(topics)
    managed = connectors(topics, given)
    statements = flink_statements(topics, given)
    materialized = materialized_tables(topics)
    ksqldb = ksqldb_clusters(topics)
    read = groups(topics, managed, ksqldb)
    topics.add(places.ORDERS, "audit_trail", "event_id actor", kind="AVRO")
    topics.fill(TOPICS)
    exporters = lake.exporters(topics, given)
    integrations = lake.catalog_integrations(given)
    held = places.credentials(given, ksqldb)
    every = list(topics.topics.values())
    return json.dumps(
        {
            "now": NOW,
            "organization": {"id": places.ORGANIZATION, "display_name": "Acme"},
            "environments": places.environments(),
            "kafka_clusters": places.kafka_clusters(),
            "schema_registries": places.registries(),
            "flink_regions": [
                f"{cloud}.{region}" for cloud, region in sorted({tuple(one.split(".")) for held in places.REGIONS.values() for one in held})
            ],
            "compute_pools": pools(),
            **places.people(),
            "api_keys": places.api_keys(held),
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
            "cluster_links": links,
            "exporters": exporters,
            "provider_integrations": lake.provider_integrations(),
            "catalog_integrations": integrations,
            "tableflow_topics": lake.tableflow_topics(integrations),
            "catalog": catalog(topics),
            "usm_connect_clusters": [
                {
                    "id": "usmcc-s3lf01",
                    "environment": places.PROD,
                    "display_name": "own-connect",
                    "kafka_cluster_id": "usmkc-s3lf02",
                    "group_id": "connect-own",
                }
            ],
            "usm_kafka_clusters": [
                {
                    "id": "usmkc-s3lf02",
                    "environment": places.PROD,
                    "display_name": "own-kafka",
                    "confluent_platform_kafka_cluster_id": "4L6g3nShT-eMCtK--X86sw",
                    "cloud": "ON_PREM",
                    "region": "berlin",
                }
            ],
            "producers": [{"cluster": one[0], "client_id": one[1], "principal_id": one[2], "topics": one[3].split()} for one in PRODUCERS],
            "readers_without_group": [
                {"cluster": one[0], "client_id": one[1], "principal_id": one[2], "topics": one[3].split()} for one in TAILS
            ],
            "metrics": metrics(managed, statements, ksqldb, read, every),
            "audit_events": audit_events(managed, statements),
            "credentials": held,
            "secrets": given.given,
        }
    )


if __name__ == "__main__":
    json.dump(build(), sys.stdout, indent=1)
