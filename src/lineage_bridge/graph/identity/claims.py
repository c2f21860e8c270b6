"""Reads namespace claims: facets of a dataset which state that its namespace has another name. Pure.

`confluent_kafka` names the cluster of a topic (`lkc-...`) and may name its servers; `dataSource` has the address of the system. A name that
many systems may have (a loopback or private address, a host without a domain, a server that clusters share) gives no claim about a
namespace, because a wrong join is worse than a missed one. For the same reason, contradictory claims have no effect (see `uncontradicted`).
"""

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from lineage_bridge.graph.identity.naming.rules import HOST, PORTS
from lineage_bridge.graph.identity.naming.spelling import SpaceLink, all_space_links, space_links
from lineage_bridge.graph.identity.steps import FACET, NamespaceLink, Spelling, Step
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.openlineage import facets as standard

CLUSTER, SOURCE = "confluent_kafka", "dataSource"
CLAIMING = frozenset({CLUSTER, SOURCE})
"""The keys of the facets that make claims. A claim has the key as its evidence."""

_ID = re.compile(r"kafka://lkc-[a-z0-9]+")
_SERVER = re.compile(rf"kafka://(?P<host>{HOST}):\d+")
_SHARED = re.compile(r"kafka://[^/:,]+\.confluent\.cloud:\d+")
_JDBC = re.compile(rf"jdbc://(?P<host>{HOST})(?::(?P<port>\d+))?")
_NOWHERE = re.compile(r"[^.]+|.*\.(?:local|localhost|localdomain|svc|docker\.internal)|ip-\d+-\d+-\d+-\d+\..*", re.IGNORECASE)
_LOOPBACK = re.compile(r"localhost|127\..*|0\.0\.0\.0|\[::1?\]", re.IGNORECASE)


class NamespaceClaim(NamedTuple):
    """A claim that two names denote one dataset, or with `whole`, that two namespaces denote one system.

    With `sole`, the claim is only valid if no other claim joins `a` with another name or namespace.
    """

    whole: int
    a_namespace: str
    a_name: str
    b_namespace: str
    b_name: str
    evidence: str
    sole: int

    @property
    def link(self) -> NamespaceLink:
        """The claim as a link between namespaces; None if the claim is about names."""
        return NamespaceLink(SpaceLink(self.a_namespace, self.b_namespace, "", 0, ""), FACET, self.evidence)

    @property
    def step(self) -> Step:
        """The claim as a step between names; None if the claim is about namespaces."""
        kind = int(NodeKind.DATASET)
        return Step(Spelling(kind, self.a_namespace, self.a_name), Spelling(kind, self.b_namespace, self.b_name), FACET, self.evidence)


class _Cluster(msgspec.Struct):
    cluster_id: str = ""
    bootstrap_servers: str = ""
    kafka_bootstrap_endpoint: str = ""


_CLUSTERS = msgspec.json.Decoder(_Cluster)


@lru_cache(20_000)
def read_claims(namespace: str, name: str, key: str, text: bytes) -> tuple[NamespaceClaim, ...]:
    """The claims, sorted, that a facet of the dataset with this name makes; none if the facet is unreadable or a tombstone."""
    if standard.is_deleted(text):
        return ()
    return tuple(sorted(set(_of_cluster(namespace, name, text) if key == CLUSTER else _of_source(namespace, name, text))))


def uncontradicted(some: Iterable[NamespaceClaim]) -> list[NamespaceClaim]:
    """The claims that no other claim contradicts. For each `a`, `some` must contain all claims except vetoed ones."""
    others: dict[tuple[int, str, str], set[tuple[str, str]]] = defaultdict(set)
    every = list(some)
    for claim in every:
        if claim.sole:
            others[claim[:3]].add(claim[3:5])
    return [claim for claim in every if not claim.sole or len(others[claim[:3]]) == 1]


def _of_cluster(namespace: str, name: str, text: bytes) -> Iterator[NamespaceClaim]:
    try:
        facet = _CLUSTERS.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    cluster, here = f"kafka://{facet.cluster_id}", _kafka(namespace)
    if not _ID.fullmatch(cluster) or not here or _ids(here) - {cluster}:
        return
    listed = {
        server for stated in (facet.bootstrap_servers, facet.kafka_bootstrap_endpoint) if stated for server in _kafka(f"kafka://{stated}")
    }
    yield from _servers_of(cluster, here | listed, CLUSTER)
    for server in here:
        if len(here) == 1 and _SHARED.fullmatch(server):
            yield NamespaceClaim(0, server, name, cluster, name, CLUSTER, 1)


def _of_source(namespace: str, name: str, text: bytes) -> Iterator[NamespaceClaim]:
    facet = standard.read_as(standard.DatasourceDatasetFacet, "dataset", SOURCE, text)
    uri = (facet.uri if facet else None) or ""
    here, there = _kafka(namespace), _kafka(uri)
    ids = _ids(here | there)
    if here and there and ids:
        yield from _servers_of(min(ids), here | there if len(ids) == 1 else (), SOURCE)
    elif here & there:
        for a in filter(_names_one, here & there):
            yield from (NamespaceClaim(1, *_pair(a, b), SOURCE, 0) for b in filter(_names_one, there - here))
    elif address := _JDBC.fullmatch(namespace):
        yield from _of_database(address, name, uri)


def _servers_of(cluster: str, servers: Iterable[str], key: str) -> Iterator[NamespaceClaim]:
    return (NamespaceClaim(1, server, "", cluster, "", key, 1) for server in servers if _names_one(server))


def _pair(a: str, b: str) -> tuple[str, str, str, str]:
    least, other = sorted((a, b))
    return least, "", other, ""


def _of_database(address: re.Match[str], name: str, uri: str) -> Iterator[NamespaceClaim]:
    """The claims about a table in a `jdbc://` namespace, which does not identify the system. They join the table's name with the name that
    follows from the JDBC URI `uri`, if that URI is of the same server.
    """
    host, port = address["host"].lower(), address["port"]
    for link in space_links(uri) if not _LOOPBACK.fullmatch(host) else ():
        spelling = link.forth(name) if link.rule.startswith("jdbc-") else None
        for space in _ends(link.other) if spelling else ():
            scheme, _, server = space.partition("://")
            if spelling and server == f"{host}:{port or PORTS.get(scheme, '')}":
                yield NamespaceClaim(0, address[0], name, space, spelling[1], SOURCE, 1)


def _ends(namespace: str) -> set[str]:
    """The namespaces that result when the naming rules are applied to this one repeatedly. A list of servers gives one namespace for each
    server.
    """
    links = all_space_links(namespace)
    return {namespace, *(link.other for link in links)} - {link.space for link in links}


def _kafka(namespace: str) -> set[str]:
    """The namespaces of the cluster ids and servers that a Kafka namespace names."""
    return {space for space in _ends(namespace) if _ID.fullmatch(space) or _SERVER.fullmatch(space)}


def _ids(spaces: Iterable[str]) -> set[str]:
    return {space for space in spaces if _ID.fullmatch(space)}


def _names_one(space: str) -> bool:
    """Whether a server's address denotes the same cluster for everybody who uses the address."""
    found = _SERVER.fullmatch(space)
    if found is None or _SHARED.fullmatch(space):
        return False
    host = found["host"].strip("[]")
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return not _NOWHERE.fullmatch(host)
