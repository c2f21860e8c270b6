"""The classes for the events of views (see `views.py`): OpenLineage events with the members that views use."""

from msgspec import UNSET, Raw, Struct, UnsetType

Text = str | UnsetType


class RunRef(Struct, frozen=True, rename="camel"):
    """A run, by its UUID."""

    run_id: str


class ViewDataset(Struct, frozen=True, omit_defaults=True):
    """A dataset of a view's event, with its current facets."""

    namespace: str
    name: str
    facets: dict[str, Raw] | UnsetType = UNSET


class ViewJob(ViewDataset, frozen=True, omit_defaults=True):
    """A job of a view's event, with its current facets."""


class ViewEvent(
    Struct, frozen=True, rename={"event_time": "eventTime", "schema_url": "schemaURL", "event_type": "eventType"}, omit_defaults=True
):
    """An OpenLineage event that summarizes a job by its newest run, or a job or dataset that was only declared."""

    event_time: str
    producer: str
    schema_url: str
    event_type: Text = UNSET
    run: RunRef | UnsetType = UNSET
    job: ViewJob | UnsetType = UNSET
    dataset: ViewDataset | UnsetType = UNSET
    inputs: list[ViewDataset] | UnsetType = UNSET
    outputs: list[ViewDataset] | UnsetType = UNSET
