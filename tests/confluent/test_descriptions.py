"""The stand-in of Confluent Cloud answers as the published API descriptions say."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.confluent import descriptions as d
from tests.confluent.cloud import Cloud, running
from tests.confluent.organization.resources import ORDERS, PROD

KAFKA = f"kafka-rest/{ORDERS}/kafka/v3/clusters/{ORDERS}"
WITHIN = {"environment": PROD}
LEFT_OUT = ("resource_name is absent", "related is absent", "spec.credential_identity is absent")
"""Required members that the stand-in leaves out, as no reader uses them."""
BEYOND = (" is 'DISCONNECTED'", ".spec.columns[].type is of dict", ".metadata is not described")
"""In what the stand-in goes beyond the descriptions."""
LISTINGS: list[tuple[str, str, dict[str, str], Any]] = [
    ("cloud", "org/v2/environments", {}, d.ENVIRONMENT),
    ("cloud", "cmk/v2/clusters", WITHIN, d.KAFKA_CLUSTER),
    ("cloud", "srcm/v3/clusters", WITHIN, d.SCHEMA_REGISTRY),
    ("cloud", "ksqldbcm/v2/clusters", WITHIN, d.KSQLDB_CLUSTER),
    ("cloud", "fcpm/v2/compute-pools", WITHIN, d.COMPUTE_POOL),
    ("cloud", "iam/v2/service-accounts", {}, d.SERVICE_ACCOUNT),
    ("cloud", "iam/v2/users", {}, d.USER),
    ("cloud", "iam/v2/api-keys", {}, d.API_KEY),
    ("cloud", "connect/v1/custom-connector-plugins", {}, d.CUSTOM_PLUGIN),
    ("cloud", "pim/v1/integrations", WITHIN, d.PROVIDER_INTEGRATION),
    ("kafka", f"{KAFKA}/topics", {}, d.TOPIC),
    ("kafka", f"{KAFKA}/topics/-/configs", {}, d.TOPIC_CONFIG),
    ("kafka", f"{KAFKA}/acls", {"principal": "UserV2:*"}, d.ACL),
    ("kafka", f"{KAFKA}/consumer-groups", {}, d.GROUP),
    ("kafka", f"{KAFKA}/share-groups", {}, d.SHARE_GROUP),
    ("kafka", f"{KAFKA}/streams-groups", {}, d.STREAMS_GROUP),
    ("kafka", f"{KAFKA}/links", {}, d.LINK),
    ("kafka", f"{KAFKA}/links/-/mirrors", {}, d.MIRROR),
    ("tableflow", "tableflow/v1/tableflow-topics", {**WITHIN, "spec.kafka_cluster": ORDERS}, d.TABLEFLOW_TOPIC),
    ("tableflow", "tableflow/v1/catalog-integrations", {**WITHIN, "spec.kafka_cluster": ORDERS}, d.CATALOG_INTEGRATION),
    ("flink", "statements", {}, d.STATEMENT),
    ("flink", "materialized-tables", {}, d.MATERIALIZED_TABLE),
]


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with running() as cloud:
        cloud.limits.scale = 1000
        yield cloud


def ask(cloud: Cloud, credential: str, path: str, parameters: dict[str, str]) -> Any:
    keys = cloud.organization["credentials"][credential]
    pair = keys if "key" in keys else keys[ORDERS if credential == "kafka" else PROD]
    if credential == "flink":
        within = f"sql/v1/organizations/{cloud.organization['organization']['id']}/environments/{PROD}"
        path = f"flink/aws/us-east-1/{within}/{path}"
    return httpx.get(f"{cloud.url}/{path}", params=parameters, auth=(pair["key"], pair["secret"])).raise_for_status().json()


@pytest.mark.parametrize(
    ("credential", "path", "parameters", "shape"), LISTINGS, ids=[path.removeprefix(KAFKA) for _, path, _, _ in LISTINGS]
)
def test_each_entry_of_a_listing_is_as_described(cloud: Cloud, credential: str, path: str, parameters: dict[str, str], shape: Any) -> None:
    entries = ask(cloud, credential, path, parameters)["data"]
    described = {"api_version": "v1", "kind": "Kind", **shape}
    assert entries
    assert {fault for entry in entries for fault in d.differences(described, entry) if not fault.endswith((*LEFT_OUT, *BEYOND))} == set()


def test_connectors_are_as_described(cloud: Cloud) -> None:
    connectors = ask(cloud, "cloud", f"connect/v1/environments/{PROD}/clusters/{ORDERS}/connectors", {"expand": "info,status,id"})
    assert connectors
    assert {fault for entry in connectors.values() for fault in d.differences(d.CONNECTOR, entry)} == set()


def test_a_difference_is_found() -> None:
    shape = {"a!": "x", "b": d.Enum("ONE TWO"), "c": [{"d!": 1}], "e": d.Map("name", "value")}
    assert list(d.differences(shape, {"a": "y", "b": "TWO", "c": [{"d": 2}], "e": {"other": "z"}})) == []
    body = {"b": "THREE", "c": [{"d": "2"}, {}], "e": {"other": 1}, "f": None}
    faults = [".a is absent", ".b is 'THREE'", ".c[].d is of str", ".c[].d is absent", ".e.other is of int", ".f is not described"]
    assert list(d.differences(shape, body)) == faults
