"""The settings with which Google's Data Lineage API is called, by sources as by targets."""

from typing import Protocol

from lineage_bridge.sources.common.settings import HttpSettings, SourceContext


class GoogleLogin(Protocol):
    """The settings of a login: an access token, the key of a service account, or neither for Google's default credentials."""

    @property
    def url(self) -> str:
        """The address of the API."""

    @property
    def token(self) -> str | None:
        """An access token, as a reference."""

    @property
    def credentials(self) -> str | None:
        """The key of a service account, as a reference."""

    @property
    def context(self) -> SourceContext:
        """What this process allows."""


def check_login(settings: HttpSettings, credentials: str | None) -> None:
    """Raise ValueError if the settings of a call, with the key of a service account, have a login that Google does not take, or two."""
    if settings.username or settings.password:
        raise ValueError("set credentials or token; Google takes no user and password")
    if credentials and settings.token:
        raise ValueError("set either credentials or token")


def location_path(project: str, location: str) -> str:
    """The resource name of a location of a project, with which the paths of its lineage begin."""
    return f"projects/{project}/locations/{location}"
