"""The settings of a location of Google as a target: of its Data Lineage, or of its catalog."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from lineage_bridge.catalogs.settings import HttpTargetSettings, Texts
from lineage_bridge.sources.common.google.settings import check_login, location_path
from lineage_bridge.sources.common.settings import Secret, Url

Id = Annotated[str, Field(pattern=r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$")]
LARGEST: Final = 5_000_000
"""The maximum size of an event that Google accepts, in bytes."""


class GoogleLocationSettings(HttpTargetSettings):
    """Settings of a target in one location of a project. Without credentials or token, Google's default ones are used."""

    project: str = Field(pattern=r"^([a-z0-9.-]{1,80}:)?[a-z0-9][a-z0-9-]{2,62}$", description="id or number of the project")
    location: str = Field(pattern=r"^[a-z][a-z0-9-]{1,40}$", description="location, such as eu or europe-west3")
    credentials: Secret | None = Field(default=None, description="key of a service account, the whole JSON file, as a reference")
    settle_s: float = Field(default=120.0, ge=0, le=3600, description="how many seconds an operation may take that Google ends later")
    poll_s: float = Field(default=1.0, ge=0.01, le=60, description="seconds between questions whether such an operation has ended")

    @model_validator(mode="after")
    def _one_way_in_to_google(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        check_login(self, self.credentials)
        return self

    @property
    def parent(self) -> str:
        """The resource name of the location."""
        return location_path(self.project, self.location)


class GoogleSettings(GoogleLocationSettings):
    """Settings of a target: the lineage of one location of a project."""

    url: Url = Field(default="https://datalineage.googleapis.com", description="address of the Data Lineage API, or of one of its regions")
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
    max_bytes: int = Field(
        default=LARGEST,
        ge=1024,
        le=LARGEST,
        description="largest event; larger ones lose facets, then are left out; Google takes no larger",
    )

    @property
    def destination(self) -> str:
        """The text that identifies the target: the location, and the form in which lineage is published there."""
        return " ".join((self.url, self.parent, *((self.prefix,) if self.form == "native" else ("events",))))


class DataplexSettings(GoogleLocationSettings):
    """Settings of a target: one entry group of a location of a project."""

    url: Url = Field(default="https://dataplex.googleapis.com", description="address of the Dataplex API")
    entry_group: Id = Field(default="lineagebridge", description="id of the entry group; another one for each installation")
    entry_type: Id = Field(default="lineagebridge-topic", description="id of the type of the entries, in the same location")
    aspect_type: Id = Field(default="lineagebridge-topic", description="id of the type of the aspect with jobs, owners and tags, likewise")
    create_types: bool = Field(default=False, description="create the entry group, the entry type and the aspect type if they are missing")
    topics: Texts = Field(
        default=("kafka://*", "confluent://*"), description="globs: the namespaces, as they are at the target, whose datasets are topics"
    )

    @property
    def destination(self) -> str:
        """The text that identifies the target: the entry group."""
        return f"{self.url} {self.parent}/entryGroups/{self.entry_group}"
