"""The settings of retention: how many days what events said is kept, by namespace."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Days = Annotated[int, Field(ge=1, le=36_500)]


class RetentionSettings(BaseModel):
    """How many days each kind is kept in the namespaces of jobs that match the glob. What has no number is kept for ever.

    `events`: the events themselves. `runs`: the detail of runs, with their events. `statistics`: what runs had read and written. `facets`:
    runs that were the first or the last to state a facet that another has replaced since.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    namespace: str = Field(default="*", min_length=1, max_length=8192)
    events_days: _Days | None = None
    runs_days: _Days | None = None
    statistics_days: _Days | None = None
    facets_days: _Days | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> "RetentionSettings":
        if self.days == (None,) * 4:
            raise ValueError("state at least one of events_days, runs_days and statistics_days")
        if self.runs_days and self.events_days and self.events_days > self.runs_days:
            raise ValueError("events_days must not exceed runs_days: the events of a run go with it")
        if self.facets_days and (self.runs_days is None or self.facets_days < self.runs_days):
            raise ValueError("facets_days needs runs_days, and must not be below it: facets go with the runs that stated them")
        return self

    @property
    def days(self) -> tuple[int | None, int | None, int | None, int | None]:
        """The days of events, runs, statistics and facets."""
        return self.events_days, self.runs_days, self.statistics_days, self.facets_days
