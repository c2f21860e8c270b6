"""Finds rebalances of groups: that members or the distribution of partitions changed from one poll to the next. Pure."""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.kafka.events.builder import OUT, digest
from lineage_bridge.sources.common.kafka.look.cluster import KafkaGroup

REBALANCING = frozenset(("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"))
"""States in which a classic, consumer or streams group is distributed anew."""

Membership = Mapping[str, Any]
"""What is remembered about the members of a group: `assigned_us`, the time of the poll; `count`; the digest of who they are (`who`), and
of what each has (`shares`); and whether the group was being distributed anew (`moving`)."""


def membership(group: KafkaGroup, now_us: int, before: Membership) -> Membership:
    """Return what the snapshot keeps about the members of a group. If they could not be described, it is the same as in the previous
    snapshot.
    """
    if group.members is None:
        return before
    members = sorted((member.client_id, member.host, member.partitions) for member in group.members)
    return {
        "assigned_us": now_us,
        "count": len(members),
        "who": digest([member[:2] for member in members]),
        "shares": digest(members),
        "moving": group.state in REBALANCING,
    }


def rebalance(before: Membership, now: Membership) -> Json | None:
    """Return the facet of a rebalance that happened between two polls; None if there was none, or if the group had no members at one of
    them. A rebalance that two polls see is reported at the first of them.
    """
    if not before or before["assigned_us"] == now["assigned_us"] or before["moving"] or not before["count"] or not now["count"]:
        return None
    what = "MEMBERS" if before["who"] != now["who"] else "ASSIGNMENT" if before["shares"] != now["shares"] or now["moving"] else ""
    if not what:
        return None
    return OUT.rebalance(before["assigned_us"], now["assigned_us"], what, before=before["count"], after=now["count"])
