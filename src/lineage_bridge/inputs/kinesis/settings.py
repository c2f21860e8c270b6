"""The settings of an input that reads a stream of Kinesis."""

from typing import Annotated

from pydantic import AfterValidator, Field

from lineage_bridge.inputs.settings import InputSettings
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.sources.common.aws.settings import AwsConnection, KinesisStream

TRIM_HORIZON, LATEST, STOP = "trim_horizon", "latest", "stop"


def _start(value: str) -> str:
    if value.lower() not in (TRIM_HORIZON, LATEST) and parse_time(value) is None:
        raise ValueError("use trim_horizon, latest, or a time such as 2026-01-31T12:00:00Z")
    return value if parse_time(value) else value.lower()


class KinesisInputSettings(AwsConnection, InputSettings):
    """Settings of an input that reads a stream of Kinesis: the stream, and where to begin."""

    stream: KinesisStream = Field(description="the stream to read, by its name or ARN")
    start: Annotated[str, AfterValidator(_start)] = Field(
        default=TRIM_HORIZON, description="where to begin in shards that exist at the first start: trim_horizon, latest, or a time"
    )
    expired: str = Field(
        default=TRIM_HORIZON,
        pattern=f"^({TRIM_HORIZON}|{STOP})$",
        description="what to do if records may have been deleted unread: trim_horizon (continue with the oldest remaining record), or stop",
    )
    reads_per_s: float = Field(
        default=4.0, gt=0, le=5, description="maximum calls per second to each shard; Kinesis allows 5, shared by all readers of the stream"
    )
    at_once: int = Field(default=4, ge=1, le=64, description="maximum number of shards that are read at the same time")
    refresh_s: float = Field(
        default=30.0, ge=0.5, le=3600, description="seconds between two searches for new shards and a recreated stream"
    )

    @property
    def stream_name(self) -> str:
        """The name of the stream, even if the setting contains the stream's ARN."""
        return self.stream.rpartition("/")[2]
