"""Determines what a task extracts: the source that its options name, with the credentials and limits in the options."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lineage_bridge.errors import RequestError
from lineage_bridge.model.sources import SourceRecord, SourceState
from lineage_bridge.model.tasks import ExtractionOptions, TaskRecord
from lineage_bridge.sources.common.observer import SourceKind
from lineage_bridge.sources.common.stepwise import StepwiseKind
from lineage_bridge.sources.runtime.kinds import EXTRACTED_KIND


class PreparedSource(NamedTuple):
    """A source with the settings for one extraction, and the extraction's secrets by the names that the settings use for them."""

    record: SourceRecord
    given: dict[str, str]

    def __repr__(self) -> str:
        return f"PreparedSource({self.record.name})"


def choose_source(
    records: Iterable[SourceRecord], options: ExtractionOptions, states: Mapping[str, SourceState], kind: StepwiseKind
) -> SourceRecord:
    """Return the source that the options name, else the only source of kind EXTRACTED_KIND, else one that is built from the options
    alone.

    `kind` is the implementation of EXTRACTED_KIND. Raises RequestError if there is no such source, or more than one.
    """
    every = {record.name: record for record in records}
    found = [record for record in every.values() if record.kind == EXTRACTED_KIND]
    if options.source in every:
        return every[options.source]
    if not options.source and len(found) == 1:
        return found[0]
    if not options.source and found:
        names = ", ".join(record.name for record in found)
        raise RequestError(f"there are {len(found)} sources of kind {EXTRACTED_KIND}", f"choose one with `source`: {names}")
    if kind.is_self_contained(options) and options.source in ("", EXTRACTED_KIND) and EXTRACTED_KIND not in every:
        state = states.get(EXTRACTED_KIND, SourceState(paused=True))
        return SourceRecord(EXTRACTED_KIND, EXTRACTED_KIND, {}, "request", state)
    if options.source:
        hint = f"the sources are {', '.join(every)}" if every else "add one with: lineage-bridge source add"
        raise RequestError(f"there is no source {options.source}", hint)
    raise RequestError("there is no source to extract from", kind.how_to_add)


def prepare_source(record: SourceRecord, options: ExtractionOptions, kind: SourceKind) -> PreparedSource:
    """Complete the settings of a source of this kind with an extraction's options."""
    if not isinstance(kind, StepwiseKind):
        return PreparedSource(record, {})
    settings, given = kind.apply_options(record.settings, options)
    return PreparedSource(record._replace(settings=settings), given)


def resumed_options(task: TaskRecord, credentials: ExtractionOptions) -> ExtractionOptions:
    """Return the options of a task with the credentials that were sent again. Raises RequestError if one of its credentials is missing."""
    missing = sorted(set(task.given) - set(credentials.given))
    if missing:
        raise RequestError(
            f"the credentials from the request that started this task are not stored: {', '.join(missing)}",
            "send them again with the request that resumes the task",
        )
    return ExtractionOptions(
        task.source, task.environments, task.clusters, task.off, task.hours, dict(task.addresses), credentials.credentials
    )
