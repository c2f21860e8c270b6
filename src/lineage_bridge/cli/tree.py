"""Shows a neighbourhood as a tree."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rich.text import Text
from rich.tree import Tree

Answer: TypeAlias = Mapping[str, Any]
ABOVE = "  (shown above)"
WHOLE = "(the whole dataset)"


@dataclass(frozen=True)
class Hop:
    """A hop from a dataset: a job, and the nodes on its other side, each with the marks of the flow to it.

    If the job has no flow, `mark` has the marks of its input or output.
    """

    job: str
    targets: tuple[tuple[str, str], ...]
    mark: str = ""


class Neighbourhood:
    """A neighbourhood answer, indexed for walking in one direction. All names of a dataset are one node."""

    def __init__(self, answer: Answer, *, up: bool) -> None:
        self.answer, self.up = answer, up
        self.nodes: dict[str, Answer] = {node["id"]: node for node in (*answer["members"], answer["origin"], *answer["nodes"])}
        self.origin: str = answer["origin"]["id"]
        self._canonical: dict[str, str] = {node["id"]: node.get("canonical", node["id"]) for node in self.nodes.values()}
        self._canonical |= {member["id"]: self.origin for member in answer["members"]}

    def hops(self, node: str) -> list[Hop]:
        """The hops from a dataset, sorted by the names of their jobs."""
        if self.nodes[node]["kind"] == "job":
            return []
        near, far = ("target", "source") if self.up else ("source", "target")
        jobs: dict[str, dict[str, Answer]] = {}
        ports: dict[str, str] = {}
        for edge in self.answer["edges"]:
            if self.canonical(edge[near]) == node:
                found = jobs.setdefault(edge["job"], {})
                found[self.canonical(edge[far])] = _stronger(found.get(self.canonical(edge[far])), edge)
        for port in self.answer["ports"]:
            if port["side"] == ("output" if self.up else "input") and self.canonical(port["dataset"]) == node:
                jobs.setdefault(port["job"], {})
                ports[port["job"]] = marks(port)
        return [Hop(job, tuple(self._sorted(jobs[job], job)), "" if jobs[job] else ports[job]) for job in sorted(jobs, key=self._key)]

    def own_ports(self, job: str) -> Iterator[str]:
        """The inputs (up) or outputs (down) of a job."""
        side = "input" if self.up else "output"
        found = {self.canonical(port["dataset"]) for port in self.answer["ports"] if port["job"] == job and port["side"] == side}
        yield from sorted(found, key=self._key)

    def canonical(self, node: str) -> str:
        """The node that represents all names of a dataset."""
        return self._canonical.get(node, node)

    def label(self, node: str, mark: str = "") -> Text:
        """A node's name, with its namespace."""
        named = self.nodes[node]
        text = Text("job ", style="dim") if named["kind"] == "job" else Text()
        text.append(named["name"], style="italic" if named["kind"] == "job" else "bold").append(f"  {named['namespace']}", style="dim")
        text.append("  [dropped]" if named.get("dropped") else "", style="yellow")
        return text.append(f"  {mark}", style="yellow") if mark else text

    def _sorted(self, targets: Mapping[str, Answer], job: str) -> Iterator[tuple[str, str]]:
        yield from ((node, marks(targets[node])) for node in sorted(targets, key=self._key) if node != job)

    def _key(self, node: str) -> tuple[str, str]:
        return self.nodes[node]["namespace"], self.nodes[node]["name"]


_EVIDENCE = ("explicit", "column", "co-occurrence", "stitched", "renamed")
_LABELS = ("current", "stale", "superseded", "ended")


def _stronger(edge: Answer | None, other: Answer) -> Answer:
    """Choose between two flows of a job between the same two datasets: the one with the stronger evidence and the better label."""
    return other if edge is None else min((edge, other), key=lambda e: (_LABELS.index(e["label"]), _EVIDENCE.index(e["evidence"])))


def marks(edge: Answer) -> str:
    """The marks of a flow, input or output, such as "[stale, declared]", including the liveness of a stream."""
    texts = [edge["label"]] if edge["label"] != "current" else []
    texts += [edge["origin"]] if edge["origin"] != "observed" else []
    texts += ["by co-occurrence"] if edge.get("evidence") == "co-occurrence" and not edge.get("unambiguous") else []
    texts += ["stitched"] if edge.get("evidence") == "stitched" else []
    texts += ["only failed runs"] if edge.get("only_failed") else []
    texts += [edge["liveness"]] if "liveness" in edge else []
    return f"[{', '.join(texts)}]" if texts else ""


