"""Summarizes the whole graph: systems and their environments, how many datasets they have, and how many jobs move data between them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from typing import Final, Literal, NamedTuple

from lineage_bridge.graph.identity.node_ids import environment
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.edges import GraphLink
from lineage_bridge.projections.overview import system_name
from lineage_bridge.projections.whole_graph import links_of_ports

Scale = Literal["system", "environment"]


class EnvironmentKey(NamedTuple):
    """An environment of a system: an environment of Confluent Cloud, if the namespace contains one, or else the namespace; empty for the
    system as a whole.
    """

    system: str
    environment: str

    @property
    def id(self) -> str:
        """The id of the environment: 16 hexadecimal digits, the same in every answer."""
        return sha256("\0".join(self).encode()).hexdigest()[:16]


REST: Final = EnvironmentKey("", "(others)")
"""All environments that an answer has no room for."""


def environment_at(namespace: str, scale: Scale) -> EnvironmentKey:
    """The environment that a namespace belongs to, or its system."""
    return EnvironmentKey(system_name(namespace), (environment(namespace)[0] or namespace) if scale == "environment" else "")


@dataclass
class EnvironmentContents:
    """The contents of an environment: the number of datasets by namespace, and the jobs that only read (`readers`) or only write
    (`writers`) these datasets.
    """

    namespaces: Counter[str] = field(default_factory=Counter)
    readers: int = 0
    writers: int = 0

    @property
    def datasets(self) -> int:
        """The number of datasets in the environment."""
        return self.namespaces.total()

    def largest(self) -> list[tuple[str, int]]:
        """Each namespace with its number of datasets, those with the most first."""
        return sorted(self.namespaces.items(), key=lambda item: (-item[1], item[0]))


@dataclass
class EnvironmentFlow:
    """The data flow from one environment to another: how many jobs read in the first and write in the second, and how many flows without a
    job there are.
    """

    jobs: int = 0
    direct: int = 0


class SystemFlows:
    """The environments with the most datasets, at most `most` of them, and the flows between them. All others are counted together, as the
    environment REST; `others` is how many environments with datasets that are.
    """

    def __init__(self, scale: Scale, counts: Mapping[tuple[EnvironmentKey, str], int], most: int) -> None:
        self.scale, self.most = scale, most
        sizes: Counter[EnvironmentKey] = Counter()
        for (item, _), count in counts.items():
            sizes[item] += count
        kept = sorted(sizes, key=lambda item: (-sizes[item], item))[:most]
        self.contents = {item: EnvironmentContents() for item in kept}
        self.others = len(sizes) - len(kept)
        self.flows: dict[tuple[EnvironmentKey, EnvironmentKey], EnvironmentFlow] = {}
        for (item, namespace), count in counts.items():
            self.contents.setdefault(item if item in self.contents else REST, EnvironmentContents()).namespaces[namespace] += count

    def home(self, dataset: Node) -> EnvironmentKey:
        """The environment under which a dataset is counted: its own, or REST."""
        item = environment_at(dataset.namespace, self.scale)
        if item not in self.contents and len(self.contents) >= self.most:
            item = REST
        self.contents.setdefault(item, EnvironmentContents())
        return item

    def add_job(self, ends: "JobEnds") -> None:
        """Count a job in the environments in which it reads and writes."""
        for source in ends.inputs:
            for target in ends.outputs:
                self.flows.setdefault((source, target), EnvironmentFlow()).jobs += 1
        if not ends.outputs:
            for item in ends.inputs:
                self.contents[item].readers += 1
        if not ends.inputs:
            for item in ends.outputs:
                self.contents[item].writers += 1

    def add_direct(self, source: Node, target: Node) -> None:
        """Count a flow without a job."""
        self.flows.setdefault((self.home(source), self.home(target)), EnvironmentFlow()).direct += 1


@dataclass
class JobEnds:
    """The environments in which a job reads, and those in which it writes."""

    inputs: set[EnvironmentKey] = field(default_factory=set)
    outputs: set[EnvironmentKey] = field(default_factory=set)


def read_system_flows(graph: GraphReader, scale: Scale, most: int, now_us: int) -> SystemFlows:
    """Read every dataset and job, in portions; a limited principal's reader returns only own nodes.

    The answer has at most `most` environments and REST, whatever the graph's size.
    """
    counts: Counter[tuple[EnvironmentKey, str]] = Counter()
    for _, heads in graph.inventory.heads((NodeKind.DATASET,)):
        counts.update((environment_at(node.namespace, scale), node.namespace) for node in heads)
    systems = SystemFlows(scale, counts, most)
    unnamed: dict[int, list[GraphLink]] = {}
    for link in links_of_ports(graph, graph.inventory.unnamed_ports(now_us=now_us)):
        unnamed.setdefault(_job_of(link).id, []).append(link)
    for reader, jobs in graph.inventory.heads((NodeKind.JOB,)):
        links = chain(
            links_of_ports(reader, reader.inventory.ports(jobs, now_us=now_us)),
            *(unnamed.get(job.id, ()) for job in jobs),
        )
        for ends in _ends(systems, links).values():
            systems.add_job(ends)
    _add_direct(systems, graph, now_us)
    return systems


def _ends(systems: SystemFlows, links: Iterable[GraphLink]) -> dict[int, JobEnds]:
    """The environments in which each job reads and writes, by the job's node id."""
    found: dict[int, JobEnds] = {}
    for link in links:
        ends = found.setdefault(_job_of(link).id, JobEnds())
        if link.side == Side.INPUT:
            ends.inputs.add(systems.home(link.src))
        else:
            ends.outputs.add(systems.home(link.dst))
    return found


def _job_of(link: GraphLink) -> Node:
    return link.dst if link.side == Side.INPUT else link.src


def _add_direct(systems: SystemFlows, graph: GraphReader, now_us: int) -> None:
    edges = [edge for edge in graph.inventory.direct(now_us=now_us) if edge.source.kind == edge.target.kind == NodeKind.DATASET]
    heads = graph.inventory.canonical_nodes(end for edge in edges for end in edge[:2])
    ends = {(heads[edge.source.id], heads[edge.target.id]) for edge in edges}
    for source, target in sorted(ends, key=lambda pair: (pair[0].id, pair[1].id)):
        systems.add_direct(source, target)
