"""The addresses of pages about a dataset or a job in the consoles of systems, if the node's names and facets contain the necessary ids.

An address is never guessed: every id in it was observed. The forms of the addresses come from Confluent's extension for VS Code
(confluentinc/vscode), from the documentation of AWS and Google on links to their consoles, and from Databricks' Catalog Explorer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

from lineage_bridge.graph.identity.node_ids import CONFLUENT, system_of
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.facets.console import CONSOLE, read_console
from lineage_bridge.projections.nodes import json_object

FACETS: Final = ("confluent_kafka", "confluent_connector", "confluent_flink_statement", "dataSource", CONSOLE)
"""The keys of the facets that are read."""
MOST_CHARACTERS: Final = 2_000
"""A longer address is left out."""
LONGEST_TITLE: Final = 100
"""A longer title is cut."""
_CLOUD: Final = "https://confluent.cloud/environments/"
_GLUE: Final = re.compile(r"arn:aws:glue:([a-z0-9-]+):(\d+)")
_GLUE_TABLE: Final = re.compile(r"table/([^/]+)/([^/]+)")
_ID: Final = re.compile(r"[A-Za-z0-9-]+")
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(:\d+)?")


class ConsoleLink(NamedTuple):
    """The page of a console about a node: the name of the console, and the address."""

    title: str
    url: str


def console_links(names: Iterable[Node], facets: Mapping[str, str]) -> tuple[ConsoleLink, ...]:
    """The consoles that show a node, given by all its names and the JSON texts of its facets, sorted by title. Each address begins with
    http:// or https:// and has no user and no password; titles have no control characters.
    """
    found = {link: None for name in names for link in _named(name)}
    found |= {link: None for name in names for link in _stated(name, facets)}
    return tuple(sorted({ConsoleLink(_title(link), link.url) for link in found if _is_web(link.url)}))


def _named(node: Node) -> Iterator[ConsoleLink]:
    """The pages whose addresses follow from a name alone."""
    if node.kind != NodeKind.DATASET:
        return
    scheme, _, host = node.namespace.partition("://")
    parts = node.name.split(".")
    if scheme == "unitycatalog" and len(parts) == 3 and _HOST.fullmatch(host):
        yield ConsoleLink("Databricks", f"https://{host}/explore/data/{'/'.join(map(_part, parts))}")
    if scheme == "bigquery" and len(parts) == 3:
        project, dataset, table = map(_part, parts)
        yield ConsoleLink("BigQuery", f"https://console.cloud.google.com/bigquery?p={project}&d={dataset}&t={table}&page=table")
    account, table_name = _GLUE.fullmatch(node.namespace), _GLUE_TABLE.fullmatch(node.name)
    if account and table_name:
        region, database, table = account[1], _part(table_name[1]), _part(table_name[2])
        page = f"#/v2/data-catalog/tables/view/{table}?database={database}&catalogId={account[2]}"
        yield ConsoleLink("AWS Glue", f"https://{region}.console.aws.amazon.com/glue/home?region={region}{page}")


def _stated(node: Node, facets: Mapping[str, str]) -> Iterator[ConsoleLink]:
    """The pages whose addresses follow from the facets of a node."""
    cluster = _cluster(json_object(facets.get("confluent_kafka")))
    if cluster and system_of(node.namespace) == CONFLUENT:
        yield ConsoleLink("Confluent Cloud", f"{cluster}/topics/{_part(node.name)}")
    if cluster := _cluster(json_object(facets.get("confluent_connector"))):
        yield ConsoleLink("Confluent Cloud", f"{cluster}/connectors")
    statement = json_object(facets.get("confluent_flink_statement"))
    environment, name = _id(statement, "environment_id"), statement.get("statement")
    if environment and isinstance(name, str):
        yield ConsoleLink("Confluent Cloud", f"{_CLOUD}{environment}/flink/statements/{_part(name)}/activity")
    source = json_object(facets.get("dataSource"))
    if isinstance(uri := source.get("uri"), str):
        title = source.get("name")
        yield ConsoleLink(title if isinstance(title, str) and title else uri, uri)
    if console := read_console(facets.get(CONSOLE, "")):
        yield ConsoleLink(console.title, console.url)


def _cluster(facet: Mapping[str, object]) -> str:
    """The address of a Kafka cluster in Confluent Cloud; empty if the facet does not have its ids."""
    environment, cluster = _id(facet, "environment_id"), _id(facet, "cluster_id")
    return f"{_CLOUD}{environment}/clusters/{cluster}" if environment and cluster else ""


def _id(facet: Mapping[str, object], member: str) -> str:
    value = facet.get(member)
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _part(text: str) -> str:
    return quote(text, safe="")


def _title(link: ConsoleLink) -> str:
    shown = "".join(character if character.isprintable() else " " for character in link.title[: LONGEST_TITLE + 1]).strip()
    return f"{shown[:LONGEST_TITLE]}…" if len(shown) > LONGEST_TITLE else shown or str(urlsplit(link.url).hostname)


def _is_web(url: str) -> bool:
    if len(url) > MOST_CHARACTERS or not url.isprintable() or " " in url or "\\" in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and parts.password is None
    except ValueError:
        return False
