"""The settings of a domain of Amazon DataZone or SageMaker Catalog as a target."""

from pydantic import Field

from lineage_bridge.catalogs.settings import TargetSettings
from lineage_bridge.sources.common.aws.settings import AwsConnection


class DataZoneSettings(AwsConnection, TargetSettings):
    """Settings of a target: a domain in a region."""

    region: str = Field(min_length=1, pattern=r"^[a-z0-9-]+$", description="AWS region of the domain")
    domain: str = Field(pattern=r"^dzd[-_][a-zA-Z0-9_-]{1,36}$", description="id of the domain")
    settle_s: float = Field(default=120.0, ge=0, le=3600, description="how many seconds events may take to be processed")
    poll_s: float = Field(default=1.0, ge=0.01, le=60, description="seconds between polls whether events were processed")
    max_bytes: int = Field(
        default=300_000,
        ge=1024,
        le=300_000,
        description="largest event; larger ones lose facets, then are left out; DataZone takes no larger",
    )

    @property
    def destination(self) -> str:
        """The text that identifies the target: the domain."""
        return f"{self.endpoint_url or ''} {self.region} {self.domain}".strip()
