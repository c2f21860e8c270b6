"""A neighbourhood, as the API answers it, as a tree for the terminal."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rich.text import Text
from rich.tree import Tree

Said: TypeAlias = Mapping[str, Any]
ABOVE = "  (shown above)"
WHOLE = "(the whole dataset)"


@dataclass(frozen=True)
class Hop:
    """One way on from a dataset: the job that does it, the nodes behind it, and the marks of the flow to each.

    Where there is no flow, `mark` tells of the job's own input or output.
    """

    job: str
    nexts: tuple[tuple[str, str], ...]
    mark: str = ""


class Neighbourhood:
    """The answer, indexed for walking in one direction. Names of one dataset are one node."""

    def __init__(self, said: Said, *, up: bool) -> None:
        self.said, self.up = said, up
        self.nodes: dict[str, Said] = {node["id"]: node for node in (*said["members"], said["origin"], *said["nodes"])}
        self.origin: str = said["origin"]["id"]
        self._same: dict[str, str] = {node["id"]: node.get("canonical", node["id"]) for node in self.nodes.values()}
        self._same |= {member["id"]: self.origin for member in said["members"]}

    def hops(self, node: str) -> list[Hop]:
        """The ways on from a dataset, or from a job, sorted by names."""
        if self.nodes[node]["kind"] == "job":
            return []
        near, far = ("target", "source") if self.up else ("source", "target")
        ways: dict[str, dict[str, str]] = {}
        ports: dict[str, str] = {}
        for edge in self.said["edges"]:
            if self.same(edge[near]) == node:
                ways.setdefault(edge["job"], {})[self.same(edge[far])] = marks(edge)
        for port in self.said["ports"]:
            if port["side"] == ("output" if self.up else "input") and self.same(port["dataset"]) == node:
                ways.setdefault(port["job"], {})
                ports[port["job"]] = marks(port)
        return [Hop(job, tuple(self._sorted(ways[job], job)), "" if ways[job] else ports[job]) for job in sorted(ways, key=self._key)]

    def own_ports(self, job: str) -> Iterator[str]:
        """What a job reads (up) or writes (down)."""
        side = "input" if self.up else "output"
        found = {self.same(port["dataset"]) for port in self.said["ports"] if port["job"] == job and port["side"] == side}
        yield from sorted(found, key=self._key)

    def same(self, node: str) -> str:
        """The one node that stands for all names of a dataset."""
        return self._same.get(node, node)

    def label(self, node: str, mark: str = "") -> Text:
        """A node's name, with its namespace."""
        named = self.nodes[node]
        text = Text("job ", style="dim") if named["kind"] == "job" else Text()
        text.append(named["name"], style="italic" if named["kind"] == "job" else "bold").append(f"  {named['namespace']}", style="dim")
        return text.append(f"  {mark}", style="yellow") if mark else text

    def _sorted(self, nexts: Mapping[str, str], job: str) -> Iterator[tuple[str, str]]:
        yield from ((node, nexts[node]) for node in sorted(nexts, key=self._key) if node != job)

    def _key(self, node: str) -> tuple[str, str]:
        return self.nodes[node]["namespace"], self.nodes[node]["name"]


def marks(edge: Said) -> str:
    """What is unusual about a flow, input or output: that it is not current, not seen to happen, or merely likely; how a stream is."""
    said = [edge["label"]] if edge["label"] != "current" else []
    said += [edge["origin"]] if edge["origin"] != "observed" else []
    said += {"co-occurrence": ["by co-occurrence"], "stitched": ["stitched"]}.get(edge.get("evidence", ""), [])
    said += [edge["liveness"]] if "liveness" in edge else []
    return f"[{', '.join(said)}]" if said else ""


def flow_tree(said: Said, *, up: bool) -> Tree:
    """Datasets and jobs, each dataset unfolded once."""
    around = Neighbourhood(said, up=up)
    tree = Tree(around.label(around.origin))
    seen = {around.origin}
    for dataset in around.own_ports(around.origin) if around.nodes[around.origin]["kind"] == "job" else ():
        _grow(around, tree, dataset, "", seen)
    _unfold(around, tree, around.origin, seen)
    return tree


def _unfold(around: Neighbourhood, tree: Tree, node: str, seen: set[str]) -> None:
    for hop in around.hops(node):
        branch = tree.add(around.label(hop.job, hop.mark))
        for after, mark in hop.nexts:
            _grow(around, branch, after, mark, seen)


def _grow(around: Neighbourhood, tree: Tree, node: str, mark: str, seen: set[str]) -> None:
    if node in seen:
        tree.add(around.label(node, mark).append(ABOVE, style="dim"))
        return
    seen.add(node)
    _unfold(around, tree.add(around.label(node, mark)), node, seen)


Column: TypeAlias = tuple[str, str]


def column_tree(said: Said, *, up: bool) -> Tree:
    """Each column of the origin, and the columns it comes from (or that come from it)."""
    around = Neighbourhood(said, up=up)
    flows = _column_flows(around)
    tree = Tree(around.label(around.origin))
    for column in sorted(column for column in flows if column[0] == around.origin):
        branch = tree.add(Text(column[1] or WHOLE, style="bold"))
        _unfold_column(around, flows, branch, column, {column})
    return tree


def _column_flows(around: Neighbourhood) -> dict[Column, dict[Column, str]]:
    near, far = ("target", "source") if around.up else ("source", "target")
    flows: dict[Column, dict[Column, str]] = {}
    for flow in around.said["columns"]:
        here = around.same(flow[near]), flow[f"{near}_field"]
        there = around.same(flow[far]), flow[f"{far}_field"]
        flows.setdefault(here, {})[there] = change(flow["transformations"])
    return flows


def change(transformations: list[Said]) -> str:
    """How a column becomes another, as a mark."""
    said = [" ".join(word.lower() for word in (how["type"], how["subtype"]) if word) for how in transformations]
    said += ["masking"] if any(how["masking"] for how in transformations) else []
    return f"[{', '.join(dict.fromkeys(said))}]" if any(said) else ""


def _unfold_column(
    around: Neighbourhood, flows: Mapping[Column, Mapping[Column, str]], tree: Tree, column: Column, seen: set[Column]
) -> None:
    nexts = flows.get(column, {})
    for after in sorted(nexts, key=lambda at: (around.nodes[at[0]]["namespace"], around.nodes[at[0]]["name"], at[1])):
        text = Text(after[1] or WHOLE, style="bold").append(" of ").append(around.label(after[0], nexts[after]))
        if after in seen:
            tree.add(text.append(ABOVE, style="dim"))
        else:
            _unfold_column(around, flows, tree.add(text), after, seen | {after})
