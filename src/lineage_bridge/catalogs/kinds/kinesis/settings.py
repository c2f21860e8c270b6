"""The settings of a stream of Amazon Kinesis as a target."""

from typing import Final

from pydantic import Field

from lineage_bridge.catalogs.settings import MIB, EventSettings
from lineage_bridge.sources.common.aws.settings import AwsConnection, KinesisStream

KEY_BYTES: Final = 1024
"""The size in bytes of the longest partition key: 256 characters, which count as part of a record."""


class KinesisTargetSettings(AwsConnection, EventSettings):
    """Settings of a target: a stream in a region."""

    region: str = Field(min_length=1, pattern=r"^[a-z0-9-]+$", description="AWS region of the stream")
    stream: KinesisStream = Field(description="the stream to write to, by its name or ARN; it must exist")
    max_bytes: int = Field(
        default=MIB - KEY_BYTES,
        ge=1024,
        le=10 * MIB - KEY_BYTES,
        description="largest event; at most the stream's maximum record size less 1,024 bytes for the key; larger ones lose facets, then "
        "are left out",
    )

    @property
    def destination(self) -> str:
        """The text that identifies the target: the stream."""
        return f"{self.endpoint_url or ''} {self.region} {self.stream}".strip()
