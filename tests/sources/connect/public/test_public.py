"""Configurations as public repositories have them: what each reads and writes was written by hand, before it was resolved.

A flow is `NAMESPACE NAME > TOPIC`, with `?` for a dataset that the configuration does not name. `found`: what is found instead, where that
is known to be less. `observed`: the topics that the worker saw used; `known`: those of the cluster.
"""

import sys
from pathlib import Path
from typing import Any

import pytest

from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.lineage.connection import DATA, Connection, ConnectorEvidence
from lineage_bridge.sources.common.connect.lineage.resolve import resolve
from lineage_bridge.sources.common.connect.secrets import mask_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]  # installed before Python 3.11 only

FOLDER = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    case for path in sorted((FOLDER / "cases").glob("*.toml")) for case in tomllib.loads(path.read_text("utf-8"))["case"]
]
NAMES = [f"{case['class'].rpartition('.')[2]}-{at}" for at, case in enumerate(CASES)]
CREDENTIALS = (FOLDER / "credentials.txt").read_text("utf-8").split()
"""Settings of these repositories whose values are credentials."""
SECRET = "S3CR3Tx9"
AZURE = f"DefaultEndpointsProtocol=https;AccountName=acc1;AccountKey={SECRET}==;EndpointSuffix=core.windows.net"


def configuration(case: dict[str, Any]) -> dict[str, str]:
    return {"connector.class": case["class"], **dict(line.split("=", 1) for line in case["config"].strip().splitlines())}


def flows(connection: Connection) -> set[str]:
    """The flows of data, and the datasets without one, as a case writes them."""
    ended = {f"{' '.join(flow.outside) if flow.outside else '?'} > {flow.topic}" for flow in connection.flows}
    inside = {flow.outside for flow in connection.flows}
    return ended | {f"{' '.join(outside.dataset)} > " for outside in connection.datasets if outside.dataset not in inside}


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_public_configuration_names_its_datasets_and_topics(case):
    known = frozenset(case["known"]) if "known" in case else None
    found = resolve(configuration(case), ConnectorEvidence(known_topics=known, observed_topics=tuple(case.get("observed", ()))))
    topics = {use.name for use in (*found.topics_in, *found.topics_out) if use.role == DATA}
    assert flows(found) == set(case.get("found", case["flows"]))
    assert topics == {topic for _, topic in (flow.split(" > ") for flow in case.get("found", case["flows"])) if topic}


def test_what_is_known_to_be_less_names_nothing_that_is_not_there():
    for case in CASES:
        datasets = {flow.split(" > ")[0] for flow in case["flows"]}
        assert {flow.split(" > ")[0] for flow in case.get("found", ())} <= datasets | {"?"}
    assert len([case for case in CASES if "found" in case]) <= len(CASES) / 50


def texts_of(config: dict[str, str]) -> list[str]:
    """All that is told of a configuration."""
    found = resolve(config)
    names = [text for dataset in found.datasets for named in (dataset.dataset, *dataset.symlinks) for text in named]
    topics = [use.name for use in (*found.topics_in, *found.topics_out)]
    return [*names, *topics, *mask_config(config, frozenset(catalogue().find(config).secrets)).values(), *found.unknown]


def test_no_credential_is_told():
    planted = 0
    for at, case in enumerate(CASES):
        for key in CREDENTIALS[at % 12 :: 12]:
            config = {**configuration(case), key: AZURE if key.endswith("connection.string") else SECRET}
            assert [(case["class"], key, text) for text in texts_of(config) if SECRET in text] == []
            planted += 1
    assert planted >= 300


def test_no_credential_in_the_settings_that_a_configuration_has_is_told():
    planted = [configuration(case) for case in CASES if SECRET in case["config"]]
    assert [(config["connector.class"], text) for config in planted for text in texts_of(config) if SECRET in text] == []
    assert len(planted) >= 100
