"""The golden cases of the catalogue: a connector's settings, and the datasets and topics that they name."""

import sys
from pathlib import Path
from typing import Any

from lineage_bridge.sources.common.connect.lineage.connection import DATA, Connection, ConnectorEvidence
from lineage_bridge.sources.common.connect.lineage.resolve import resolve

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]  # installed before Python 3.11 only

FOLDER = Path(__file__).parent / "cases"


def read_cases() -> list[tuple[str, dict[str, Any]]]:
    """Every case once for each of its names."""
    documents = [tomllib.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.toml"))]
    return [(name, case) for document in documents for case in document["case"] for name in case["names"]]


def resolved(name: str, case: dict[str, Any]) -> Connection:
    """What the catalogue makes of a case."""
    config = dict(line.split("=", 1) for line in case["config"].strip().splitlines())
    known = case.get("known")
    return resolve(
        {"connector.class": name, **config},
        ConnectorEvidence(
            known_topics=None if known is None else frozenset(known),
            observed_topics=tuple(case.get("observed", ())),
            settings=case.get("settings", {}),
        ),
    )


def summary(connection: Connection) -> dict[str, Any]:
    """What was found, as a case writes it."""
    uses = {(use.role, use.name) for use in (*connection.topics_in, *connection.topics_out) if use.is_internal}
    return {
        "namespace": sorted({outside.dataset[0] for outside in connection.datasets}),
        "datasets": sorted(outside.dataset[1] for outside in connection.datasets),
        "flows": sorted(f"{flow.outside[1] if flow.outside else ''} > {flow.topic}" for flow in connection.flows),
        "topics": sorted({use.name for use in (*connection.topics_in, *connection.topics_out) if use.role == DATA}),
        "symlinks": sorted(f"{space} {name}" for outside in connection.datasets for space, name in outside.symlinks),
        "side": sorted(f"{role} {name}" for role, name in uses),
    }


def expected(case: dict[str, Any]) -> dict[str, Any]:
    """What a case says must be found."""
    ends = [flow.split(" > ") for flow in case["flows"]]
    return {
        "namespace": [case["namespace"]] if "namespace" in case else [],
        "datasets": sorted({name for name, _ in ends if name}),
        "flows": sorted(case["flows"]),
        "topics": sorted({topic for _, topic in ends}),
        "symlinks": sorted(case.get("symlinks", [])),
        "side": sorted(case.get("side", [])),
    }
