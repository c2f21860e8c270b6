"""Settings that all inputs have."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from lineage_bridge.sources.common.settings import SourceSettings

MOST_NAMESPACES = 100
EMBEDDED, STREAM = "embedded", "stream"
"""The forms of an input: a separate process reads it into the log (`embedded`), or Spark reads it directly (`stream`)."""


def is_streamed(settings: Mapping[str, Any]) -> bool:
    """Whether an input with these settings is read in the stream."""
    return settings.get("form") == STREAM


def _globs(globs: tuple[str, ...]) -> tuple[str, ...]:
    if len(globs) > MOST_NAMESPACES or not all(globs):
        raise ValueError(f"give up to {MOST_NAMESPACES} globs, none of them empty")
    return globs


class InputSettings(SourceSettings):
    """The settings that all inputs have."""

    namespaces: Annotated[tuple[str, ...], AfterValidator(_globs)] = Field(
        default=(), description="globs: events of jobs in other namespaces are rejected; empty: none are"
    )
    poll_s: float = Field(default=1.0, ge=0.05, le=60, description="how many seconds to wait for records at a time")
    batch_records: int = Field(default=500, ge=1, le=10_000, description="maximum number of records that are ingested together")
    max_records_per_s: float = Field(default=0, ge=0, description="maximum number of records that are read per second; 0: no limit")
    idle_s: float = Field(
        default=0, ge=0, le=86_400, description="seconds without a record after which the connection is closed; 0: it stays open"
    )
    interval_s: float = Field(default=60.0, ge=1, le=86_400, description="seconds until a closed connection is opened again")
