"""The settings with which sources and targets call Google's Data Lineage API."""

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
        """The context of this process: which addresses and credentials it may use."""


def check_login(settings: HttpSettings, credentials: str | None) -> None:
    """Raise ValueError if the settings contain user or password, which Google does not accept, or both `token` and `credentials`."""
    if settings.username or settings.password:
        raise ValueError("set credentials or token; Google takes no user and password")
    if credentials and settings.token:
        raise ValueError("set either credentials or token")


def location_path(project: str, location: str) -> str:
    """The resource name of a location within a project. The paths of lineage resources begin with it."""
    return f"projects/{project}/locations/{location}"
