"""A whole graph in the form in which it is written by hand, `expected/*.yaml`, and how two such graphs differ.

Datasets and jobs are written `namespace name`; the file's `names` abbreviates namespaces. `datasets` lists every dataset there is.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

import yaml

EXPECTED = Path(__file__).with_name("expected")
LINES = ("dataset", "run", "job", "input", "output", "flow", "column_flow")
"""The types of exported lines that a graph is read from."""

Graph = dict[str, Any]


@dataclass(frozen=True)
class Expected:
    """The graph that was written by hand, every list sorted; the namespaces that it abbreviates; patterns of jobs that it leaves out."""

    graph: Graph
    names: dict[str, str]
    left_out: tuple[str, ...]


def expected_graph(producer: str) -> Expected:
    """What is expected of a producer, in its runs and in its recorded events."""
    graph = yaml.safe_load((EXPECTED / f"{producer}.yaml").read_text(encoding="utf-8"))
    jobs = {name: {key: _sorted(value) for key, value in (job or {}).items()} for name, job in graph["jobs"].items()}
    return Expected({"jobs": jobs, "datasets": sorted(graph["datasets"])}, graph["names"], tuple(graph.get("left_out", ())))


def _sorted(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def exported_graph(lines: Iterable[bytes | str], expected: Expected) -> Graph:
    """The graph of exported lines, in the words of the expected one. What a job lacks (inputs, columns, a parent) is left out."""
    by_type: dict[str, list[dict[str, Any]]] = {kind: [] for kind in LINES}
    for line in map(json.loads, lines):
        by_type.get(line["type"], []).append(line)
    text = _Text({namespace: short for short, namespace in expected.names.items()})
    jobs: dict[str, dict[str, Any]] = {text.node(line): {} for line in by_type["job"]}
    for job, key, value in text.facts(by_type):
        jobs[job].setdefault(key, []).append(value)
    graph = {name: {key: _listed(key, values) for key, values in job.items()} for name, job in jobs.items()}
    graph = {name: job for name, job in graph.items() if not any(re.search(pattern, name) for pattern in expected.left_out)}
    return {"jobs": graph, "datasets": sorted(text.node(line) for line in by_type["dataset"])}


def _listed(key: str, values: list[str]) -> list[str] | str:
    """Facts of one kind about a job: each once, but for the states of its runs."""
    if key == "parent":
        return ", ".join(sorted(set(values)))
    return sorted(values) if key == "runs" else sorted(set(values))


class _Text:
    """Nodes, flows and columns as text, with the namespaces that a file abbreviates."""

    def __init__(self, short: dict[str, str]) -> None:
        self.short = short

    def node(self, line: dict[str, str]) -> str:
        return f"{self.short.get(line['namespace'], line['namespace'])} {line['name']}"

    def column(self, line: dict[str, str]) -> str:
        return f"{self.node(line)}.{line['field']}" if "field" in line else self.node(line)

    def end(self, line: dict[str, dict[str, str]]) -> str:
        return self.node(next(iter(line.values())))

    def facts(self, lines: dict[str, list[dict[str, Any]]]) -> Iterable[tuple[str, str, str]]:
        """A job, the key under which a fact about it is written, and the fact."""
        jobs_of = {line["run_id"]: self.node(line["job"]) for line in lines["run"]}
        for line in lines["run"]:
            yield self.node(line["job"]), "runs", line["state"]
            if "parent" in line:
                yield self.node(line["job"]), "parent", jobs_of[line["parent"]]
        for side in ("input", "output"):
            for line in lines[side]:
                yield self.node(line["job"]), f"{side}s", self.node(line["dataset"])
        for line in lines["flow"]:
            yield self.node(line["job"]), "flows", f"{self.end(line['source'])} -> {self.end(line['target'])}: {line['evidence']}"
        for line in lines["column_flow"]:
            changes = ", ".join(f"{change.get('type', '')} {change.get('subtype', '')}".strip() for change in line["transformations"])
            yield (
                self.node(line["job"]),
                "columns",
                f"{self.column(line['source'])} -> {self.column(line['target'])}: {changes}".removesuffix(": "),
            )


def difference(expected: Graph, found: Graph) -> str:
    """What is expected and not there (-), and what is there unexpectedly (+); empty if the graphs are equal."""
    before, after = (yaml.safe_dump(graph, allow_unicode=True, width=10_000).splitlines() for graph in (expected, found))
    return "\n".join(unified_diff(before, after, "expected", "found", lineterm="", n=4))
