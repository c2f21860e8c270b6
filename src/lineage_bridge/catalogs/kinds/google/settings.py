"""The settings of a location of Google Data Lineage as a target."""

from typing import Any, Final, Literal

from pydantic import Field, model_validator

from lineage_bridge.catalogs.settings import HttpTargetSettings
from lineage_bridge.sources.common.google.settings import check_login, location_path
from lineage_bridge.sources.common.settings import Secret, Url

LARGEST: Final = 5_000_000
"""The most bytes that Google takes of an event."""


class GoogleSettings(HttpTargetSettings):
    """Settings of a target: one location of a project. Without credentials or token, Google's default ones are used."""

    url: Url = Field(default="https://datalineage.googleapis.com", description="address of the Data Lineage API, or of one of its regions")
    project: str = Field(pattern=r"^([a-z0-9.-]{1,80}:)?[a-z0-9][a-z0-9-]{2,62}$", description="id or number of the project")
    location: str = Field(pattern=r"^[a-z][a-z0-9-]{1,40}$", description="location of the lineage, such as eu or europe-west3")
    credentials: Secret | None = Field(default=None, description="key of a service account, the whole JSON file, as a reference")
    form: Literal["native", "events"] = Field(
        default="native",
        description="native: a process for each job with links of datasets and columns, which is read back, changed and deleted; "
        "events: an OpenLineage event for each state of a job",
    )
    prefix: str = Field(
        default="lineagebridge",
        pattern=r"^[a-z][a-z0-9_.-]{0,49}$",
        description="beginning of the ids of processes; another one for each installation that publishes to a location",
    )
    settle_s: float = Field(default=120.0, ge=0, le=3600, description="how many seconds a deletion may take")
    poll_s: float = Field(default=1.0, ge=0.01, le=60, description="seconds between questions whether a deletion has ended")
    max_bytes: int = Field(
        default=LARGEST,
        ge=1024,
        le=LARGEST,
        description="largest event; larger ones lose facets, then are left out; Google takes no larger",
    )

    @model_validator(mode="after")
    def _one_way_in_to_google(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        check_login(self, self.credentials)
        return self

    @property
    def parent(self) -> str:
        """The resource name of the location."""
        return location_path(self.project, self.location)

    @property
    def destination(self) -> str:
        """The text that identifies the target: the location, and the form in which lineage is published there."""
        return " ".join((self.url, self.parent, *((self.prefix,) if self.form == "native" else ("events",))))