def flow_tree(answer: Answer, *, up: bool, heading: str = "") -> Tree:
    """A tree of datasets and jobs below the heading and the origin. Each dataset is expanded once."""
    neighbourhood = Neighbourhood(answer, up=up)
    tree = Tree(Text(heading, style="dim").append(neighbourhood.label(neighbourhood.origin)))
    seen = {neighbourhood.origin}
    for dataset in neighbourhood.own_ports(neighbourhood.origin) if neighbourhood.nodes[neighbourhood.origin]["kind"] == "job" else ():
        _add_dataset(neighbourhood, tree, dataset, "", seen)
    _expand(neighbourhood, tree, neighbourhood.origin, seen)
    return tree


def _expand(neighbourhood: Neighbourhood, tree: Tree, node: str, seen: set[str]) -> None:
    for hop in neighbourhood.hops(node):
        branch = tree.add(neighbourhood.label(hop.job, hop.mark))
        for after, mark in hop.targets:
            _add_dataset(neighbourhood, branch, after, mark, seen)


def _add_dataset(neighbourhood: Neighbourhood, tree: Tree, node: str, mark: str, seen: set[str]) -> None:
    if node in seen:
        tree.add(neighbourhood.label(node, mark).append(ABOVE, style="dim"))
        return
    seen.add(node)
    _expand(neighbourhood, tree.add(neighbourhood.label(node, mark)), node, seen)


Column: TypeAlias = tuple[str, str]


def column_tree(answer: Answer, *, up: bool, heading: str = "") -> Tree:
    """A tree of the origin's columns, each with the columns it is derived from (or that are derived from it)."""
    neighbourhood = Neighbourhood(answer, up=up)
    flows = _column_flows(neighbourhood)
    tree = Tree(Text(heading, style="dim").append(neighbourhood.label(neighbourhood.origin)))
    for column in sorted(column for column in flows if column[0] == neighbourhood.origin):
        branch = tree.add(Text(column[1] or WHOLE, style="bold"))
        _expand_column(neighbourhood, flows, branch, column, {column})
    return tree


def _column_flows(neighbourhood: Neighbourhood) -> dict[Column, dict[Column, str]]:
    near, far = ("target", "source") if neighbourhood.up else ("source", "target")
    flows: dict[Column, dict[Column, str]] = {}
    for flow in neighbourhood.answer["columns"]:
        here = neighbourhood.canonical(flow[near]), flow[f"{near}_field"]
        there = neighbourhood.canonical(flow[far]), flow[f"{far}_field"]
        flows.setdefault(here, {})[there] = format_transformations(flow["transformations"])
    return flows


def format_transformations(transformations: list[Answer]) -> str:
    """Describe how one column is derived from another, such as "[aggregation, masking]" or "[indirect filter]"."""
    texts = [_format_transformation(step["type"], step["subtype"]) for step in transformations]
    texts += ["masking"] if any(step["masking"] for step in transformations) else []
    return f"[{', '.join(dict.fromkeys(texts))}]" if any(texts) else ""


def _format_transformation(kind: str, subtype: str) -> str:
    """Describe one transformation. The type DIRECT is left out if there is a subtype, because readers then assume it."""
    return " ".join(text.lower() for text in (kind if kind != "DIRECT" or not subtype else "", subtype) if text)


def _expand_column(
    neighbourhood: Neighbourhood, flows: Mapping[Column, Mapping[Column, str]], tree: Tree, column: Column, seen: set[Column]
) -> None:
    targets = flows.get(column, {})
    for after in sorted(targets, key=lambda at: (neighbourhood.nodes[at[0]]["namespace"], neighbourhood.nodes[at[0]]["name"], at[1])):
        text = Text(after[1] or WHOLE, style="bold").append(" of ").append(neighbourhood.label(after[0], targets[after]))
        if after in seen:
            tree.add(text.append(ABOVE, style="dim"))
        else:
            _expand_column(neighbourhood, flows, tree.add(text), after, seen | {after})
