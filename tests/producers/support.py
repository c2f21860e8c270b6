"""What the graph says, by names, to compare with what must be true."""

from collections.abc import Collection
from typing import Any, NamedTuple, TypeAlias

from tests.serving import Served

Name: TypeAlias = tuple[str, str]


class Flow(NamedTuple):
    """Data moves from one dataset to another by a job."""

    source: Name
    target: Name
    job: Name
    evidence: str


class Column(NamedTuple):
    """A column (without a field, the whole dataset) comes from another. Transformations are type and subtype."""

    source: tuple[str, str, str]
    target: tuple[str, str, str]
    job: Name
    transformations: tuple[str, ...]


class Port(NamedTuple):
    """A job names a dataset."""

    job: Name
    side: str
    dataset: Name


class Neighbourhood:
    """A neighbourhood, as `GET /graph/neighbourhood` tells it."""

    def __init__(self, answer: Any) -> None:
        names: dict[str, Name] = {node["id"]: (node["namespace"], node["name"]) for node in answer["nodes"]}
        assert (answer["truncated"], answer["settling"], {edge["origin"] for edge in answer["edges"]} - {"observed"}) == ("", False, set())
        self.flows = {Flow(names[e["source"]], names[e["target"]], names[e["job"]], e["evidence"]) for e in answer["edges"]}
        self.ports = {Port(names[port["job"]], port["side"], names[port["dataset"]]) for port in answer["ports"]}
        self.columns = {
            Column(
                (*names[c["source"]], c["source_field"]),
                (*names[c["target"]], c["target_field"]),
                names[c["job"]],
                tuple(f"{change['type']} {change['subtype']}".strip() for change in c["transformations"]),
            )
            for c in answer["columns"]
        }


def name_of(answer: Any) -> Name:
    return answer["namespace"], answer["name"]


def names_of(answer: Collection[Any]) -> set[Name]:
    """Names, each told once."""
    found = [name_of(name) for name in answer]
    assert len(set(found)) == len(found)
    return set(found)


def kept_aside(served: Served) -> dict[str, int]:
    """How many events the server has rejected, by reason."""
    counts: dict[str, int] = served.ask("/quarantine", limit=1)["counts"]
    return counts
