"""The settings of a tenant of Atlan as a target."""

from typing import Final

from pydantic import Field, model_validator
from typing_extensions import Self

from lineage_bridge.catalogs.settings import LoginSettings, Renames
from lineage_bridge.openlineage.event_builder import digest_of

READABLE: Final = "generic-openlineage"
"""The connector for which Atlan documents which assets jobs become."""


class AtlanSettings(LoginSettings):
    """Settings of a target: a tenant of Atlan, the connector to which events are sent, and the connections to which jobs belong."""

    OWNER = "Atlan"

    connector: str = Field(
        default=READABLE,
        pattern=r"^[a-z0-9][a-z0-9-]{0,63}$",
        description="connector that takes the events: generic-openlineage, spark, apache-flink, airflow, airflow-mwaa, ...",
    )
    connection: str = Field(min_length=1, max_length=255, description="name of the connection that jobs are in, as in Atlan")
    connections: Renames = Field(
        default={}, description="connections of their own for namespaces of jobs; in these, jobs have their names alone"
    )
    read_back: bool = Field(
        default=True,
        description="ask what became of events, report drift, and archive with --prune; only the connector generic-openlineage",
    )
    window_s: float = Field(
        default=60.0,
        ge=0.001,
        le=86_400,
        description="how many seconds the run of a streaming job takes there, up to its publication: Atlan shows only runs that have ended",
    )
    settle_s: float = Field(default=120.0, ge=0, le=3600, description="how many seconds runs may take until they are shown")
    poll_s: float = Field(default=2.0, ge=0.01, le=60, description="seconds between questions whether runs are shown")
    max_bytes: int = Field(
        default=1_000_000,
        ge=1024,
        le=16 * 1024 * 1024,
        description="largest event; larger ones lose facets, then are left out; what Atlan takes is not published",
    )

    @model_validator(mode="after")
    def _a_connection_for_each_namespace(self) -> Self:
        names = [self.connection, *self.connections.values()]
        if len(set(names)) < len(names) or any("*" in namespace for namespace in self.connections):
            raise ValueError(
                "`connections` must map whole namespaces (without *), each to a connection of its own that is not `connection`"
            )
        return self

    @property
    def is_readable(self) -> bool:
        """Whether jobs are read back from Atlan."""
        return self.read_back and self.connector == READABLE

    @property
    def destination(self) -> str:
        """The text that identifies the target: the address, the connector, and the connections."""
        others = f" {digest_of(self.connections)}" if self.connections else ""
        return f"{self.url} {self.connector} {self.connection}{others}"
