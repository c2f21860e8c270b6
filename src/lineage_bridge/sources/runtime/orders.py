"""What is to be extracted, and with what: the settings of a source, narrowed by an order and completed by its credentials."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lineage_bridge.errors import RequestError
from lineage_bridge.model.sources import SourceRecord, SourceState
from lineage_bridge.model.tasks import ExtractOrder, TaskRecord

KIND = "confluent"
"""The kind of source that is extracted if none is named."""
_ONE = frozenset(("cloud", "metrics"))
"""Planes with one credential, not one for each scope."""


class PreparedSource(NamedTuple):
    """A source with the settings for one order; `given` are the secrets that came with it, by the names that the settings call them."""

    record: SourceRecord
    given: dict[str, str]

    def __repr__(self) -> str:
        return f"Filled({self.record.name})"


def choose_source(records: Iterable[SourceRecord], order: ExtractOrder, states: Mapping[str, SourceState]) -> SourceRecord:
    """The source that an order means: the one it names, the only organization there is, or one of its own credentials alone.

    Raises RequestError if there is none, or more than one.
    """
    every = {record.name: record for record in records}
    found = [record for record in every.values() if record.kind == KIND]
    if order.source in every:
        return every[order.source]
    if not order.source and len(found) == 1:
        return found[0]
    if not order.source and found:
        raise RequestError(
            f"there are {len(found)} sources of kind {KIND}", f"name one with source: {', '.join(record.name for record in found)}"
        )
    if ("cloud", "") in order.credentials and (not order.source or order.source == KIND) and KIND not in every:
        return SourceRecord(KIND, KIND, {}, "request", states.get(KIND, SourceState(paused=True)))
    if order.source:
        raise RequestError(f"there is no source {order.source}", f"there are {', '.join(every)}" if every else "lineage-bridge source add")
    raise RequestError(
        "there is nothing to extract from",
        "add a source of kind confluent (lineage-bridge source add), set LINEAGE_BRIDGE_CONFLUENT_CLOUD_API_KEY and _SECRET where the"
        " server runs, or send cloud_credentials",
    )


def prepare_source(record: SourceRecord, order: ExtractOrder) -> PreparedSource:
    """A source with what an order brings."""
    settings: dict[str, Any] = dict(record.settings)
    given: dict[str, str] = {}
    for (plane, scope), credential in sorted(order.credentials.items()):
        name = str(len(given) + 1)
        given[name] = credential.secret
        pair = {"key": credential.key, "secret": f"${{given:{name}}}"}
        settings[plane] = pair if plane in _ONE else {**settings.get(plane, {}), scope: pair}
    if order.addresses:
        settings["registry_urls"] = {**settings.get("registry_urls", {}), **order.addresses}
    if order.hours is not None:
        settings["metrics_hours"] = order.hours
    return PreparedSource(record._replace(settings=settings), given)


def resumed_order(task: TaskRecord, credentials: ExtractOrder) -> ExtractOrder:
    """The order of a task, with credentials given anew. Raises RequestError for those that it had and has not now."""
    lacking = sorted(set(task.given) - set(credentials.given))
    if lacking:
        raise RequestError(
            f"this task had credentials in its request, which are forgotten: {', '.join(lacking)}",
            "send them again with the call to resume",
        )
    return ExtractOrder(task.source, task.environments, task.clusters, task.off, task.hours, dict(task.addresses), credentials.credentials)
