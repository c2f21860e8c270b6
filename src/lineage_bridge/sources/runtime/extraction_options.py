"""Determines what a task extracts: the source that its options name, with the credentials and limits in the options."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.model.sources import SourceRecord, SourceState
from lineage_bridge.model.tasks import ExtractionOptions, TaskRecord
from lineage_bridge.sources.common.observer import Observer
from lineage_bridge.sources.common.settings import SourceContext
from lineage_bridge.sources.common.stepwise import CompletedSettings, StepwiseKind
from lineage_bridge.sources.runtime.kinds import EXTRACTED_KIND, SourceKinds
from lineage_bridge.sources.runtime.metadata_cache import make_observer


class PreparedSource(NamedTuple):
    """A source with the settings for one extraction, and the extraction's secrets by the names that the settings use for them.

    `make` creates the observer when the task begins. It raises LineageBridgeError if the source cannot be observed then.
    """

    record: SourceRecord
    given: dict[str, str]
    make: Callable[[], Observer[Any]]

    def __repr__(self) -> str:
        return f"PreparedSource({self.record.name})"


class CatalogSources(Protocol):
    """The catalogs of targets, as sources of enrichments."""

    def prepare(self, name: str, states: Mapping[str, SourceState], *, removes: bool) -> PreparedSource:
        """The catalog of a target; with `removes`, to take back what was stated. `states`: those of all sources.

        Raises NotFoundError, RequestError, ConfigError.
        """


class NoCatalogs:
    """There are no targets."""

    def prepare(self, name: str, states: Mapping[str, SourceState], *, removes: bool) -> PreparedSource:
        """Raises NotFoundError."""
        del states, removes
        raise NotFoundError(f"there is no target {name}")


def choose_source(
    records: Iterable[SourceRecord], options: ExtractionOptions, states: Mapping[str, SourceState], kind: StepwiseKind
) -> SourceRecord:
    """Return the source that the options name, else the only source of kind EXTRACTED_KIND, else one built from the options alone.

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


def prepare_source(record: SourceRecord, options: ExtractionOptions, context: SourceContext, kinds: SourceKinds) -> PreparedSource:
    """Complete the settings of a source with an extraction's options."""
    kind = kinds.load(record.kind)
    plain = CompletedSettings(record.settings, {})
    settings, given = kind.apply_options(record.settings, options) if isinstance(kind, StepwiseKind) else plain

    def make() -> Observer[Any]:
        return make_observer(record.name, record.kind, settings, context.with_given(given), kinds)

    return PreparedSource(record._replace(settings=settings), given, make)


def resumed_options(task: TaskRecord, credentials: ExtractionOptions) -> ExtractionOptions:
    """Return the options of a task with the credentials sent again. Raises RequestError if any of its credentials is missing."""
    missing = sorted(set(task.given) - set(credentials.given))
    if missing:
        raise RequestError(
            f"the credentials from the request that started this task are not stored: {', '.join(missing)}",
            "send them again with the request that resumes the task",
        )
    return ExtractionOptions(
        task.source, task.environments, task.clusters, task.off, task.hours, dict(task.addresses), credentials.credentials
    )
