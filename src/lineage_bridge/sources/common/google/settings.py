"""The settings with which Google's Data Lineage API is called, by sources as by targets."""

from typing import Protocol

from lineage_bridge.sources.common.settings import SourceContext


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
