"""Events as short lines, for tests that list the expected ones."""

from collections.abc import Iterable
from typing import Any

from tests.corpora.published import faults

from lineage_bridge.sources.common.kafka.events.translate import translate
from lineage_bridge.sources.common.kafka.look.cluster import ClusterState
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata

T0 = 1_795_000_000_000_000
MINUTE_US, HOUR_US = 60_000_000, 3_600_000_000
SETTINGS = KafkaSettings(bootstrap_servers="broker:9092")


def poll(
    seen: ClusterState, before: Snapshot | None = None, minutes: float = 0, around: SharedMetadata = NO_METADATA, **settings: Any
) -> Observation:
    asked = SETTINGS.model_copy(update=settings) if settings else SETTINGS
    observation = translate(asked, seen, before, around, T0 + round(minutes * MINUTE_US))
    assert not faults(observation.events)
    return observation


def summaries(events: Iterable[Any]) -> list[str]:
    """`START reader: orders=5 -> copies` of a run's event; `orders: datasetType kafka_topic` of a dataset's, DROP in brackets."""
    return [_run(event) if "run" in event else _dataset(event["dataset"]) for event in events]


def _run(event: Any) -> str:
    inputs = " ".join(sorted(_counted(dataset) for dataset in event["inputs"]))
    outputs = " ".join(sorted(dataset["name"] for dataset in event["outputs"]))
    return f"{event['eventType']} {event['job']['name']}: {inputs}{' -> ' + outputs if outputs else ''}"


def _counted(dataset: Any) -> str:
    statistics = dataset.get("inputFacets", {}).get("inputStatistics", {})
    return f"{dataset['name']}={statistics['rowCount']}" if "rowCount" in statistics else str(dataset["name"])


def _dataset(dataset: Any) -> str:
    facets = dataset["facets"]
    change = f" [{facets['lifecycleStateChange']['lifecycleStateChange']}]" if "lifecycleStateChange" in facets else ""
    return f"{dataset['name']}: {' '.join(sorted(set(facets) - {'lifecycleStateChange'}))}{change}"
