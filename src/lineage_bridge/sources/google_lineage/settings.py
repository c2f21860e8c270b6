"""The settings of a source for Google Data Lineage."""

from typing import Any

from pydantic import Field, model_validator

from lineage_bridge.sources.common.google.settings import check_login, location_path
from lineage_bridge.sources.common.settings import HttpSettings, Secret, Url


class GoogleSourceSettings(HttpSettings):
    """One location of a project. Without `credentials` or `token`, Google's default credentials are used."""

    interval_s: float = Field(default=3600.0, ge=1, le=86_400, description="seconds between polls")
    url: Url = Field(default="https://datalineage.googleapis.com", description="address of the Data Lineage API, or of one of its regions")
    project: str = Field(pattern=r"^([a-z0-9.-]{1,80}:)?[a-z0-9][a-z0-9-]{2,62}$", description="id or number of the project")
    location: str = Field(pattern=r"^[a-z][a-z0-9-]{1,40}$", description="location of the lineage, such as eu or europe-west3")
    credentials: Secret | None = Field(default=None, description="key of a service account, the whole JSON file, as a reference")
    at_once: int = Field(default=4, ge=1, le=64, description="maximum concurrent calls")

    @model_validator(mode="after")
    def _one_way_in_to_google(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        check_login(self, self.credentials)
        return self

    @property
    def parent(self) -> str:
        """The resource name of the location."""
        return location_path(self.project, self.location)

    @property
    def address(self) -> str:
        """The location, which identifies the observed system."""
        return f"{self.url} {self.parent}"
