"""Finds subjects without a topic, and topics without a subject. Pure."""

from collections.abc import Iterator, Mapping

from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.subjects import Subject, SubjectTopic
from lineage_bridge.sources.common.shared_metadata import (
    ClusterMetadata,
)

_LISTED = 10
"""How many names are listed in one message."""


def find_drift(
    subjects: Mapping[str, Subject],
    topics: Mapping[str, tuple[SubjectTopic, ...]],
    cluster: ClusterMetadata | None,
    settings: RegistrySettings,
) -> tuple[list[str], list[str]]:
    """Return the subjects that describe no topic and to which no schema refers, and the topics of the cluster that no subject describes."""
    referred = {reference.subject for subject in subjects.values() for reference in subject.references}
    alone = sorted(name for name, described in topics.items() if not described and name not in referred)
    if cluster is None or cluster.topics is None or settings.subjects != ("*",):
        return alone, []
    described = {target.topic for targets in topics.values() for target in targets}
    return alone, sorted(topic for topic in cluster.topics - described if not _is_internal(topic))


def describe_drift(drift: tuple[list[str], list[str]], subjects: int, cluster: ClusterMetadata | None) -> Iterator[Unseen]:
    """Yield the subjects and topics that `find_drift` returned as messages about what could not be observed; `subjects` is the number of
    all subjects.
    """
    alone, bare = drift
    if alone:
        hint = "the cluster has no topic of that name, or the subjects' names do not contain the topic; set `strategies`"
        yield Unseen("subjects without a topic", f"{_list_some(alone, subjects)}: {hint}")
    if bare and cluster is not None:
        topics = sum(not _is_internal(topic) for topic in cluster.topics or ())
        yield Unseen("topics without a subject", f"{_list_some(bare, topics)}: the registry has no schema for their records")


def _list_some(names: list[str], total: int) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{len(names)} of {total}: {', '.join(names[:_LISTED])}{more}"


def _is_internal(topic: str) -> bool:
    return topic.startswith("_") or topic.endswith(("-changelog", "-repartition"))
